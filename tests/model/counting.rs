//! An allocator that counts.
// Each test uses only one of the counts.
#![allow(dead_code)]
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Constant and without a destructor, so that it can be used in every allocation.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.fetch_add(1, Relaxed);
    HERE.set(HERE.get() + 1);
}

// SAFETY: every call is passed to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller meets the requirements of the trait, which are those of the system's allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(memory, layout) }
    }

    // SAFETY: as above.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this process so far, including reallocations.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// Allocations of this thread: those of the test harness do not count.
pub fn allocations_of_this_thread() -> u64 {
    HERE.get()
}
