//! Advice within errors that several commands share: it must not name an option that this command lacks.
use crate::core::Error;
use clap::CommandFactory;

/// The same error, without the sentences of its advice that name an option which the command `W` lacks.
pub(super) fn of_command<W: CommandFactory>(mut error: Error) -> Error {
    let command = W::command();
    let is_known = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let sentences = error.advice.split_inclusive(". ");
    error.advice =
        sentences.filter(|sentence| options(sentence).all(is_known)).collect::<String>().trim_end().to_owned();
    error
}

/// The names of the long options in a text.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let words = text.split_whitespace().filter_map(|word| word.trim_start_matches(['(', '\'', '[']).strip_prefix("--"));
    words.map(move |word| word.split(is_end).next().unwrap_or_default()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Kind;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[arg(long)]
        yes: bool,
    }

    #[test]
    fn sentences_that_name_options_of_other_commands_are_left_out() {
        let advised = |text: &str| of_command::<Arguments>(Error::new(Kind::Usage, "wrong").advise(text)).advice;
        assert!(Arguments::parse_from(["test", "--yes"]).yes);
        assert_eq!(advised("Nothing was written. Give --yes."), "Nothing was written. Give --yes.");
        assert_eq!(advised("Nothing was written. Give --yes, or --count=3."), "Nothing was written.");
        assert_eq!(advised("Give both --skip and --seek."), "");
        assert_eq!(advised("Use (--seek). Wait."), "Wait.");
        assert_eq!(advised("Use cp -a, or - for standard input."), "Use cp -a, or - for standard input.");
    }
}
