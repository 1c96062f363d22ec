//! Configuration of the C library's allocator.

/// Makes all threads share one heap. Otherwise the C library reserves 64 MiB of address space per thread, which may
/// exceed `ulimit -v`. Large blocks are mapped directly in any case.
pub fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter that the allocator reads when it creates a heap for a thread; there are no other threads
    // yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
