//! Hides what is secret in words of the command line that are no web addresses: user names and passwords in addresses
//! of any scheme, and in the arguments of a server that haul starts.
use super::{HttpAddress, locked};
use std::ffi::OsString;
use std::sync::Mutex;

/// What stands for a hidden part.
const HIDDEN: &str = "...";

/// Names of parameters, or parts of names, whose values are secret (nbdkit's curl, ssh and luks, signed addresses).
const SECRET_NAMES: [&str; 9] =
    ["passw", "passphrase", "secret", "token", "cookie", "header", "signature", "credential", "sig"];

/// A server that was given with something secret.
struct Given {
    /// As it is shown, without its number.
    words: String,
    /// Distinguishes servers that differ only in what is not shown.
    number: usize,
    /// As it was given.
    text: String,
}

impl Given {
    fn shown(&self) -> String {
        match self.number {
            1 => format!("[ {} ]", self.words),
            number => format!("[ {} #{number} ]", self.words),
        }
    }
}

static GIVEN: Mutex<Vec<Given>> = Mutex::new(Vec::new());

/// The word without what is secret in it; nothing that is printed or recorded afterwards can have that.
pub fn hidden_in(word: OsString) -> OsString {
    let hidden = word.to_str().and_then(|text| HttpAddress::hide(text).or_else(|| hide(text)));
    hidden.map_or(word, OsString::from)
}

/// The word without what is secret; `None`: nothing is.
fn hide(word: &str) -> Option<String> {
    let option = word.find('=').filter(|_| word.starts_with("--")).map_or(0, |at| at + 1);
    let (option, text) = word.split_at(option);
    let shown = match text.strip_prefix("[ ").and_then(|text| text.strip_suffix(" ]")) {
        Some(program) => hide_in_program(text, program)?,
        None => hide_in_address(text)?,
    };
    Some(format!("{option}{shown}"))
}

/// The text that [`hide`] made `shown` of.
///
/// # Errors
/// It hides something, and was not given in this run.
pub(super) fn given(shown: &str) -> Result<String, String> {
    if let Some(given) = locked(&GIVEN).iter().find(|given| given.shown() == shown) {
        return Ok(given.text.clone());
    }
    let words = shlex::split(shown).unwrap_or_default();
    let hides = words.iter().any(|word| word.contains("://...@") || word.ends_with("=..."));
    if hides {
        Err("a report of haul hides what is secret: write the whole words".to_owned())
    } else {
        Ok(shown.to_owned())
    }
}

fn hide_in_program(text: &str, program: &str) -> Option<String> {
    let words = shlex::split(program)?;
    let hidden = |word: &String| hide_in_argument(word).unwrap_or_else(|| word.clone());
    let shown: Vec<String> = words.iter().map(hidden).collect();
    if shown == words {
        return None;
    }
    let words = shlex::try_join(shown.iter().map(String::as_str)).ok()?;
    let mut given = locked(&GIVEN);
    if let Some(known) = given.iter().find(|known| known.text == text) {
        return Some(known.shown());
    }
    let number = 1 + given.iter().filter(|known| known.words == words).count();
    let new = Given { words, number, text: text.to_owned() };
    let shown = new.shown();
    given.push(new);
    Some(shown)
}

/// `name=value` with a value that is secret, or an address in it. Values that name files stay.
fn hide_in_argument(word: &str) -> Option<String> {
    if let Some((name, value)) = word.split_once('=')
        && !name.contains("://")
    {
        let is_file = value.starts_with(['+', '-']) || value.is_empty();
        return match is_secret(name) && !is_file {
            true => Some(format!("{name}={HIDDEN}")),
            false => hide_in_address(value).map(|value| format!("{name}={value}")),
        };
    }
    hide_in_address(word)
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn hide_in_address(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return None;
    }
    if ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Some(HttpAddress::redacted(text)).filter(|shown| shown != text);
    }
    let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}"),
        None => authority.to_owned(),
    };
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let value = |field: &str| match field.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN}"),
        _ => field.to_owned(),
    };
    let query = query.map(|query| format!("?{}", query.split('&').map(value).collect::<Vec<_>>().join("&")));
    Some(format!("{scheme}://{host}{path}{}", query.unwrap_or_default())).filter(|shown| shown != text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_in_addresses_of_any_scheme_and_in_arguments_of_servers() {
        for (word, shown) in [
            ("ftp://me:5ecret@host/x", Some("ftp://...@host/x")),
            ("htps://me:5ecret@host/x?y=z", Some("htps://...@host/x?y=z")),
            ("--also=s3://KEY:5ecret@vault/x", Some("--also=s3://...@vault/x")),
            ("nbds://me:5ecret@host/x", Some("nbds://...@host/x")),
            ("az://vault/x?sv=1&sig=5ecret", Some("az://vault/x?sv=1&sig=...")),
            ("s3://vault/x?X-Amz-Signature=5ecret", Some("s3://vault/x?X-Amz-Signature=...")),
            ("s3://vault/a@b", None),
            ("nbd+unix:///x?socket=/a@b", None),
            ("/a/b://c@d", None),
            ("[ nbdkit file /x ]", None),
            ("[ nbdkit curl url=https://me:5ecret@h/x?y=5ecret ]", Some("[ nbdkit curl 'url=https://...@h/x?y=...' ]")),
            ("[ nbdkit ssh password=5ecret a ]", Some("[ nbdkit ssh 'password=...' a ]")),
            ("[ nbdkit ssh password=5ecrets a ]", Some("[ nbdkit ssh 'password=...' a #2 ]")),
            ("[ nbdkit ssh password=+/file a ]", None),
            ("[ nbdkit ssh password=5ecret 'a #b' ]", Some("[ nbdkit ssh 'password=...' 'a #b' ]")),
            ("[ nbdkit ssh password=5ecrets 'a #b' ]", Some("[ nbdkit ssh 'password=...' 'a #b' #2 ]")),
        ] {
            let hidden = hide(word);
            assert_eq!(hidden.as_deref(), shown, "{word}");
            if let Some(hidden) = hidden.filter(|_| word.starts_with('[')) {
                assert_eq!(given(&hidden).unwrap(), word);
            }
        }
        assert!(given("[ nbdkit curl password=... b ]").is_err() && given("[ nbdkit ]").is_ok());
    }
}
