//! dd's numbers: `4`, `63b`, `2x80x18b`, `4MiB`, `700B`.

/// Why a text is not a valid number for dd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// It does not have the form of a number.
    Invalid,
    /// It exceeds `u64`.
    Overflow,
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: u64,
    /// It ends in `B`: it is a number of bytes instead of records.
    pub(super) in_bytes: bool,
    /// One of its factors is written `0`, so that it looks hexadecimal.
    pub(super) zero_multiplier: bool,
}

/// Letters of the powers of 1000 or 1024, beginning with the first power.
const POWERS: [u8; 10] = *b"KMGTPEZYRQ";

/// Parses `text`: factors separated by `x`, each with an optional suffix.
pub(super) fn parse(text: &[u8]) -> (Result<u64, NumberError>, Number) {
    let mut number = Number { value: 1, in_bytes: false, zero_multiplier: false };
    let mut overflow = false;
    let mut rest = text;
    loop {
        let Some((factor, behind)) = factor(rest) else { return (Err(NumberError::Invalid), number) };
        number.in_bytes |= factor.in_bytes;
        // The product is limited only at the end: a factor of 0 makes any other valid.
        match factor.value.and_then(|value| number.value.checked_mul(value)) {
            _ if factor.value == Some(0) => (number.value, overflow) = (0, false),
            _ if number.value == 0 && !overflow => {}
            Some(value) => number.value = value,
            None => overflow = true,
        }
        match behind {
            [] => break,
            [b'x', next @ ..] => {
                number.zero_multiplier |= factor.is_plain_zero;
                rest = next;
            }
            _ => return (Err(NumberError::Invalid), number),
        }
    }
    (if overflow { Err(NumberError::Overflow) } else { Ok(number.value) }, number)
}

struct Factor {
    /// `None`: it exceeds 64 bits.
    value: Option<u64>,
    in_bytes: bool,
    is_plain_zero: bool,
}

/// The factor that `text` begins with, and what follows it.
fn factor(text: &[u8]) -> Option<(Factor, &[u8])> {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let unsigned = text[blanks..].strip_prefix(b"+").unwrap_or(&text[blanks..]);
    let digits = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = unsigned.split_at(digits);
    // Without digits, a suffix alone means one unit, but not after a sign or a blank.
    let mut value = match digits {
        [] if unsigned.len() != text.len() => return None,
        [] => Some(1),
        _ => digits.iter().try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))),
    };
    let (unit, mut behind, takes_b) = unit(behind);
    if digits.is_empty() && unit.is_none() {
        return None;
    }
    if let Some((base, power)) = unit {
        let unit = (0..power).try_fold(1u64, |product, _| product.checked_mul(base));
        value =
            if value == Some(0) { value } else { value.zip(unit).and_then(|(value, unit)| value.checked_mul(unit)) };
    }
    if let (true, [b'B', rest @ ..]) = (takes_b, behind) {
        behind = rest;
    }
    // The B of `kB` and `KiB` counts too.
    let in_bytes = text[..text.len() - behind.len()].contains(&b'B');
    Some((Factor { value, in_bytes, is_plain_zero: text.starts_with(b"0x") }, behind))
}

/// The unit that `text` begins with, as base and power, what follows it, and whether `B` for bytes may follow.
fn unit(text: &[u8]) -> (Option<(u64, u32)>, &[u8], bool) {
    let simple = |base, rest| (Some((base, 1)), rest, true);
    match text {
        [b'c', rest @ ..] => return simple(1, rest),
        [b'w', rest @ ..] => return simple(2, rest),
        [b'b', rest @ ..] => return simple(512, rest),
        _ => {}
    }
    let Some((letter, rest)) = text.split_first() else { return (None, text, true) };
    let letter = if *letter == b'k' { b'K' } else { *letter };
    let Some(power) = POWERS.iter().position(|power| *power == letter) else { return (None, text, true) };
    let power = power as u32 + 1;
    match rest {
        [b'i', b'B', rest @ ..] => (Some((1024, power)), rest, false),
        [b'B' | b'D', rest @ ..] => (Some((1000, power)), rest, false),
        _ => (Some((1024, power)), rest, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Result<u64, NumberError> {
        parse(text.as_bytes()).0
    }

    #[test]
    fn every_form_of_a_number_is_parsed() {
        let table = [
            ("0", 0),
            ("07", 7),
            ("  7", 7),
            ("+7", 7),
            ("5c", 5),
            ("5w", 10),
            ("2b", 1024),
            ("1k", 1024),
            ("1K", 1024),
            ("1kB", 1000),
            ("1KB", 1000),
            ("1kD", 1000),
            ("1KiB", 1024),
            ("1kiB", 1024),
            ("k", 1024),
            ("KiB", 1024),
            ("3M", 3 << 20),
            ("3MB", 3_000_000),
            ("1G", 1 << 30),
            ("1T", 1 << 40),
            ("1P", 1 << 50),
            ("1E", 1 << 60),
            ("3xM", 3 << 20),
            ("2x80x18b", 2 * 80 * 18 * 512),
            ("1x2x3x4x5", 120),
            ("7cB", 7),
            ("1bB", 512),
            ("2Bx3", 6),
            ("99999999999999999999x0", 0),
            ("0x99999999999999999999", 0),
            ("00x7", 0),
            ("0Q", 0),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in table {
            assert_eq!(value(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn invalid_numbers_and_overflows_have_different_errors() {
        for text in
            ["", " ", "+", "x", "7x", "x7", "B", "xB", "7xB", "1e", "1m", "1g", "1Kb", "1Mi", "1kBc", "1KiBB", "1KBB"]
        {
            assert_eq!(value(text), Err(NumberError::Invalid), "{text}");
        }
        for text in ["18446744073709551616", "1Z", "1Q", "1R", "16E", "4Gx4G", "16EB00", "32E"] {
            let expected = if text == "16EB00" { NumberError::Invalid } else { NumberError::Overflow };
            assert_eq!(value(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn byte_suffixes_and_zero_multipliers_are_recorded() {
        assert!(parse(b"700B").1.in_bytes && parse(b"2Bx3").1.in_bytes && parse(b"700kB").1.in_bytes);
        assert!(parse(b"7KiB").1.in_bytes && !parse(b"7K").1.in_bytes && !parse(b"7KD").1.in_bytes);
        assert!(parse(b"0x10").1.zero_multiplier && !parse(b"00x10").1.zero_multiplier);
        assert!(!parse(b"10x0").1.zero_multiplier && parse(b"3x0x2").1.zero_multiplier);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+0-9 xcwbkKMGTPEZYRQiBD]{0,20}") {
            let _ = value(&text);
        }

        #[test]
        fn a_chain_is_the_product_of_its_factors(a in 0u64..1 << 20, b in 0u64..1 << 20, c in 0u64..1 << 20) {
            prop_assert_eq!(value(&format!("{a}x{b}x{c}")), Ok(a * b * c));
        }
    }
}
