//! Memory for blocks: an arena that is divided into buffers and populated only as far as it is used.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// Alignment of every buffer. No known device requires a larger memory alignment.
pub const PAGE_BYTES: usize = 4096;

/// Size of a huge page, and alignment of an arena that uses huge pages.
const HUGE_BYTES: usize = 2 << 20;

/// The arena is not registered with a ring.
const UNREGISTERED: u32 = u32::MAX;

/// All memory for blocks, mapped once, on huge pages where the kernel grants them. Direct I/O then needs one segment
/// per 2 MiB instead of one per 4 KiB page, which tripled the throughput of a virtio disk.
#[derive(Debug)]
pub struct Arena {
    /// The mapping. It is longer than `len` if the arena uses huge pages, so that the start can be aligned to
    /// [`HUGE_BYTES`].
    map: NonNull<u8>,
    map_len: usize,
    base: NonNull<u8>,
    len: usize,
    /// Page size, in bytes.
    page_bytes: usize,
    /// Bytes that have been divided into buffers so far, in whole pages. The rest is not resident.
    used: AtomicUsize,
    /// Buffers in use. The memory can be divided again only when this is 0.
    out: AtomicUsize,
    /// Index of the fixed buffer under which a ring has the arena registered, or [`UNREGISTERED`].
    registered: AtomicU32,
    /// Number of registered bytes, from the start.
    registered_bytes: AtomicUsize,
}

