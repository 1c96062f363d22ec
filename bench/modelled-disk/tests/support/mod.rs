//! A server for a test, and a minimal client that sends one request after another.
use std::io::{Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const ZERO: u16 = 6;
const DISCONNECT: u16 = 2;

/// An NBD connection with simple replies: the protocol of 2011, which nbdkit still supports.
pub struct Client {
    stream: UnixStream,
    size_bytes: u64,
}

impl Client {
    /// Connects to the server at `socket` once it listens; fails if `server` ends instead.
    pub fn connect(socket: &Path, server: &mut Child) -> Client {
        let mut stream = loop {
            if let Ok(stream) = UnixStream::connect(socket) {
                break stream;
            }
            assert!(server.try_wait().unwrap().is_none(), "nbdkit ended instead of listening");
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let mut hello = [0; 18];
        stream.read_exact(&mut hello).unwrap();
        assert_eq!(&hello[..16], b"NBDMAGICIHAVEOPT");
        // Flags: fixed newstyle, no zeros after the size. Then the option "export name", with an empty name.
        stream.write_all(&3_u32.to_be_bytes()).unwrap();
        stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0").unwrap();
        let mut export = [0; 10];
        stream.read_exact(&mut export).unwrap();
        Client { stream, size_bytes: u64::from_be_bytes(export[..8].try_into().unwrap()) }
    }

    /// Size of the disk that the server reports.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn send(&mut self, command: u16, offset: u64, len: usize, bytes: &[u8]) -> Result<()> {
        let mut request = 0x2560_9513_u32.to_be_bytes().to_vec();
        request.extend(0_u16.to_be_bytes());
        request.extend(command.to_be_bytes());
        request.extend(7_u64.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend((len as u32).to_be_bytes());
        request.extend(bytes);
        self.stream.write_all(&request)
    }

    fn call(&mut self, command: u16, offset: u64, len: usize, bytes: &[u8]) -> Result<()> {
        self.send(command, offset, len, bytes)?;
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        assert_eq!(reply[..4], 0x6744_6698_u32.to_be_bytes());
        match i32::from_be_bytes(reply[4..8].try_into().unwrap()) {
            0 => Ok(()),
            errno => Err(std::io::Error::from_raw_os_error(errno)),
        }
    }

    pub fn read(&mut self, offset: u64, len: usize) -> Result<Vec<u8>> {
        self.call(READ, offset, len, &[])?;
        let mut bytes = vec![0; len];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.call(WRITE, offset, bytes.len(), bytes)
    }

    pub fn zero(&mut self, offset: u64, len: usize) -> Result<()> {
        self.call(ZERO, offset, len, &[])
    }

    pub fn trim(&mut self, offset: u64, len: usize) -> Result<()> {
        self.call(TRIM, offset, len, &[])
    }

    pub fn flush(&mut self) -> Result<()> {
        self.call(FLUSH, 0, 0, &[])
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.send(DISCONNECT, 0, 0, &[]);
    }
}

/// Ends `server`, and waits for it.
pub fn end(mut server: Child) {
    let reported = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(reported.success() && server.wait().unwrap().success());
}
