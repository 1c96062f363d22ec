//! A Rust file with comments and the contents of literals blanked, so that rules can count braces and find words.

/// One Rust file. `raw`, `code` and `test` have one entry per line.
pub struct Source {
    /// Path below the root of the repository, with slashes.
    pub path: String,
    /// The unchanged lines.
    pub raw: Vec<String>,
    /// The lines with comments and the contents of strings and characters replaced by spaces.
    pub code: Vec<String>,
    /// The line belongs to an item under `#[cfg(test)]`.
    pub test: Vec<bool>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let raw: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut code: Vec<String> = blank(text).lines().map(str::to_owned).collect();
        code.resize(raw.len(), String::new());
        let mut source = Source { path: path.to_owned(), test: vec![false; raw.len()], raw, code };
        source.mark_tests();
        source
    }

    /// Marks the whole file as compiled only for tests.
    pub fn all_test(mut self) -> Self {
        self.test.fill(true);
        self
    }

    /// `path:line: message`, lines counted from 1.
    pub fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{}: {message}", self.path, line + 1)
    }

    /// The first directory below `src`, or the name of a file directly in it; `None` outside `src`.
    pub fn room(&self) -> Option<&str> {
        let rest = self.path.strip_prefix("src/")?;
        Some(rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs"))
    }

    /// The code as one string, and for each byte the line that contains it.
    pub fn joined(&self) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut lines = Vec::new();
        for (number, line) in self.code.iter().enumerate() {
            text.push_str(line);
            text.push('\n');
            lines.resize(text.len(), number);
        }
        (text, lines)
    }

    /// Every string literal, in order.
    pub fn literals(&self) -> Vec<Literal> {
        let chars: Vec<char> = self.raw.join("\n").chars().collect();
        let mut found = Vec::new();
        let (mut at, mut line) = (0, 0);
        while at < chars.len() {
            let end = literal_or_comment_end(&chars, at).unwrap_or(at + 1);
            let quote = chars[at..end].iter().position(|&c| c == '"');
            if let Some(quote) = quote.filter(|_| end > at + 1 && matches!(chars[at], '"' | 'r')) {
                let text: String = chars[at + quote + 1..end].iter().collect();
                let text = text.trim_end_matches(['"', '#']).to_owned();
                found.push(Literal { line, text: unwrapped(&text), is_snapshot: at > 0 && chars[at - 1] == '@' });
            }
            line += chars[at..end].iter().filter(|&&c| c == '\n').count();
            at = end;
        }
        found
    }

    /// Lines (from 0) that contain `word` as a whole word.
    pub fn lines_with(&self, word: &str) -> Vec<usize> {
        (0..self.code.len()).filter(|&line| words_at(&self.code[line], word).next().is_some()).collect()
    }

    fn mark_tests(&mut self) {
        let (text, lines) = self.joined();
        let mut from = 0;
        while let Some(found) = text[from..].find("#[cfg(test)]") {
            let start = from + found;
            let end = item_end(&text, start + "#[cfg(test)]".len());
            self.test[lines[start]..=lines[end.min(text.len() - 1)]].fill(true);
            from = end.max(start + 1);
        }
    }
}

/// One string literal.
pub struct Literal {
    /// Its line, from 0.
    pub line: usize,
    /// Its text as written, but with lines that a backslash continues joined.
    pub text: String,
    /// Whether it is an inline snapshot: output of the program.
    pub is_snapshot: bool,
}

fn unwrapped(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |joined, part| joined + part.trim_start())
}

/// Offsets of `word` in `text` without an adjacent letter, digit or `_`.
pub fn words_at<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let bytes = text.as_bytes();
        let before = at > 0 && is_part(bytes[at - 1]) && is_part(bytes[at]);
        let end = at + word.len();
        let after = end < bytes.len() && is_part(bytes[end]) && is_part(bytes[end - 1]);
        !before && !after
    })
}

/// Offset of the last byte of the item at `from`: its closing brace, or a semicolon before any brace.
pub fn item_end(text: &str, from: usize) -> usize {
    let mut braces = 0_usize;
    let mut others = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            b'{' => braces += 1,
            b'}' if braces <= 1 => return at,
            b'}' => braces -= 1,
            b'(' | b'[' => others += 1,
            b')' | b']' => others = others.saturating_sub(1),
            b';' if braces == 0 && others == 0 => return at,
            _ => {}
        }
    }
    text.len().saturating_sub(1)
}

/// The text with comments and the contents of literals replaced by spaces; newlines are kept.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out: Vec<char> = Vec::with_capacity(chars.len());
    while out.len() < chars.len() {
        let at = out.len();
        let end = literal_or_comment_end(&chars, at);
        match end {
            Some(end) => {
                let inside = chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' });
                out.extend(inside);
            }
            None => out.push(chars[at]),
        }
    }
    out.into_iter().collect()
}

/// The end of the comment or literal that begins at `at`; `None` if none does.
fn literal_or_comment_end(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => Some(find(chars, at, |rest| rest[0] == '\n', 0)),
        '/' if next == Some('*') => Some(block_comment_end(chars, at)),
        '"' => Some(string_end(chars, at + 1)),
        'r' if !follows_word(chars, at) || is_byte_prefix(chars, at) => raw_string_end(chars, at + 1),
        '\'' => char_end(chars, at),
        _ => None,
    }
}

fn follows_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')
}

/// The `r` of `br"…"` or `cr"…"`.
fn is_byte_prefix(chars: &[char], at: usize) -> bool {
    at > 0 && matches!(chars[at - 1], 'b' | 'c') && !follows_word(chars, at - 1)
}

fn find(chars: &[char], from: usize, wanted: impl Fn(&[char]) -> bool, extra: usize) -> usize {
    (from..chars.len()).find(|&at| wanted(&chars[at..])).map_or(chars.len(), |at| at + extra)
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `at` is the offset after the `r`; `None` for a raw identifier or a plain word.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
    if chars.get(at + hashes) != Some(&'"') {
        return None;
    }
    let closes = |rest: &[char]| rest[0] == '"' && rest[1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    Some(find(chars, at + hashes + 1, closes, hashes + 1))
}

/// The end of a character literal; `None` for a lifetime.
fn char_end(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\\') {
        return Some(find(chars, at + 3, |rest| rest[0] == '\'', 1));
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(at + 3)
}
