//! An allocator that counts.
// Each test uses one of the counts.
#![allow(dead_code)]
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // It needs no making and no dropping, so that it can be used wherever something is allocated.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.fetch_add(1, Relaxed);
    HERE.set(HERE.get() + 1);
}

// SAFETY: every call goes to the system's allocator as it is; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller keeps the promises of the trait, which are those of the system's allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: what the caller promised.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: what the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    // SAFETY: as above.
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: what the caller promised.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this process so far, those that grow one included.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// Those of this thread: what the test harness does meanwhile is in no one's way.
pub fn allocations_of_this_thread() -> u64 {
    HERE.get()
}
