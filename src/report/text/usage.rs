use crate::report::columns::message;
use crate::report::style::{DANGER, paint};

/// The text that the command-line parser puts before an error.
const BEFORE: &str = "error: ";
const BEHIND: &str = "\nFor more information, try '--help'.\n";
/// Its advice on values that look like options, which no option of haul accepts.
const AS_A_VALUE: &str = "  tip: to pass '";

/// A usage error in the form of all others. `rendered` is the message of the command-line parser, without
/// colour; `verb` is the command, if one was given.
pub fn usage(rendered: &str, verb: Option<&str>) -> String {
    let Some(what) = rendered.strip_prefix(BEFORE) else { return rendered.to_owned() };
    let what = what.strip_suffix(BEHIND).unwrap_or(what).replace("; accepted: ", "\n  accepted: ");
    let mut text = String::new();
    for line in what.lines() {
        // Without empty lines it reads as one message.
        if line.starts_with(AS_A_VALUE) || line.is_empty() {
            continue;
        }
        let words = line.trim_start();
        let indent = if line.starts_with("Usage:") { "  " } else { &line[..line.len() - words.len()] };
        text += &match text.is_empty() {
            true => message(&format!("{} ", paint(DANGER, "haul:")), "      ", words),
            false => message(indent, &format!("{indent}  "), words),
        };
    }
    let help = verb.map_or_else(|| "haul --help".to_owned(), |verb| format!("haul {verb} --help"));
    text + &format!("  → See '{help}'.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(rendered: &str, verb: Option<&str>) -> String {
        anstream::adapter::strip_str(&usage(rendered, verb)).to_string()
    }

    #[test]
    fn a_usage_error_has_the_format_of_other_errors() {
        let rendered = "error: invalid value '4Q' for '--count <SIZE>': unknown suffix 'Q'; accepted: bytes\n\n\
                        For more information, try '--help'.\n";
        insta::assert_snapshot!(bare(rendered, Some("copy")), @r"
        haul: invalid value '4Q' for '--count <SIZE>': unknown suffix 'Q'
          accepted: bytes
          → See 'haul copy --help'.
        ");
    }

    #[test]
    fn clap_advice_to_pass_an_option_as_a_name_is_removed() {
        let rendered = "error: unexpected argument '--bs' found\n\n  tip: to pass '--bs' as a value, use '-- --bs'\n\n\
                        Usage: haul copy <SRC> <DST>\n\nFor more information, try '--help'.\n";
        insta::assert_snapshot!(bare(rendered, None), @r"
        haul: unexpected argument '--bs' found
          Usage: haul copy <SRC> <DST>
          → See 'haul --help'.
        ");
    }

    #[test]
    fn help_without_an_error_is_unchanged() {
        assert_eq!(usage("Usage: haul\n", None), "Usage: haul\n");
    }
}
