//! NBD servers that haul starts itself: `[ PROGRAM ARGUMENT… ]`, and qemu-nbd for the image of a virtual disk.
use super::{Side, secrets};
use std::fmt;

/// Formats of images that qemu-nbd serves. haul never guesses one from the content: a guest can write any content into
/// a raw image.
const FORMATS: [&str; 3] = ["qcow2", "vmdk", "vhdx"];

/// A server that haul starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerProgram {
    /// The program and its arguments; it takes its socket by socket activation (LISTEN_FDS).
    pub words: Vec<String>,
    /// The side that it serves: the same words start one server for each.
    pub side: Side,
    /// As it was given.
    address: String,
}

impl ServerProgram {
    /// The program that `text` names; `None` if it names none.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(super) fn parse(text: &str, side: Side) -> Option<Result<ServerProgram, String>> {
        if let Some((format, path)) = image(text) {
            return Some(of_image(text, format, path, side));
        }
        bracketed(text)?;
        let given = match secrets::given(text) {
            Ok(given) => given,
            Err(why) => return Some(Err(why)),
        };
        let words = shlex::split(bracketed(&given)?);
        let program = |words: Vec<String>| match words.is_empty() {
            true => Err("there is no program between [ and ]".to_owned()),
            false => Ok(ServerProgram { words, side, address: text.to_owned() }),
        };
        Some(words.ok_or_else(|| "a quotation mark is missing".to_owned()).and_then(program))
    }

    /// Whether `text` names one.
    pub(super) fn is_named_by(text: &str) -> bool {
        image(text).is_some() || bracketed(text).is_some()
    }

    /// Whether the address names the image that it serves.
    pub fn is_of_image(&self) -> bool {
        image(&self.address).is_some()
    }
}

fn of_image(text: &str, format: &str, path: &str, side: Side) -> Result<ServerProgram, String> {
    // A colon would begin another of QEMU's protocols.
    let path = std::path::absolute(path).map_err(|_| "it names no file".to_owned())?;
    let path = path.to_str().ok_or("its path is not UTF-8")?.to_owned();
    let format = format!("--format={format}");
    let mut words = vec!["qemu-nbd".to_owned(), format, "--persistent".to_owned(), "--shared=8".to_owned()];
    if side == Side::Source {
        words.push("--read-only".to_owned());
    }
    words.extend(["--".to_owned(), path]);
    Ok(ServerProgram { words, side, address: text.to_owned() })
}

fn image(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(format, path)| FORMATS.contains(format) && !path.is_empty())
}

fn bracketed(text: &str) -> Option<&str> {
    text.strip_prefix("[ ")?.strip_suffix(" ]")
}

/// As an address.
impl fmt::Display for ServerProgram {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, side: Side) -> Result<Vec<String>, String> {
        ServerProgram::parse(text, side).expect("it names a program").map(|program| program.words)
    }

    #[test]
    fn a_program_and_its_arguments_are_between_brackets() {
        let program = words("[ nbdkit -f file 'a b' ]", Side::Source).unwrap();
        assert_eq!(program, ["nbdkit", "-f", "file", "a b"]);
        assert!(words("[  ]", Side::Source).is_err() && words("[ 'x ]", Side::Source).is_err());
        for path in ["[", "[]", "[x]", "[ x", "x ]", "qcow2", "qcow2:", "raw:x"] {
            assert!(ServerProgram::parse(path, Side::Source).is_none() && !ServerProgram::is_named_by(path), "{path}");
        }
    }

    #[test]
    fn an_image_is_served_by_qemu_nbd_and_a_source_is_read_only() {
        let source = words("qcow2:/a/b c.qcow2", Side::Source).unwrap();
        assert_eq!(source[0..2], ["qemu-nbd", "--format=qcow2"]);
        assert!(source.contains(&"--read-only".to_owned()) && source.ends_with(&["/a/b c.qcow2".to_owned()]));
        let dest = words("vmdk:disk", Side::Dest).unwrap();
        assert!(!dest.contains(&"--read-only".to_owned()) && dest.last().unwrap().starts_with('/'), "{dest:?}");
    }

    #[test]
    fn a_program_that_is_written_out_is_parsed_as_the_same() {
        for text in ["[ nbdkit 'a b' 'c'\\''d' ]", "[ x ]", "qcow2:/a:b"] {
            let program = ServerProgram::parse(text, Side::Dest).unwrap().unwrap();
            assert_eq!(ServerProgram::parse(&program.to_string(), Side::Dest), Some(Ok(program)), "{text}");
        }
    }
}
