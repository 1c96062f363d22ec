//! Names in messages, quoted as dd quotes them: words by the locale, paths so that a shell can read them.

/// How names are quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quoting {
    /// The locale's character set is UTF-8.
    pub utf8: bool,
}

impl Quoting {
    /// A word of the command line: ‘word’, or 'word' if the locale lacks those quotes.
    pub fn word(self, bytes: &[u8]) -> Vec<u8> {
        let (open, close) = if self.utf8 { ("‘", "’") } else { ("'", "'") };
        let mut text = open.as_bytes().to_vec();
        for piece in self.pieces(bytes) {
            match piece {
                Piece::Plain(b"\\") => text.extend(b"\\\\"),
                Piece::Plain(b"'") if !self.utf8 => text.extend(b"\\'"),
                Piece::Plain(plain) => text.extend(plain),
                Piece::Odd(byte) => text.extend(escape(byte).as_bytes()),
            }
        }
        text.extend(close.as_bytes());
        text
    }

    /// A path, always in quotes.
    pub fn path(self, bytes: &[u8]) -> Vec<u8> {
        let odd = self.pieces(bytes).any(|piece| matches!(piece, Piece::Odd(_)));
        // Within double quotes the shell interprets each of these characters.
        let doubtful = |byte: &u8| b"\"$`\\!".contains(byte);
        if bytes.contains(&b'\'') && !odd && !bytes.iter().any(doubtful) {
            return [b"\"", bytes, b"\""].concat();
        }
        let mut text = b"'".to_vec();
        let mut within_odd = false;
        for piece in self.pieces(bytes) {
            match (piece, within_odd) {
                (Piece::Odd(byte), _) => {
                    if !within_odd {
                        text.extend(b"'$'");
                    }
                    within_odd = true;
                    text.extend(escape(byte).as_bytes());
                    continue;
                }
                (Piece::Plain(plain), true) => {
                    text.extend(b"''");
                    text.extend(plain_in_quotes(plain));
                }
                (Piece::Plain(plain), false) => text.extend(plain_in_quotes(plain)),
            }
            within_odd = false;
        }
        text.extend(b"'");
        text
    }

    /// A path, quoted if a shell requires it.
    pub fn path_if_needed(self, bytes: &[u8]) -> Vec<u8> {
        let special = |byte: &u8| b" !\"$&'()*;<=>?[\\]^`|:\t".contains(byte);
        let at_start = matches!(bytes.first(), None | Some(b'#' | b'~'));
        let brace = matches!(bytes, b"{" | b"}");
        let odd = self.pieces(bytes).any(|piece| matches!(piece, Piece::Odd(_)));
        if at_start || brace || odd || bytes.iter().any(special) { self.path(bytes) } else { bytes.to_vec() }
    }

    /// Printable characters, and bytes that are not.
    fn pieces(self, bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
        bytes.utf8_chunks().flat_map(move |part| {
            let (text, broken) = (part.valid(), part.invalid());
            let valid = text.char_indices().flat_map(move |(at, character)| {
                let plain = &text.as_bytes()[at..at + character.len_utf8()];
                let shown = !character.is_control() && (self.utf8 || character.is_ascii());
                let (one, odd) = if shown { (Some(Piece::Plain(plain)), &plain[..0]) } else { (None, plain) };
                one.into_iter().chain(odd.iter().copied().map(Piece::Odd))
            });
            valid.chain(broken.iter().copied().map(Piece::Odd))
        })
    }
}

enum Piece<'a> {
    Plain(&'a [u8]),
    Odd(u8),
}

fn plain_in_quotes(plain: &[u8]) -> &[u8] {
    if plain == b"'" { b"'\\''" } else { plain }
}

fn escape(byte: u8) -> String {
    match byte {
        0x07 => "\\a".to_owned(),
        0x08 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        _ => format!("\\{byte:03o}"),
    }
}
