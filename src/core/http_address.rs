//! Addresses of web servers, and the only place that has the secrets in them.
use super::locked;
use super::percent::{decoded, encoded};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// Addresses that were given with something secret in them, so that all other code has the text without it.
static GIVEN: Mutex<Vec<HttpAddress>> = Mutex::new(Vec::new());

/// What stands for a hidden part.
const HIDDEN: &str = "...";

/// An address of a web server. It is printed without user name, password and the values in its query.
#[derive(Clone)]
pub struct HttpAddress {
    /// By TLS.
    pub is_tls: bool,
    /// Name or IP address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query, as a request has them.
    pub path_and_query: String,
    /// User name and password as in the address.
    userinfo: Option<String>,
    shown: String,
}

#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the feature http sends requests"))]
impl HttpAddress {
    /// Hides what is secret in a word of the command line: a web address, also as the value of a long option. The
    /// address that is returned instead leads [`HttpAddress::parse`] to the whole one. `None`: nothing is secret.
    pub(super) fn hide(word: &str) -> Option<String> {
        let option = word.find('=').filter(|_| word.starts_with("--")).map_or(0, |at| at + 1);
        let (option, text) = word.split_at(option);
        let is_web = |scheme: &str| text.get(..scheme.len()).is_some_and(|first| first.eq_ignore_ascii_case(scheme));
        if !is_web("http://") && !is_web("https://") {
            return None;
        }
        let shown = match HttpAddress::parse(text) {
            Ok(address) => address.shown,
            Err(_) => HttpAddress::redacted(text),
        };
        (shown != text).then(|| format!("{option}{shown}"))
    }

    /// The address that `text` is, or that `hide` made `text` of.
    ///
    /// # Errors
    /// Why it is none, without what may be secret in it.
    pub fn parse(text: &str) -> Result<HttpAddress, String> {
        let mut given = locked(&GIVEN);
        if let Some(known) = given.iter().find(|known| known.shown == text) {
            return Ok(known.clone());
        }
        let mut address = HttpAddress::of_url(text)?;
        let is_hidden = |field: &str| field == HIDDEN || field.ends_with("=...");
        if address.userinfo.as_deref() == Some(HIDDEN) || query(&address.path_and_query).any(is_hidden) {
            return Err("a report of haul hides user name, password and query: write the whole address".to_owned());
        }
        if address.userinfo.is_none() && query(&address.path_and_query).next().is_none() {
            return Ok(address);
        }
        if let Some(known) = given.iter().find(|known| known.is_same_as(&address)) {
            return Ok(known.clone());
        }
        // Distinguishes addresses that differ only in what is not shown.
        let same = given.iter().filter(|known| known.shown.split('#').next() == Some(&address.shown)).count();
        if same > 0 {
            address.shown += &format!("#{}", same + 1);
        }
        given.push(address.clone());
        Ok(address)
    }

