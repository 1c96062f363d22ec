//! Filling, checking and comparing allocate nothing, regardless of the result.
//!
//! A separate binary, because it has a special allocator.
#[path = "model/counting.rs"]
mod counting;

use counting::allocations_of_this_thread as allocations;
use haul::core::stages::{Pattern, differences, first_difference};

#[test]
fn the_stages_of_a_check_allocate_nothing() {
    let mut buffer = vec![0; 1 << 20];
    let mut copy = vec![0; 1 << 20];
    let pattern = Pattern::new(4096, 5, 0).unwrap();
    let older = Pattern::new(4096, 4, 0).unwrap();
    let mut seen = 0;
    let before = allocations();
    pattern.fill(&mut buffer, 0);
    pattern.judge(&buffer, 0, |_, _| seen += 1);
    copy.copy_from_slice(&buffer);
    assert_eq!(first_difference(&buffer, &copy), None);
    differences(&buffer, &copy, 0, 4096, |_| seen += 1);
    assert_eq!((seen, allocations() - before), (0, 0));
    // Stale, zero, foreign, torn, flipped.
    older.fill(&mut buffer[..4096], 0);
    buffer[8192..12288].fill(0);
    buffer[16384..20480].fill(9);
    buffer[26000..28672].fill(1);
    buffer[40000] ^= 1;
    pattern.judge(&buffer, 0, |_, _| seen += 1);
    differences(&buffer, &copy, 0, 4096, |_| seen += 1);
    assert_eq!((seen, allocations() - before), (10, 0));
}
