//! Parses sizes: `4M`, `63s`, `0x1000`, `100x4KiB`. Strict: ambiguous sizes are refused.
use std::fmt;

/// The accepted forms of a size, for messages and help.
pub const ACCEPTED: &str = "a number of bytes, without suffix or with B; K, M, G, T, P, E or KiB, MiB, … for powers \
    of 1024; KB, MB, … for powers of 1000; s for 512-byte sectors; 0x for hexadecimal; x between factors";

/// Bytes of the unit `s`: always 512, regardless of the device, as in partition tables and sysfs.
const SECTOR_BYTES: u64 = 512;

/// The letters of the units; the n-th means 1024 or 1000 to the power of n + 1.
const LETTERS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];

/// Why a text is not a size. `Display` prints one clause: the error, and the accepted forms if that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// The text is empty.
    Empty,
    /// It begins with a minus sign.
    Negative,
    /// It looks like the next option: the value is missing.
    Missing,
    /// A factor has no digits, or a number is expected here.
    NoNumber(String),
    /// The suffix is unknown.
    UnknownSuffix(String),
    /// The suffix has different meanings in different tools.
    AmbiguousSuffix(String),
    /// A fraction does not result in a whole number of bytes.
    NotWhole,
    /// It exceeds 2^64 - 1 bytes.
    TooLarge,
}

impl fmt::Display for SizeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeError::Empty => write!(out, "a size is missing; accepted: {ACCEPTED}"),
            SizeError::Negative => write!(out, "a size cannot be negative"),
            SizeError::Missing => write!(out, "this is an option; the size is missing"),
            SizeError::NoNumber(found) if found.is_empty() => write!(out, "a number is missing; accepted: {ACCEPTED}"),
            SizeError::NoNumber(found) => write!(out, "'{found}' does not start with a number; accepted: {ACCEPTED}"),
            SizeError::UnknownSuffix(suffix) => write!(out, "unknown suffix '{suffix}'; accepted: {ACCEPTED}"),
            SizeError::AmbiguousSuffix(suffix) => write!(
                out,
                "suffix '{suffix}' is ambiguous (512-byte blocks in dd, elsewhere bytes or bits); use s for 512-byte \
                 sectors, B for bytes, K or KB for multiples"
            ),
            SizeError::NotWhole => write!(out, "not a whole number of bytes"),
            SizeError::TooLarge => {
                write!(out, "too large for a 64-bit number of bytes, at most {}", u64::MAX)
            }
        }
    }
}

impl std::error::Error for SizeError {}

/// Parses `text` into bytes.
///
/// `size = factor { "x" factor }`, `factor = number [suffix]`; a number is decimal, with a fraction if the result is
/// whole (`1.5G`), or hexadecimal after `0x`. Because B and E are hexadecimal digits, `0x1E` is 30 and no exabyte.
///
/// # Errors
/// See [`SizeError`].
pub fn parse(text: &str) -> Result<u64, SizeError> {
    if text.is_empty() {
        return Err(SizeError::Empty);
    }
    if text.starts_with("--") {
        return Err(SizeError::Missing);
    }
    if text.starts_with('-') {
        return Err(SizeError::Negative);
    }
    let mut product: u64 = 1;
    let mut rest = text;
    loop {
        let (value, behind) = factor(rest)?;
        product = product.checked_mul(value).ok_or(SizeError::TooLarge)?;
        match behind {
            Some(next) => rest = next,
            None => return Ok(product),
        }
    }
}

/// The shortest text that [`parse`] converts back to `bytes`, in the largest binary unit that divides it.
pub fn print(bytes: u64) -> String {
    let unit = LETTERS.iter().enumerate().rev().find(|(index, _)| {
        let shift = 10 * (index + 1);
        bytes >> shift > 0 && bytes.trailing_zeros() as usize >= shift
    });
    match unit {
        Some((index, letter)) => format!("{}{letter}", bytes >> (10 * (index + 1))),
        None => bytes.to_string(),
    }
}

/// The value of the first factor and, if an `x` follows, the text after it.
fn factor(text: &str) -> Result<(u64, Option<&str>), SizeError> {
    let digits_at = if text.starts_with("0x") || text.starts_with("0X") { 2 } else { 0 };
    let is_digit = |c: char| if digits_at == 2 { c.is_ascii_hexdigit() } else { c.is_ascii_digit() || c == '.' };
    let digits = &text[digits_at..];
    let digits_len = digits.find(|c| !is_digit(c)).unwrap_or(digits.len());
    let (digits, behind) = digits.split_at(digits_len);
    let (suffix, rest) = match behind.split_once('x') {
        Some((suffix, rest)) => (suffix, Some(rest)),
        None => (behind, None),
    };
    if digits.is_empty() {
        return Err(SizeError::NoNumber(text.to_owned()));
    }
    let unit = unit_bytes(suffix)?;
    let value = if digits_at == 2 {
        u64::from_str_radix(digits, 16).ok().and_then(|number| number.checked_mul(unit)).ok_or(SizeError::TooLarge)?
    } else {
        decimal(digits, unit)?
    };
    Ok((value, rest))
}