    /// The address that `text` is; it is not remembered.
    ///
    /// # Errors
    /// Why it is none.
    pub fn of_url(text: &str) -> Result<HttpAddress, String> {
        let (scheme, rest) = text.split_once("://").ok_or("it has no scheme")?;
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err("its scheme is neither http nor https".to_owned()),
        };
        let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (userinfo, authority) = match authority.rsplit_once('@') {
            Some((userinfo, authority)) => (Some(userinfo.to_owned()), authority),
            None => (None, authority),
        };
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or("its IPv6 address has no closing bracket")?,
            None => authority.split_at(authority.rfind(':').unwrap_or(authority.len())),
        };
        let port = match port.strip_prefix(':').unwrap_or(port) {
            "" => {
                if is_tls {
                    443
                } else {
                    80
                }
            }
            digits => digits.parse().ok().filter(|&port| port > 0).ok_or("its port is not a number up to 65535")?,
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte);
        if host.is_empty() {
            return Err("it names no host".to_owned());
        }
        if !host.bytes().all(plain) {
            return Err("its host has characters that a host name cannot have (write xn-- names as such)".to_owned());
        }
        let target = target.split('#').next().unwrap_or("");
        let slash = if target.starts_with('/') { "" } else { "/" };
        let mut address = HttpAddress {
            is_tls,
            host: host.to_ascii_lowercase(),
            port,
            path_and_query: format!("{slash}{}", allowed(target)),
            userinfo: userinfo.filter(|text| !text.is_empty()),
            shown: String::new(),
        };
        let user = if address.userinfo.is_some() { "...@" } else { "" };
        let scheme = address.scheme();
        address.shown = format!("{scheme}://{user}{}{}", address.authority(), without_values(&address.path_and_query));
        Ok(address)
    }

    /// The text of an address that may be malformed, without what may be secret in it.
    pub fn redacted(text: &str) -> String {
        let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
        let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let authority = match authority.rsplit_once('@') {
            Some((_, authority)) => format!("{HIDDEN}@{authority}"),
            None => authority.to_owned(),
        };
        format!("{scheme}://{authority}{}", without_values(target))
    }

    /// Where a redirect of this address to `location` leads. Credentials stay with their server.
    ///
    /// # Errors
    /// Why it leads nowhere; a redirect from https to http is refused.
    pub fn redirected(&self, location: &str) -> Result<HttpAddress, String> {
        let (scheme, authority) = (self.scheme(), self.authority());
        let path = self.path_and_query.split('?').next().unwrap_or("/");
        let url = if location.contains("://") && !location.starts_with(['/', '?']) {
            location.to_owned()
        } else if location.starts_with("//") {
            format!("{scheme}:{location}")
        } else if location.starts_with('/') {
            format!("{scheme}://{authority}{location}")
        } else if location.starts_with('?') {
            format!("{scheme}://{authority}{path}{location}")
        } else {
            let directory = &path[..=path.rfind('/').unwrap_or(0)];
            format!("{scheme}://{authority}{}", without_dots(&format!("{directory}{location}")))
        };
        let to = HttpAddress::of_url(&url)?;
        if self.is_tls && !to.is_tls {
            return Err(format!("it leads from https to {}, which is not encrypted", to.without_userinfo().shown));
        }
        let is_same_server = (to.is_tls, &to.host, to.port) == (self.is_tls, &self.host, self.port);
        Ok(HttpAddress { userinfo: self.userinfo.clone().filter(|_| is_same_server), ..to.without_userinfo() })
    }

    /// The last part of its path, decoded; `None` where that is no name, and for an address with a query.
    pub fn file_name(&self) -> Option<String> {
        if self.path_and_query.contains('?') {
            return None;
        }
        let name = &self.path_and_query[self.path_and_query.rfind('/')? + 1..];
        let name = String::from_utf8(decoded(name).ok()?).ok()?;
        (!name.is_empty() && !name.contains('/')).then_some(name)
    }

    /// The address of the resource `name` beside it.
    ///
    /// # Errors
    /// As for [`HttpAddress::redirected`].
    pub fn sibling(&self, name: &str) -> Result<HttpAddress, String> {
        self.redirected(&format!("./{}", encoded(name.as_bytes())))
    }

    fn without_userinfo(mut self) -> HttpAddress {
        self.userinfo = None;
        self.shown = self.shown.replacen("://...@", "://", 1);
        self
    }

    /// The scheme.
    pub fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }

    /// Host and, where it is not the usual one, port.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.is_tls { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }

    /// User name and password, for the server alone.
    ///
    /// # Errors
    /// They are not percent-encoded as they have to be.
    pub fn credentials(&self) -> Option<Result<Vec<u8>, String>> {
        let userinfo = self.userinfo.as_ref()?;
        let colon = if userinfo.contains(':') { "" } else { ":" };
        Some(decoded(&format!("{userinfo}{colon}")))
    }

    fn is_same_as(&self, other: &HttpAddress) -> bool {
        let key = |address: &HttpAddress| {
            let HttpAddress { is_tls, host, port, path_and_query, userinfo, .. } = address.clone();
            (is_tls, host, port, path_and_query, userinfo)
        };
        key(self) == key(other)
    }
}

/// The fields of the query.
fn query(target: &str) -> impl Iterator<Item = &str> {
    target.split_once('?').map_or("", |(_, query)| query).split('&').filter(|field| !field.is_empty())
}

/// The path and the names of the fields.
fn without_values(target: &str) -> String {
    let target = target.split('#').next().unwrap_or("");
    let path = target.split('?').next().unwrap_or("");
    let fields: Vec<String> = query(target)
        .map(|field| match field.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        })
        .collect();
    if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
}

/// Percent-encodes what a request cannot have: spaces, letters beyond ASCII.
fn allowed(target: &str) -> String {
    target.bytes().fold(String::with_capacity(target.len()), |mut text, byte| {
        match byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            true => text.push(char::from(byte)),
            false => text += &format!("%{byte:02X}"),
        }
        text
    })
}