// SAFETY: the arena is plain memory, and each buffer has exclusive access to its part of it.
unsafe impl Send for Arena {}
// SAFETY: as above; the fields of the arena are atomics or immutable.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `len` bytes, rounded up to whole huge pages. A length below one huge page is mapped with 4 KiB pages
    /// instead, because clearing a huge page takes longer than filling a few blocks. Nothing is resident yet.
    ///
    /// # Errors
    /// The error of `mmap(2)`, usually ENOMEM.
    pub fn map(len: usize) -> io::Result<Arc<Arena>> {
        let page_bytes = if len < HUGE_BYTES { PAGE_BYTES } else { HUGE_BYTES };
        let len = len.next_multiple_of(HUGE_BYTES).max(HUGE_BYTES);
        // mmap(2) returns a page-aligned address.
        let map_len = len + page_bytes - PAGE_BYTES;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: creates a private mapping at an address that the kernel chooses.
        let map = unsafe { libc::mmap(ptr::null_mut(), map_len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = NonNull::new(map.cast::<u8>()).expect("mmap does not return null unless asked");
        let gap = map.as_ptr().align_offset(page_bytes);
        // SAFETY: gap <= page_bytes - PAGE_BYTES, so `len` bytes from there are inside the mapping.
        let base = unsafe { map.add(gap) };
        let advice = if page_bytes == HUGE_BYTES { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        // SAFETY: the range is inside our mapping. A kernel without huge pages returns EINVAL and changes nothing.
        unsafe { libc::madvise(base.as_ptr().cast(), len, advice) };
        let registered = UNREGISTERED.into();
        let (used, out, registered_bytes) = (0.into(), 0.into(), 0.into());
        let arena = Arena { map, map_len, base, len, page_bytes, used, out, registered, registered_bytes };
        Ok(Arc::new(arena))
    }

    /// Bytes in the arena.
    pub fn len(&self) -> usize {
        self.len
    }

    #[cfg(any(test, feature = "internals"))]
    /// Always false: an arena has at least one page.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An arena of `len` bytes for a pool, with the first `ready_bytes` made resident now.
    pub(super) fn for_pool(len: usize, ready_bytes: usize) -> io::Result<Arc<Arena>> {
        let arena = Arena::map(len)?;
        arena.out.store(1, Relaxed);
        if ready_bytes > 0 {
            arena.populate(ready_bytes.min(arena.len));
        }
        Ok(arena)
    }

    /// Start and length of the part in use, for registering with a ring.
    pub fn as_iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.base.as_ptr().cast(), iov_len: self.used.load(Relaxed) }
    }

    /// Records that the used part is registered with a ring as fixed buffer `index`, or with `None` that it no longer
    /// is.
    pub fn set_registered(&self, index: Option<u16>) {
        self.registered_bytes.store(self.used.load(Relaxed), Relaxed);
        self.registered.store(index.map_or(UNREGISTERED, u32::from), Relaxed);
    }

    /// Divides the arena into `count` page-aligned buffers of `block_bytes` each and makes them resident now, so that
    /// no page fault delays the copy.
    ///
    /// Panics if buffers from an earlier call are still in use, or if the arena is too small.
    pub fn carve(self: &Arc<Self>, block_bytes: u32, count: u32) -> Vec<Buffer> {
        let stride = (block_bytes as usize).next_multiple_of(PAGE_BYTES);
        let fits = stride.checked_mul(count as usize).filter(|bytes| *bytes <= self.len);
        let bytes = fits.unwrap_or_else(|| panic!("{count} blocks of {block_bytes} do not fit in {} bytes", self.len));
        // A single compare-exchange, so that only one of two threads succeeds. Acquire pairs with the Release in
        // `Buffer::drop`: accesses of the previous owners happened before.
        let taken = self.out.compare_exchange(0, count as usize, Acquire, Relaxed);
        assert!(taken.is_ok(), "buffers of the last carving are still out");
        self.populate(bytes);
        let piece = |index: u32| {
            // SAFETY: inside the arena by the assertion above; the parts do not overlap, and no earlier buffer is in
            // use.
            let bytes = unsafe { self.base.add(index as usize * stride) };
            Buffer { bytes, len: block_bytes, arena: self.clone() }
        };
        (0..count).map(piece).collect()
    }

    /// One buffer of `len` bytes in a separate arena. Unlike with [`Arena::carve`], its pages become resident on first
    /// use.
    ///
    /// # Errors
    /// As for [`Arena::map`].
    pub fn lone(len: u32) -> io::Result<Buffer> {
        let arena = Arena::map(len as usize)?;
        arena.out.store(1, Relaxed);
        Ok(Buffer { bytes: arena.base, len, arena })
    }

    /// One buffer of `len` bytes that maps the memory of the driver at `fd`, shared with haul.
    ///
    /// # Errors
    /// The error of `mmap(2)`: ENOMEM if `len` exceeds the driver's memory, ENODEV if the driver shares none.
    pub fn shared(fd: BorrowedFd<'_>, len: u32) -> io::Result<Buffer> {
        let map_len = len as usize;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: creates a new mapping at an address that the kernel chooses.
        let map = unsafe { libc::mmap(ptr::null_mut(), map_len, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = NonNull::new(map.cast::<u8>()).expect("mmap does not return null unless asked");
        let (used, out) = (map_len.into(), 1.into());
        let (registered, registered_bytes) = (UNREGISTERED.into(), 0.into());
        let arena = Arena {
            map,
            map_len,
            base: map,
            len: map_len,
            page_bytes: PAGE_BYTES,
            used,
            out,
            registered,
            registered_bytes,
        };
        Ok(Buffer { bytes: map, len, arena: Arc::new(arena) })
    }

    /// Makes the first `len` bytes resident with one call (MADV_POPULATE_WRITE, since 5.14). On older kernels pages
    /// become resident on first use.
    fn populate(&self, len: usize) {
        let len = len.next_multiple_of(self.page_bytes).min(self.len);
        self.used.fetch_max(len, Relaxed);
        // SAFETY: the range is inside our mapping; populating does not change contents.
        unsafe { libc::madvise(self.base.as_ptr().cast(), len, libc::MADV_POPULATE_WRITE) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: our own mapping. Every buffer holds a reference to the arena, so none exists any more.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.map_len) };
    }
}

/// Memory for one block, page aligned for direct I/O. The only owner of its bytes.
#[derive(Debug)]
pub struct Buffer {
    bytes: NonNull<u8>,
    len: u32,
    arena: Arc<Arena>,
}

// SAFETY: a buffer has exclusive access to its part of the arena.
unsafe impl Send for Buffer {}

impl Buffer {
    /// The `len` bytes of `arena` from `offset` on.
    ///
    /// # Safety
    /// The bytes must be inside the arena, and no other buffer may contain any of them while this one exists.
    pub(super) unsafe fn within(arena: &Arc<Arena>, offset: usize, len: u32) -> Buffer {
        debug_assert!(offset + len as usize <= arena.len);
        arena.out.fetch_add(1, Relaxed);
        // SAFETY: inside the arena, as the caller guarantees.
        let bytes = unsafe { arena.base.add(offset) };
        Buffer { bytes, len, arena: arena.clone() }
    }

    /// Its offset in `arena`; `None` if it belongs to another arena.
    pub(super) fn offset_in(&self, arena: &Arc<Arena>) -> Option<usize> {
        let start = self.bytes.as_ptr() as usize - self.arena.base.as_ptr() as usize;
        Arc::ptr_eq(&self.arena, arena).then_some(start)
    }

    /// Capacity in bytes.
    pub fn len(&self) -> u32 {
        self.len
    }

    #[cfg(any(test, feature = "internals"))]
    /// Whether the capacity is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: inside the arena, zeroed by mmap, owned by self alone.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr(), self.len as usize) }
    }

    /// The bytes, mutable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes the access unique.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_ptr(), self.len as usize) }
    }

    /// Index of the fixed buffer that contains these bytes; `None` if they are not registered with a ring.
    pub fn registered(&self) -> Option<u16> {
        let index = u16::try_from(self.arena.registered.load(Relaxed)).ok()?;
        let end = self.bytes.as_ptr() as usize - self.arena.base.as_ptr() as usize + self.len as usize;
        (end <= self.arena.registered_bytes.load(Relaxed)).then_some(index)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.arena.out.fetch_sub(1, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carved_buffers_are_aligned_and_do_not_overlap() {
        let arena = Arena::map(1 << 20).unwrap();
        let mut buffers = arena.carve(5000, 7);
        for (index, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.bytes().as_ptr() as usize % PAGE_BYTES, 0);
            buffer.bytes_mut().fill(index as u8 + 1);
        }
        for (index, buffer) in buffers.iter().enumerate() {
            assert!(buffer.bytes().iter().all(|&byte| byte == index as u8 + 1));
        }
    }

    #[test]
    fn an_arena_can_be_carved_again_after_all_buffers_returned() {
        let arena = Arena::map(1 << 20).unwrap();
        drop(arena.carve(4096, 3));
        assert_eq!(arena.carve(65536, 2).len(), 2);
    }

    #[test]
    fn a_small_arena_maps_what_is_carved_and_a_large_one_whole_huge_pages() {
        let ready = |arena_bytes, block_bytes| {
            let arena = Arena::map(arena_bytes).unwrap();
            drop(arena.carve(block_bytes, 1));
            arena.as_iovec().iov_len
        };
        assert_eq!(ready(64 << 10, 5000), 8192);
        assert_eq!(ready(HUGE_BYTES, 5000), HUGE_BYTES);
    }

    #[test]
    fn a_shared_buffer_is_the_mapped_memory() {
        use std::os::fd::AsFd;
        use std::os::unix::fs::FileExt;
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        let mut buffer = Arena::shared(file.as_fd(), 8192).unwrap();
        buffer.bytes_mut()[8191] = 7;
        let mut byte = [0];
        file.read_exact_at(&mut byte, 8191).unwrap();
        assert_eq!(byte, [7]);
        assert!(Arena::shared(std::fs::File::open("/dev/null").unwrap().as_fd(), 4096).is_err());
    }

    #[test]
    fn one_of_two_threads_that_carve_concurrently_is_refused() {
        use std::sync::Barrier;
        for _ in 0..200 {
            let arena = Arena::map(HUGE_BYTES).unwrap();
            let (start, end) = (Barrier::new(2), Barrier::new(2));
            let carve = || {
                start.wait();
                let carved = std::panic::catch_unwind(|| arena.carve(PAGE_BYTES as u32, 3));
                // Both threads try before either returns its buffer.
                end.wait();
                usize::from(carved.is_ok())
            };
            let got = std::thread::scope(|scope| {
                let other = scope.spawn(carve);
                carve() + other.join().unwrap()
            });
            assert_eq!(got, 1, "threads that were given the same memory");
        }
    }

    #[test]
    #[should_panic(expected = "still out")]
    fn an_arena_refuses_to_be_carved_while_buffers_are_out() {
        let arena = Arena::map(1 << 20).unwrap();
        let _out = arena.carve(4096, 3);
        arena.carve(4096, 3);
    }
}
