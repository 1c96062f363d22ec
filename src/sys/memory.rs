//! How the C library gets memory from the kernel.

/// Lets all threads share one heap: otherwise the C library reserves 64 MiB of address space for each, which a process
/// under `ulimit -v` may not have. Large blocks come from the kernel directly in any case.
pub fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a number that the allocator reads when it makes a heap; no other thread has one yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
