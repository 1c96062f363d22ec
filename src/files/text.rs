//! Text that the user names: lists of ranges, lists of checksums.
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum length of such a text in bytes: some ten million ranges. A device would never end.
const TEXT_BYTES_MAX: u64 = 256 << 20;

/// Reads the text in a file, a FIFO or standard input (`/dev/stdin`).
///
/// # Errors
/// The kernel's error; `InvalidData` if it is not UTF-8, or longer than 256 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > TEXT_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 256 MiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
        assert!(read_text(Path::new("/proc/self/comm")).is_ok_and(|text| text.ends_with('\n')));
    }
}
