//! Numbers of the sg_dd family: `128`, `2k`, `0x1f`, `1fh`, `2x3`, `3+1k`.

/// Parses `text`; `None` if it is not a number, or exceeds 63 bits.
pub(super) fn parse(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let value = sum(text)?;
    i64::try_from(value).is_ok().then_some(value)
}

/// A number, and terms added to it or factors multiplied with it; from right to left.
fn sum(text: &[u8]) -> Option<u64> {
    if let [b'0', b'x' | b'X', digits @ ..] = text {
        return continued(digits, 16);
    }
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(len) {
        // A trailing h makes the whole number hexadecimal.
        _ if matches!(text.last(), Some(b'h' | b'H')) && text.len() > 1 => digits(&text[..text.len() - 1], 16),
        None => digits(text, 10),
        Some(b'x' | b'X' | b'+') => continued(text, 10),
        Some(_) => digits(&text[..len], 10)?.checked_mul(suffix(&text[len..])?),
    }
}

/// Digits, followed by `x` or `+` and another number, or by nothing.
fn continued(text: &[u8], base: u32) -> Option<u64> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(base);
    let (number, rest) = text.split_at(text.iter().take_while(|byte| is_digit(byte)).count());
    let number = digits(number, base)?;
    match rest {
        [] => Some(number),
        [b'x' | b'X', rest @ ..] => number.checked_mul(sum(rest)?),
        [b'+', rest @ ..] => number.checked_add(sum(rest)?),
        _ => None,
    }
}

fn digits(text: &[u8], base: u32) -> Option<u64> {
    let digit =
        |sum: u64, byte: &u8| sum.checked_mul(base.into())?.checked_add(char::from(*byte).to_digit(base)?.into());
    if text.is_empty() { None } else { text.iter().try_fold(0, digit) }
}

/// The factor of a suffix.
fn suffix(text: &[u8]) -> Option<u64> {
    let (letter, rest) = text.split_first()?;
    let power = match letter {
        b'c' | b'C' => return rest.is_empty().then_some(1),
        b'w' | b'W' => return rest.is_empty().then_some(2),
        b'b' | b'B' => return rest.is_empty().then_some(512),
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'g' | b'G' => 3,
        b't' | b'T' => 4,
        b'p' | b'P' => 5,
        _ => return None,
    };
    match rest {
        [] | [b'i' | b'I', b'B'] => Some(1 << (10 * power)),
        [b'B'] => Some(1000u64.pow(power)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_number_is_parsed() {
        let table = [
            ("0", 0),
            ("7", 7),
            ("+3", 3),
            ("7c", 7),
            ("2w", 4),
            ("2b", 1024),
            ("1k", 1024),
            ("1K", 1024),
            ("1KiB", 1024),
            ("1KB", 1000),
            ("1kB", 1000),
            ("1m", 1 << 20),
            ("3M", 3 << 20),
            ("3MiB", 3 << 20),
            ("3MB", 3_000_000),
            ("1g", 1 << 30),
            ("1GB", 1_000_000_000),
            ("1t", 1 << 40),
            ("1TB", 1_000_000_000_000),
            ("1p", 1 << 50),
            ("0x10", 16),
            ("0X1f", 31),
            ("10h", 16),
            ("ah", 10),
            ("1BH", 27),
            ("2x3", 6),
            ("2x3k", 6144),
            ("3+1k", 1027),
            ("2x3+1", 8),
            ("0xfx0x2", 30),
            ("0xf+0x2", 17),
        ];
        for (text, number) in table {
            assert_eq!(parse(text.as_bytes()), Some(number), "{text}");
        }
    }

    #[test]
    fn an_invalid_number_is_refused() {
        let table = [
            "",
            "k",
            "-1",
            "1x",
            "x1",
            "1kx2",
            "1q",
            "1kk",
            "0x",
            "1.5",
            "h",
            "9000000000g",
            "16384p",
            "1+",
            "1 2",
            "é",
        ];
        for text in table {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
