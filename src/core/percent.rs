//! Percent-encoding of addresses.
/// Decodes percent-encoding, such as `%20`.
pub(super) fn decoded(text: &str) -> std::result::Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digit = |at: usize| after.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return Err("% must be followed by two hexadecimal digits (write %25 for %)".to_owned());
        };
        bytes.push((high * 16 + low) as u8);
        rest = &after[2..];
    }
    Ok(bytes)
}

/// The same of what has to be text without zero bytes.
pub(super) fn decoded_text(text: &str) -> std::result::Result<String, String> {
    let text = String::from_utf8(decoded(text)?).map_err(|_| "its name is not UTF-8".to_owned())?;
    if text.contains('\0') { Err("it has a zero byte".to_owned()) } else { Ok(text) }
}

/// The bytes, with what an address cannot have as `%20` and the like.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~:".contains(byte);
    bytes.iter().fold(String::new(), |mut text, byte| {
        match plain(byte) {
            true => text.push(char::from(*byte)),
            false => text += &format!("%{byte:02X}"),
        }
        text
    })
}