/// The path without `.` and `..`.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the feature http sends requests"))]
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let slash = if path.ends_with("/.") || path.ends_with("/..") { "/" } else { "" };
    format!("/{}{slash}{query}", parts.join("/"))
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl PartialEq for HttpAddress {
    fn eq(&self, other: &Self) -> bool {
        self.shown == other.shown
    }
}

impl Eq for HttpAddress {}

impl Hash for HttpAddress {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shown.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_address_is_parsed_into_what_a_request_needs() {
        for (text, is_tls, host, port, target) in [
            ("http://h", false, "h", 80, "/"),
            ("HTTPS://Host.example/a b?x=1#part", true, "host.example", 443, "/a%20b?x=1"),
            ("https://u:p@[::1]:8443/é", true, "::1", 8443, "/%C3%A9"),
            ("http://h:8080?q", false, "h", 8080, "/?q"),
        ] {
            let address = HttpAddress::of_url(text).unwrap();
            let found = (address.is_tls, address.host.as_str(), address.port, address.path_and_query.as_str());
            assert_eq!(found, (is_tls, host, port, target), "{text}");
        }
        for text in ["http://", "http:///x", "http://h:0/", "http://h:x/", "http://[::1/", "http://a b/", "ftp://h/"] {
            assert!(HttpAddress::of_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_are_hidden_and_found_again() {
        let word = "https://user:hunter2@h/d.img?X-Amz-Signature=5ec&plain";
        let shown = HttpAddress::hide(word).unwrap();
        assert_eq!(shown, "https://...@h/d.img?X-Amz-Signature=...&...");
        let address = HttpAddress::parse(&shown).unwrap();
        assert_eq!(address.credentials(), Some(Ok(b"user:hunter2".to_vec())));
        assert_eq!(address.path_and_query, "/d.img?X-Amz-Signature=5ec&plain");
        let debug = format!("{address:?} {address}");
        assert!(!debug.contains("hunter2") && !debug.contains("5ec"), "{debug}");
        assert_eq!(HttpAddress::hide(word), Some(shown.clone()));
        let other = HttpAddress::hide(&word.replace("5ec", "6ed")).unwrap();
        assert_eq!(other, format!("{shown}#2"));
        assert!(HttpAddress::parse(&other).unwrap().path_and_query.contains("6ed"));
        assert_eq!(HttpAddress::hide(&format!("--also={word}")), Some(format!("--also={shown}")));
        assert_eq!(HttpAddress::hide("https://h/d.img"), None);
        assert_eq!(HttpAddress::hide("/tmp/https://u:p@h/"), None);
        let unknown = HttpAddress::parse("https://...@other/x").unwrap_err();
        assert!(unknown.contains("write the whole address"), "{unknown}");
    }

    #[test]
    fn a_redirect_leads_where_a_browser_goes_and_credentials_stay() {
        let from = HttpAddress::of_url("https://u:p@h/a/b?q=1").unwrap();
        for (location, to, has_credentials) in [
            ("/x", "https://h/x", true),
            ("c/d", "https://h/a/c/d", true),
            ("../c?z=2", "https://h/c?z=2", true),
            ("?r=3", "https://h/a/b?r=3", true),
            ("//cdn/x", "https://cdn/x", false),
            ("https://h:444/x", "https://h:444/x", false),
            ("https://v:w@cdn/x", "https://cdn/x", false),
        ] {
            let found = from.redirected(location).unwrap();
            let url = format!("{}://{}{}", found.scheme(), found.authority(), found.path_and_query);
            assert_eq!((url.as_str(), found.credentials().is_some()), (to, has_credentials), "{location}");
        }
        let plain = from.redirected("http://h/x?s=secret").unwrap_err();
        assert!(plain.contains("not encrypted") && !plain.contains("secret"), "{plain}");
        assert!(HttpAddress::of_url("http://h/").unwrap().redirected("https://h/").is_ok());
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic_and_no_secret_is_shown(
            text in "https?://([!-~]{0,9}@)?[!-~]{0,12}(/[ -~]{0,9})?(\\?[a-z=&]{0,9})?", more in "[ -~]{0,20}"
        ) {
            let _ = HttpAddress::hide(&text);
            if let Ok(address) = HttpAddress::of_url(&text) {
                let _ = address.redirected(&more);
            }
            let shown = HttpAddress::redacted("http://zqzq:qzqz@h/x?y=xzxz&zyzy");
            prop_assert!(!["zqzq", "qzqz", "xzxz", "zyzy"].iter().any(|secret| shown.contains(secret)));
        }
    }
}