/// `digits` times `unit`, if that is a whole number. Exact: without floating point.
fn decimal(digits: &str, unit: u64) -> Result<u64, SizeError> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(SizeError::NoNumber(digits.to_owned()));
    }
    let whole = whole.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or(SizeError::TooLarge)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Ok(whole);
    }
    // Each unit divides 10^60, and a fraction with more digits cannot result in a whole number; 18 digits fit
    // in 64 bits.
    let places = u32::try_from(fraction.len()).ok().filter(|places| *places <= 18).ok_or(SizeError::NotWhole)?;
    let scaled = fraction.parse::<u128>().map_err(|_| SizeError::NotWhole)? * u128::from(unit);
    let scale = 10u128.pow(places);
    if scaled % scale != 0 {
        return Err(SizeError::NotWhole);
    }
    let part = u64::try_from(scaled / scale).map_err(|_| SizeError::TooLarge)?;
    whole.checked_add(part).ok_or(SizeError::TooLarge)
}

/// The size of the unit named by `suffix`, in bytes.
fn unit_bytes(suffix: &str) -> Result<u64, SizeError> {
    match suffix {
        "" | "B" => return Ok(1),
        "s" => return Ok(SECTOR_BYTES),
        "b" => return Err(SizeError::AmbiguousSuffix(suffix.to_owned())),
        _ => {}
    }
    let unknown = || SizeError::UnknownSuffix(suffix.to_owned());
    let first = suffix.chars().next().ok_or_else(unknown)?;
    let power = LETTERS.iter().position(|letter| *letter == first.to_ascii_uppercase()).ok_or_else(unknown)?;
    let power = u32::try_from(power + 1).map_err(|_| unknown())?;
    match &suffix[first.len_utf8()..] {
        "" | "iB" => Ok(1024u64.pow(power)),
        "B" => Ok(1000u64.pow(power)),
        "b" | "ib" => Err(SizeError::AmbiguousSuffix(suffix.to_owned())),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_documented_form_of_a_size_is_parsed() {
        let table = [
            ("0", 0),
            ("512", 512),
            ("7B", 7),
            ("4K", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4KB", 4000),
            ("4kB", 4000),
            ("1M", 1 << 20),
            ("1MB", 1_000_000),
            ("3G", 3 << 30),
            ("2T", 2 << 40),
            ("1P", 1 << 50),
            ("15E", 15 << 60),
            ("18EB", 18_000_000_000_000_000_000),
            ("63s", 63 * 512),
            ("0x1000", 4096),
            ("0x10K", 16384),
            ("0x1E", 30),
            ("0XfF", 255),
            ("1.5G", 3 << 29),
            ("0.5K", 512),
            ("2.50KB", 2500),
            ("4Kx3", 12288),
            ("2x0x10x3s", 2 * 16 * 3 * 512),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in table {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn every_bad_size_is_refused_with_the_reason() {
        let unknown = |suffix: &str| SizeError::UnknownSuffix(suffix.to_owned());
        let no_number = |found: &str| SizeError::NoNumber(found.to_owned());
        let ambiguous = |suffix: &str| SizeError::AmbiguousSuffix(suffix.to_owned());
        let table = [
            ("", SizeError::Empty),
            ("-1", SizeError::Negative),
            ("-4K", SizeError::Negative),
            ("--seek", SizeError::Missing),
            ("K", no_number("K")),
            ("+5", no_number("+5")),
            ("0x", no_number("0x")),
            ("4x", no_number("")),
            ("x4", no_number("x4")),
            (".5K", no_number(".5")),
            ("1.K", no_number("1.")),
            ("1.2.3K", no_number("1.2.3")),
            ("4Q", unknown("Q")),
            ("4 K", unknown(" K")),
            ("1_000", unknown("_000")),
            ("4KK", unknown("KK")),
            ("4Ki", unknown("Ki")),
            ("5%", unknown("%")),
            ("4é", unknown("é")),
            ("2b", ambiguous("b")),
            ("4Mb", ambiguous("Mb")),
            ("1.5", SizeError::NotWhole),
            ("0.1K", SizeError::NotWhole),
            ("0.0000000000000000001K", SizeError::NotWhole),
            ("18446744073709551616", SizeError::TooLarge),
            ("16E", SizeError::TooLarge),
            ("4Gx4Gx1", SizeError::TooLarge),
            ("15.99999E", SizeError::NotWhole),
            ("0x10000000000000000", SizeError::TooLarge),
        ];
        for (text, error) in table {
            assert_eq!(parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn the_error_of_an_unknown_suffix_lists_the_accepted_ones() {
        let text = unit_bytes("Q").unwrap_err().to_string();
        assert!(
            text.starts_with("unknown suffix 'Q'; accepted: a number of bytes") && text.contains("sectors"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn a_printed_size_parses_to_itself(bytes: u64, zeros in 0u32..64) {
            for bytes in [bytes, bytes >> zeros, (bytes >> zeros) << zeros] {
                prop_assert_eq!(parse(&print(bytes)), Ok(bytes));
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn no_text_that_resembles_a_size_makes_the_parser_panic(text in "[-+0-9.xXaKMGTPEiBbs]{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn a_product_is_the_product_of_its_factors(a in 0u64..1 << 27, b in 0u64..1 << 27) {
            prop_assert_eq!(parse(&format!("{a}x{b}")), Ok(a * b));
            prop_assert_eq!(parse(&format!("{a}sx{b:#x}")), Ok(a * b * 512));
        }
    }
}
