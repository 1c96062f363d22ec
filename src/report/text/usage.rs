use crate::report::columns::message;
use crate::report::style::{DANGER, paint};

/// What the parser of the command line puts before an error, and behind it.
const BEFORE: &str = "error: ";
const BEHIND: &str = "\nFor more information, try '--help'.\n";
/// Its advice on values that look like options, which no option here takes.
const AS_A_VALUE: &str = "  tip: to pass '";

/// A usage error in the shape of all others. `rendered` is what the parser of the command line says, without colour;
/// `verb` is the command it is about, where one was given.
pub fn usage(rendered: &str, verb: Option<&str>) -> String {
    let Some(what) = rendered.strip_prefix(BEFORE) else { return rendered.to_owned() };
    let what = what.strip_suffix(BEHIND).unwrap_or(what).replace("; accepted: ", "\n  accepted: ");
    let mut text = String::new();
    for line in what.lines() {
        // Without its empty lines it reads as one message; the tip leaves none behind.
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
    fn a_usage_error_has_the_shape_of_all_others() {
        let rendered = "error: invalid value '4Q' for '--count <SIZE>': unknown suffix 'Q'; accepted: bytes\n\n\
                        For more information, try '--help'.\n";
        insta::assert_snapshot!(bare(rendered, Some("copy")), @r"
        haul: invalid value '4Q' for '--count <SIZE>': unknown suffix 'Q'
          accepted: bytes
          → See 'haul copy --help'.
        ");
    }

    #[test]
    fn advice_to_take_an_option_for_a_name_is_not_passed_on() {
        let rendered = "error: unexpected argument '--bs' found\n\n  tip: to pass '--bs' as a value, use '-- --bs'\n\n\
                        Usage: haul copy <SRC> <DST>\n\nFor more information, try '--help'.\n";
        insta::assert_snapshot!(bare(rendered, None), @r"
        haul: unexpected argument '--bs' found
          Usage: haul copy <SRC> <DST>
          → See 'haul --help'.
        ");
    }

    #[test]
    fn help_that_nobody_asked_for_stays_as_it_is() {
        assert_eq!(usage("Usage: haul\n", None), "Usage: haul\n");
    }
}
