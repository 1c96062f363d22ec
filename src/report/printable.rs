//! Makes external text safe to print: a path or a model may contain anything, including escape sequences.

use super::columns::TIE;

/// The text with every control character written as an escape, so that no file name can move the cursor or add a line.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || letter == TIE {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// The words as one line that a POSIX shell splits into the same words; with control characters, one that bash,
/// zsh and ksh support (`$'…'`).
pub(crate) fn shell_line<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| shell_word(word.as_ref())).collect();
    quoted.join(" ")
}

/// The same for programs, which do not display it: control characters are kept in quotes, which every POSIX
/// shell supports. `$'…'` would name another file in shells without it, such as dash.
pub(crate) fn shell_line_as_it_is<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| plain_or_quoted(word.as_ref())).collect();
    quoted.join(" ")
}

fn plain_or_quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "%+,-./:=@_".contains(letter);
    let is_plain = !word.is_empty() && word.chars().all(plain);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn shell_word(word: &str) -> String {
    if !word.chars().any(char::is_control) {
        return plain_or_quoted(word);
    }
    let mut quoted = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => {
                let mut bytes = [0; 4];
                letter.encode_utf8(&mut bytes).bytes().for_each(|byte| quoted += &format!("\\{byte:03o}"));
            }
            _ => quoted.push(letter),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(printable("a\u{1b}[2Jb\nc é\u{a0}"), "a\\u{1b}[2Jb\\nc é\u{a0}");
        assert_eq!(printable("\u{fdd0}"), r"\u{fdd0}", "it means something to what wraps lines");
    }

    #[test]
    fn shell_words_are_quoted_only_where_they_need_it() {
        let table = [
            ("/dev/sdb", "/dev/sdb"),
            ("--hash=blake3", "--hash=blake3"),
            ("", "''"),
            ("my disk.img", "'my disk.img'"),
            ("it's", r"'it'\''s'"),
            ("$HOME;`id`", "'$HOME;`id`'"),
            ("~", "'~'"),
            ("a\nb'\\", r"$'a\012b\'\\'"),
            ("é", "'é'"),
        ];
        for (word, quoted) in table {
            assert_eq!(shell_word(word), quoted);
        }
        assert_eq!(shell_line(["haul", "copy", "a b"]), "haul copy 'a b'");
    }

    #[test]
    fn a_shell_splits_the_line_into_the_same_words() {
        let words = ["plain", "", "two words", "it's", "$(id)", "a\tb\nc", "back\\slash", "é\u{85}"];
        let script = format!("printf '%s\\0' {}", shell_line(words));
        let as_it_is = format!("printf '%s\\0' {}", shell_line_as_it_is(words));
        let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
        for (shell, script) in [("bash", &script), ("sh", &as_it_is)] {
            let output = std::process::Command::new(shell).arg("-c").arg(script).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        }
    }
}
