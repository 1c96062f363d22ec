//! Sizes in the messages of this room.
use crate::core::Side;

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Requests in flight with the source and with the dest: `2+2`.
pub(crate) fn queue_depth([source, dest]: [u32; 2]) -> String {
    format!("{source}+{dest}")
}

/// Rounded, for choices that only have an order of magnitude or are round anyway: `256 KiB`, `1.5 GiB`, `100 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    let power = (63 - bytes.max(1).leading_zeros()) / 10;
    let Some(unit) = power.checked_sub(1).and_then(|index| UNITS.get(index as usize)) else {
        return format!("{bytes} bytes");
    };
    let scale = 1u64 << (10 * power);
    if bytes.is_multiple_of(scale) {
        format!("{} {unit}", bytes / scale)
    } else {
        format!("{:.1} {unit}", bytes as f64 / scale as f64)
    }
}

/// To the byte, with the rounded size where that says more: `1000000 bytes (976.6 KiB)`.
pub(crate) fn exact(bytes: u64) -> String {
    if bytes < 1024 { size(bytes) } else { format!("{bytes} bytes ({})", size(bytes)) }
}

/// The option that moves the beginning on `side`.
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
    fn a_size_is_given_in_its_largest_unit_and_to_the_byte_where_that_matters() {
        let table = [
            (0, "0 bytes", "0 bytes"),
            (1, "1 byte", "1 byte"),
            (1023, "1023 bytes", "1023 bytes"),
            (1024, "1 KiB", "1024 bytes (1 KiB)"),
            (1_000_000, "976.6 KiB", "1000000 bytes (976.6 KiB)"),
            (3 << 29, "1.5 GiB", "1610612736 bytes (1.5 GiB)"),
            (u64::MAX, "16.0 EiB", "18446744073709551615 bytes (16.0 EiB)"),
        ];
        for (bytes, rounded, to_the_byte) in table {
            assert_eq!((size(bytes).as_str(), exact(bytes).as_str()), (rounded, to_the_byte));
        }
    }
}
