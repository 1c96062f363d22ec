//! The options of a command line as given, for the command that continues it.

/// Short options that take a value, and their long forms.
const WITH_VALUE: [(char, &str); 3] = [('b', "--block-size"), ('c', "--count"), ('l', "--limit")];
/// Short options without a value.
const FLAGS: [char; 4] = ['y', 'n', 'v', 'q'];

/// The words with one option each: `-yc 5` becomes `-y --count 5`, so that an option to be replaced can be
/// found. Words after `--` are operands.
pub(super) fn spelled_out(args: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        words.extend(short_options(word).unwrap_or_else(|| vec![word.clone()]));
        if word == "--" {
            words.extend(rest.by_ref().cloned());
        } else if words.last().is_some_and(|last| WITH_VALUE.iter().any(|(_, long)| last == long)) {
            // Its value, even if it looks like an option.
            words.extend(rest.next().cloned());
        }
    }
    words
}

/// Whether the option is among these words, with its value after `=` or in the next word.
pub(super) fn has(option: &str, args: &[String]) -> bool {
    let spelled_out = spelled_out(args);
    let options = spelled_out.iter().take_while(|word| *word != "--");
    options.map(|word| word.split('=').next().unwrap_or_default()).any(|word| word == option)
}

/// The options in a word of short ones; `None` for any other word.
fn short_options(word: &str) -> Option<Vec<String>> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))?;
    let mut options = Vec::new();
    for (at, letter) in letters.char_indices() {
        if FLAGS.contains(&letter) {
            options.push(format!("-{letter}"));
            continue;
        }
        let (_, long) = WITH_VALUE.iter().find(|(short, _)| *short == letter)?;
        let value = &letters[at + 1..];
        let value = value.strip_prefix('=').unwrap_or(value);
        options.push(if letters.len() == at + 1 { (*long).to_owned() } else { format!("{long}={value}") });
        break;
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn combined_short_options_are_split_and_other_words_kept() {
        let table = [
            ("copy -c 5 a b", "copy --count 5 a b"),
            ("copy -c5 -yvc=1M a b", "copy --count=5 -y -v --count=1M a b"),
            ("copy -vyl -c a -- -c b", "copy -v -y --limit -c a -- -c b"),
            ("copy --count 5 - -x", "copy --count 5 - -x"),
        ];
        for (given, wanted) in table {
            assert_eq!(spelled_out(&words(given)), words(wanted), "{given}");
        }
    }

    #[test]
    fn an_option_is_found_in_each_form() {
        for line in ["--count 5", "--count=5", "-c 5", "-c5", "-yc5"] {
            assert!(has("--count", &words(line)), "{line}");
        }
        for line in ["--counts 5", "-y", "-- -c 5", "-l -c"] {
            assert!(!has("--count", &words(line)), "{line}");
        }
    }
}
