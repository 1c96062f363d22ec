//! `--expect serial=…,size=…`: the expected properties of the dest, or of a source on a web server.
use super::size;
use crate::plan::Expectation;

/// The expectations in one value of `--expect`. Commas separate; `\,` is a comma in a value and `\\` a backslash.
pub(crate) fn parse(text: &str) -> Result<Vec<Expectation>, String> {
    pieces(text)?.iter().map(|piece| one(piece)).collect()
}

/// The text between commas, unescaped.
fn pieces(text: &str) -> Result<Vec<String>, String> {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let piece = pieces.last_mut().expect("one exists from the start");
        match char {
            ',' => pieces.push(String::new()),
            '\\' => match chars.next() {
                Some(escaped @ (',' | '\\')) => piece.push(escaped),
                _ => return Err("a backslash may only precede a comma or another backslash".to_owned()),
            },
            plain => piece.push(plain),
        }
    }
    Ok(pieces)
}

fn one(piece: &str) -> Result<Expectation, String> {
    const KEYS: &str = "accepted: serial=TEXT, model=TEXT, wwn=TEXT, size=SIZE, etag=TEXT, separated by commas";
    let (key, value) = piece.split_once('=').ok_or_else(|| format!("'{piece}' has no '='; {KEYS}"))?;
    if value.trim().is_empty() {
        return Err(format!("'{key}=' has no value; {KEYS}"));
    }
    match key {
        "serial" => Ok(Expectation::Serial(value.to_owned())),
        "model" => Ok(Expectation::Model(value.to_owned())),
        "wwn" => Ok(Expectation::Wwn(value.to_owned())),
        "etag" => Ok(Expectation::Etag(value.to_owned())),
        "size" => size::parse(value).map(Expectation::Size).map_err(|error| format!("size '{value}': {error}")),
        _ => Err(format!("unknown key '{key}'; {KEYS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_expectations_is_parsed_with_escaped_commas() {
        let found = parse(r"serial=S 1\,2,size=4K,model=a\\b,wwn=eui.00").unwrap();
        let wanted = [
            Expectation::Serial("S 1,2".to_owned()),
            Expectation::Size(4096),
            Expectation::Model(r"a\b".to_owned()),
            Expectation::Wwn("eui.00".to_owned()),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_bad_expectation_is_refused_with_the_reason() {
        let table = [
            ("", "'' has no '='"),
            ("serial", "'serial' has no '='"),
            ("serial=", "'serial=' has no value"),
            ("seral=1", "unknown key 'seral'"),
            ("serial=1,", "'' has no '='"),
            ("size=4Q", "size '4Q': unknown suffix 'Q'"),
            (r"serial=a\b", "a backslash may only precede"),
            ("serial=a\\", "a backslash may only precede"),
        ];
        for (text, begin) in table {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(begin), "{text}: {error}");
        }
    }
}
