//! Parses values of the command line.

/// A number of bytes, or any whole number: `4096`, `64K`, `1GiB` (powers of 1024), `200MB` (powers of 1000).
///
/// # Errors
/// Anything else, and numbers that exceed 64 bits.
pub fn size_bytes(word: &str) -> Result<u64, String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let expected = || "expected a size such as 4096, 64K, 1GiB or 200MB".to_string();
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let (letters, base) = match &word[digits.len()..] {
        suffix if suffix.ends_with("iB") => (&suffix[..suffix.len() - 2], 1024),
        suffix if suffix.ends_with('B') => (&suffix[..suffix.len() - 1], 1000),
        suffix => (suffix, 1024),
    };
    let power = match letters.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(expected()),
    };
    number.checked_mul(u64::pow(base, power)).ok_or_else(|| "does not fit 64 bits".to_string())
}

/// A duration in units of `unit_ns` nanoseconds, optionally with decimals.
///
/// # Errors
/// Not a number, negative, or longer than a year.
pub fn duration_ns(word: &str, unit_ns: f64) -> Result<u64, String> {
    match word.parse::<f64>() {
        Ok(number) if number >= 0.0 && number * unit_ns <= 3.2e16 => Ok((number * unit_ns).round() as u64),
        _ => Err("expected a duration such as 250 or 0.5".into()),
    }
}

/// A percentage from 0 to 1000, without the sign.
///
/// # Errors
/// Anything else.
pub fn percent(word: &str) -> Result<u64, String> {
    word.parse().ok().filter(|number| *number <= 1000).ok_or_else(|| "expected a percentage such as 80".to_string())
}

/// `true` or `false`.
///
/// # Errors
/// Anything else.
pub fn truth(word: &str) -> Result<bool, String> {
    word.parse().map_err(|_| "expected true or false".to_string())
}

/// Two numbers separated by a colon: an offset and a value that `second` parses.
///
/// # Errors
/// No colon, or an invalid number on one side of it.
pub fn pair(word: &str, second: impl Fn(&str) -> Result<u64, String>) -> Result<(u64, u64), String> {
    let (left, right) = word.split_once(':').ok_or("expected OFFSET:NUMBER")?;
    Ok((size_bytes(left)?, second(right)?))
}

/// Items separated by commas; an empty word is an empty list.
///
/// # Errors
/// The first error of `item`.
pub fn list<T>(word: &str, item: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    word.split(',').filter(|part| !part.is_empty()).map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_by_1024_or_with_a_b_by_1000() {
        let sizes =
            [("0", 0), ("4096", 4096), ("64K", 65_536), ("1GiB", 1 << 30), ("200MB", 200_000_000), ("3k", 3072)];
        for (word, bytes) in sizes {
            assert_eq!(size_bytes(word), Ok(bytes), "{word}");
        }
        for word in ["", "K", "-1", "1.5M", "12X", "1Ki", "17179869184G"] {
            assert!(size_bytes(word).is_err(), "{word}");
        }
    }

    #[test]
    fn durations_may_have_decimals_but_no_sign() {
        assert_eq!(duration_ns("0.5", 1e3), Ok(500));
        assert_eq!(duration_ns("250", 1e6), Ok(250_000_000));
        for word in ["-1", "x", "", "inf", "NaN", "1e30"] {
            assert!(duration_ns(word, 1e3).is_err(), "{word}");
        }
    }

    #[test]
    fn lists_are_pairs_with_commas_between() {
        assert_eq!(list("1K:5,2K:6", |word| pair(word, size_bytes)), Ok(vec![(1024, 5), (2048, 6)]));
        assert_eq!(list("", |word| pair(word, size_bytes)), Ok(vec![]));
        assert!(list("1K", |word| pair(word, size_bytes)).is_err());
    }
}
