//! A file as a disk, served to one client by NBD from this process: each request may fail, be lost, or wait.
//!
//! It replaces a server with a script for each request, which cost most of the tests' processor time and sometimes
//! failed a request by itself.
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What a request would do to the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// What happens to a request.
pub enum Verdict {
    /// It is carried out.
    Serve,
    /// It fails: EIO.
    Fail,
    /// A write is acknowledged and discarded.
    Lose,
}

/// Decides about each request, and may wait before it does.
pub type Rule = Box<dyn Fn(Access, Range<u64>) -> Verdict + Send + Sync>;

const GREETING: [u8; 16] = *b"NBDMAGIC\x00\x00\x42\x02\x81\x86\x12\x53";
/// The server has flags, accepts flushes, and writes zeros.
const FLAGS: u32 = 1 | 1 << 2 | 1 << 6;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
const EIO: u32 = 5;

/// The export.
struct Export {
    /// Opened for each request, since tests may replace it.
    file: PathBuf,
    rule: Rule,
    replies: Mutex<UnixStream>,
}

/// A request for the disk; the header that the protocol defines, without magic and flags.
struct Request {
    kind: u16,
    cookie: [u8; 8],
    offset: u64,
    len: u32,
}

/// Serves `file`, whose length is the disk's, until the client disconnects. The server runs in threads of its own.
pub fn serve(file: &Path, rule: Rule) -> Result<UnixStream> {
    let (server, client) = UnixStream::pair()?;
    let len = file.metadata()?.len();
    let export = Export { file: file.to_owned(), rule, replies: Mutex::new(server.try_clone()?) };
    thread::spawn(move || run(server, len, Arc::new(export)));
    Ok(client)
}

/// Reads requests until the client is gone, and answers each in a thread: one that waits must not hold up others.
fn run(mut client: UnixStream, len: u64, export: Arc<Export>) -> Result<()> {
    let mut greeting = [&GREETING[..], &len.to_be_bytes(), &FLAGS.to_be_bytes()].concat();
    greeting.resize(greeting.len() + 124, 0);
    client.write_all(&greeting)?;
    loop {
        let mut header = [0; 28];
        client.read_exact(&mut header)?;
        let part = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        assert_eq!(part(0), REQUEST, "it begins with the magic of requests");
        let request = Request {
            kind: part(4) as u16,
            cookie: std::array::from_fn(|at| header[8 + at]),
            offset: u64::from(part(16)) << 32 | u64::from(part(20)),
            len: part(24),
        };
        let mut data = vec![0; if matches!(request.kind, 0 | 1 | 6) { request.len as usize } else { 0 }];
        match request.kind {
            1 => client.read_exact(&mut data)?,
            2 => return Ok(()),
            _ => {}
        }
        let export = Arc::clone(&export);
        thread::spawn(move || export.answer(&request, data));
    }
}

impl Export {
    /// Carries out a request, and replies.
    fn answer(&self, request: &Request, mut data: Vec<u8>) {
        let done = self.carry_out(request, &mut data);
        let error = if done.is_ok() { 0 } else { EIO };
        if done.is_err() || request.kind != 0 {
            data.clear();
        }
        let reply = [&REPLY.to_be_bytes()[..], &error.to_be_bytes(), &request.cookie, &data].concat();
        // A client that has ended needs none.
        let _ = self.replies.lock().unwrap_or_else(PoisonError::into_inner).write_all(&reply);
    }

    fn carry_out(&self, request: &Request, data: &mut [u8]) -> Result<()> {
        let range = request.offset..request.offset + u64::from(request.len);
        let access = match request.kind {
            0 => Access::Read,
            1 | 6 => Access::Write,
            // A flush: this server keeps nothing.
            3 => return Ok(()),
            kind => return Err(Error::new(ErrorKind::Unsupported, format!("command {kind}"))),
        };
        match (self.rule)(access, range) {
            Verdict::Fail => Err(ErrorKind::Other.into()),
            Verdict::Lose => Ok(()),
            Verdict::Serve if access == Access::Read => File::open(&self.file)?.read_exact_at(data, request.offset),
            Verdict::Serve => OpenOptions::new().write(true).open(&self.file)?.write_all_at(data, request.offset),
        }
    }
}
