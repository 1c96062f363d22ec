//! The value of `--on-error`.
use crate::core::OnError;

const ACCEPTED: &str = "accepted: stop, skip, retry:N with N from 1 to 1000, or retry:N,skip";

/// Maximum number of retries: with more, a disk that takes seconds for each would spend hours on one sector.
const RETRIES_MAX: u32 = 1000;

/// Parses `stop`, `skip`, `retry:N` or `retry:N,skip`, with the words in any order.
pub(crate) fn parse(text: &str) -> Result<OnError, String> {
    let (mut end, mut retries) = (None, None);
    for word in text.split(',') {
        let said_before = match (word, word.strip_prefix("retry:")) {
            ("stop" | "skip", _) => end.replace(word == "skip").is_some(),
            (_, Some(times)) => {
                let times = times.parse::<u32>().ok().filter(|times| (1..=RETRIES_MAX).contains(times));
                retries.replace(times.ok_or(ACCEPTED)?).is_some()
            }
            _ => return Err(ACCEPTED.to_owned()),
        };
        if said_before {
            return Err(format!("contradictory or repeated values; {ACCEPTED}"));
        }
    }
    Ok(OnError { skip: end.unwrap_or(false), retries: retries.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_error_values_may_be_combined_in_any_order() {
        let table = [
            ("stop", false, 0),
            ("skip", true, 0),
            ("retry:3", false, 3),
            ("retry:3,stop", false, 3),
            ("retry:1000,skip", true, 1000),
            ("skip,retry:1", true, 1),
        ];
        for (text, skip, retries) in table {
            assert_eq!(parse(text), Ok(OnError { skip, retries }), "{text}");
        }
    }

    #[test]
    fn invalid_combinations_are_refused_with_a_valid_one() {
        let table =
            ["", "ignore", "skip,stop", "skip,skip", "retry", "retry:", "retry:0", "retry:1001", "retry:-1", "skip,"];
        for text in table {
            assert!(parse(text).is_err_and(|error| error.contains("retry:N")), "{text}");
        }
    }
}
