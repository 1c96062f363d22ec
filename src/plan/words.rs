//! Sizes in the messages of this room.
use crate::core::{Side, Units, byte_count};

/// Requests in flight with the source and with the dest: `2+2`.
pub(crate) fn queue_depth([source, dest]: [u32; 2]) -> String {
    format!("{source}+{dest}")
}

/// Rounded, in the preferred units, without insignificant decimals: `256 kB`, `1.5 GB`, `100 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    size_in(bytes, Units::leading())
}

/// A configured size, in binary units if it is a whole number of them: `1 MiB`, `40 MB`.
pub(crate) fn block(bytes: u64) -> String {
    if bytes >= 1024 && bytes.is_multiple_of(1024) { size_in(bytes, Units::Iec) } else { size(bytes) }
}

/// Exact, with the rounded size if that differs: `1000000 bytes (1 MB)`.
pub(crate) fn exact(bytes: u64) -> String {
    if bytes < 1024 { byte_count(bytes) } else { format!("{bytes} bytes ({})", size(bytes)) }
}

fn size_in(bytes: u64, units: Units) -> String {
    let power = bytes.max(1).ilog(units.base());
    if power == 0 {
        return byte_count(bytes);
    }
    let (unit, scale) = (units.names()[power as usize], units.base().pow(power));
    if bytes.is_multiple_of(scale) {
        format!("{} {unit}", bytes / scale)
    } else {
        format!("{:.1} {unit}", bytes as f64 / scale as f64)
    }
}

/// The option that sets the offset on `side`.
pub(super) fn offset_option(side: Side) -> &'static str {
    match side {
        Side::Source => "--skip",
        Side::Dest => "--seek",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_printed_in_its_largest_unit_and_in_bytes_if_inexact() {
        let table = [
            (0, "0 bytes", "0 bytes"),
            (1, "1 byte", "1 byte"),
            (999, "999 bytes", "999 bytes"),
            (1024, "1.0 kB", "1024 bytes (1.0 kB)"),
            (1_000_000, "1 MB", "1000000 bytes (1 MB)"),
            (3 << 29, "1.6 GB", "1610612736 bytes (1.6 GB)"),
            (u64::MAX, "18.4 EB", "18446744073709551615 bytes (18.4 EB)"),
        ];
        for (bytes, rounded, to_the_byte) in table {
            assert_eq!((size(bytes).as_str(), exact(bytes).as_str()), (rounded, to_the_byte));
        }
        assert_eq!([size_in(3 << 29, Units::Iec), size_in(u64::MAX, Units::Iec)], ["1.5 GiB", "16.0 EiB"]);
    }

    #[test]
    fn a_block_size_is_in_binary_units_and_a_limit_in_its_given_units() {
        assert_eq!([block(1 << 20), block(40_000_000), block(512)], ["1 MiB", "40 MB", "512 bytes"]);
    }
}
