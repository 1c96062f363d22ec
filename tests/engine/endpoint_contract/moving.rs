//! Executes requests, by a call or by a ring.
use haul::core::{Arena, Endpoint, Op, Request, Side};
use io_uring::{IoUring, types};
use std::os::fd::AsRawFd;

/// Bytes that differ between all offsets and pages.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 | 1).collect()
}

/// A request of `len` bytes at `offset`.
pub fn request(op: Op, offset: u64, len: u32) -> Request {
    let buffer = Arena::map(len as usize).unwrap().carve(len, 1).remove(0);
    let side = if op == Op::Read { Side::Source } else { Side::Dest };
    Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer }
}

/// How a request is passed to the kernel.
pub enum Door {
    Calls,
    /// By a ring if the endpoint supports it, else by calls; counts the bytes by the ring.
    Ring(Box<IoUring>, usize),
}

impl Door {
    /// Both; only one, with a message, if io_uring is not permitted.
    pub fn all() -> Vec<Door> {
        let mut doors = vec![Door::Calls];
        match IoUring::new(4) {
            Ok(ring) => doors.push(Door::Ring(Box::new(ring), 0)),
            Err(error) => eprintln!("SKIPPED: no io_uring here: {error}"),
        }
        doors
    }

    fn transfer(&mut self, endpoint: &dyn Endpoint, request: &mut Request) -> std::io::Result<u32> {
        let (Door::Ring(ring, count), Some(on_ring)) = (&mut *self, endpoint.on_ring()) else {
            return endpoint.perform(request);
        };
        if !on_ring.takes(request) {
            return endpoint.perform(request);
        }
        *count += 1;
        ring.submitter().register_files(&[on_ring.fd().as_raw_fd()]).unwrap();
        let entry = on_ring.encode(request, types::Fixed(0));
        // SAFETY: request and buffer outlive the wait below.
        unsafe { ring.submission().push(&entry).unwrap() };
        ring.submit_and_wait(1).unwrap();
        let result = ring.completion().next().unwrap().result();
        ring.submitter().unregister_files().unwrap();
        on_ring.decode(request, result, [0; 2]).map(|moved| moved.expect("a file supports every entry"))
    }

    /// Executes the request to its end or to the end of the endpoint; returns the bytes transferred.
    pub fn carry(&mut self, endpoint: &dyn Endpoint, request: &mut Request) -> std::io::Result<u32> {
        while request.done < request.len {
            let moved = self.transfer(endpoint, request)?;
            if moved == 0 {
                break;
            }
            request.done += moved;
            assert!(request.done <= request.len, "more was moved than asked for");
        }
        Ok(request.done)
    }

    /// Writes `bytes` at `offset`.
    pub fn write(&mut self, endpoint: &dyn Endpoint, offset: u64, bytes: &[u8]) {
        let mut request = request(Op::Write, offset, bytes.len() as u32);
        request.buffer.bytes_mut().copy_from_slice(bytes);
        assert_eq!(self.carry(endpoint, &mut request).unwrap() as usize, bytes.len());
    }

    /// Reads up to `len` bytes at `offset`.
    pub fn read(&mut self, endpoint: &dyn Endpoint, offset: u64, len: u32) -> Vec<u8> {
        let mut request = request(Op::Read, offset, len);
        let moved = self.carry(endpoint, &mut request).unwrap();
        request.buffer.bytes()[..moved as usize].to_vec()
    }

    /// Zeroes a run.
    pub fn zero(&mut self, endpoint: &dyn Endpoint, offset: u64, len: u32) {
        let mut request = request(Op::Zero, offset, len);
        assert_eq!(self.carry(endpoint, &mut request).unwrap(), len);
    }
}
