//! The handshake: negotiates the export and the features of a connection.
use super::protocol::{self, Numbers, can, failure, info, malformed, option, reply};
use crate::core::{Export, Kind, byte_count};
use std::io::{self, Read, Write};

/// Maximum length of a reply to an option. The longest useful reply has a name of 4096 bytes.
const REPLY_BYTES_MAX: u32 = 64 << 10;

/// Maximum number of replies to one option: one per requested item, and a final one.
const REPLIES_MAX: u32 = 64;

/// Smallest value that the standard permits for the maximum request size.
const BLOCK_MAX_LEAST: u32 = 4096;

/// The result of the negotiation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Size of the export in bytes.
    pub(super) size: u64,
    /// Whether the server reports rotational storage.
    pub(super) rotational: bool,
    /// Other properties of the export.
    pub(super) export: Export,
    /// ID of the metadata context base:allocation.
    pub(super) context: Option<u32>,
}

/// Negotiates the use of the export `name`.
///
/// # Errors
/// The error of the stream; a [`crate::core::DeviceError`] if the server refuses or uses another protocol.
pub(super) fn negotiate(stream: &mut (impl Read + Write), name: &str) -> io::Result<Agreed> {
    greet(stream)?;
    select(stream, name)
}

/// The same with TLS: `secure` encrypts the stream and returns the version. Nothing that the server sent before counts.
///
/// # Errors
/// As for [`negotiate`]; the server does not support TLS, or `secure` fails.
pub(super) fn negotiate_secured<S: Read + Write>(
    stream: &mut S,
    name: &str,
    secure: impl FnOnce(&mut S) -> io::Result<String>,
) -> io::Result<Agreed> {
    greet(stream)?;
    request(stream, option::STARTTLS, &[])?;
    match answer(stream, option::STARTTLS)? {
        (reply::ACK, _) => {}
        (kind, _) if kind & reply::ERROR != 0 => {
            let advice = "Enable TLS in the server, or use an address without TLS (nbd:) on a trusted network.";
            return Err(failure(Kind::Unsupported, "the NBD server does not offer TLS", advice));
        }
        _ => return Err(malformed("an unexpected reply to NBD_OPT_STARTTLS")),
    }
    let version = secure(stream)?;
    let mut agreed = select(stream, name)?;
    agreed.export.tls = Some(version);
    Ok(agreed)
}

fn select(stream: &mut (impl Read + Write), name: &str) -> io::Result<Agreed> {
    let mut agreed = Agreed::default();
    agreed.export.structured_replies = structured_replies(stream)?;
    if agreed.export.structured_replies {
        agreed.context = base_allocation(stream, name)?;
        agreed.export.base_allocation = agreed.context.is_some();
    }
    go(stream, name, &mut agreed)?;
    Ok(agreed)
}

fn greet(stream: &mut (impl Read + Write)) -> io::Result<()> {
    let mut hello = [0; 18];
    stream.read_exact(&mut hello[..16])?;
    let mut numbers = Numbers(&hello[..16]);
    let (server, style) = (numbers.u64().unwrap_or(0), numbers.u64().unwrap_or(0));
    if server != protocol::SERVER_MAGIC {
        return Err(failure(Kind::Open, "the peer is not an NBD server", "Check the host and the port."));
    }
    if style == protocol::OLDSTYLE_MAGIC {
        return Err(unsupported_handshake());
    }
    if style != protocol::OPTION_MAGIC {
        return Err(malformed("its greeting is unknown"));
    }
    stream.read_exact(&mut hello[16..])?;
    let flags = u32::from(u16::from_be_bytes([hello[16], hello[17]]));
    if flags & protocol::FIXED_NEWSTYLE == 0 {
        return Err(unsupported_handshake());
    }
    let flags = flags & (protocol::FIXED_NEWSTYLE | protocol::NO_ZEROES);
    stream.write_all(&flags.to_be_bytes())
}

fn unsupported_handshake() -> io::Error {
    let words = "the NBD server uses an old form of the protocol, without the fixed newstyle handshake";
    failure(Kind::Unsupported, words, "Use a server that supports NBD_OPT_GO, as nbdkit, qemu-nbd and nbd-server do.")
}

fn request(stream: &mut impl Write, option: u32, data: &[u8]) -> io::Result<()> {
    let mut message = Vec::with_capacity(16 + data.len());
    message.extend(protocol::OPTION_MAGIC.to_be_bytes());
    message.extend(option.to_be_bytes());
    message.extend((data.len() as u32).to_be_bytes());
    message.extend(data);
    stream.write_all(&message)
}

/// Receives a reply to `option`: its type and data.
fn answer(stream: &mut impl Read, option: u32) -> io::Result<(u32, Vec<u8>)> {
    let mut head = [0; 20];
    stream.read_exact(&mut head)?;
    let mut numbers = Numbers(&head);
    let magic = numbers.u64();
    let (to, kind, len) = (numbers.u32(), numbers.u32().unwrap_or(0), numbers.u32().unwrap_or(0));
    if magic != Some(protocol::OPTION_REPLY_MAGIC) || to != Some(option) {
        return Err(malformed("an option reply has a wrong magic number"));
    }
    if len > REPLY_BYTES_MAX {
        return Err(malformed("a reply to an option is too long"));
    }
    let mut data = vec![0; len as usize];
    stream.read_exact(&mut data)?;
    Ok((kind, data))
}

fn structured_replies(stream: &mut (impl Read + Write)) -> io::Result<bool> {
    request(stream, option::STRUCTURED_REPLY, &[])?;
    match answer(stream, option::STRUCTURED_REPLY)? {
        (reply::ACK, _) => Ok(true),
        (kind, _) if kind & reply::ERROR != 0 && kind != reply::TLS_REQUIRED => Ok(false),
        (reply::TLS_REQUIRED, _) => Err(refused(reply::TLS_REQUIRED, "", &[])),
        _ => Err(malformed("an unexpected reply to NBD_OPT_STRUCTURED_REPLY")),
    }
}

fn with_len(name: &str) -> Vec<u8> {
    [&(name.len() as u32).to_be_bytes(), name.as_bytes()].concat()
}

/// ID of the metadata context base:allocation; `None` if the server does not support it.
fn base_allocation(stream: &mut (impl Read + Write), name: &str) -> io::Result<Option<u32>> {
    let mut data = with_len(name);
    data.extend(1u32.to_be_bytes());
    data.extend(with_len(protocol::BASE_ALLOCATION));
    request(stream, option::SET_META_CONTEXT, &data)?;
    let mut found = None;
    for _ in 0..REPLIES_MAX {
        match answer(stream, option::SET_META_CONTEXT)? {
            (reply::ACK, _) => return Ok(found),
            (reply::META_CONTEXT, data) => {
                let mut numbers = Numbers(&data);
                let id = numbers.u32().ok_or_else(|| malformed("a metadata context without a number"))?;
                if numbers.0 == protocol::BASE_ALLOCATION.as_bytes() {
                    found = Some(id);
                }
            }
            // If the export does not exist, the next option is refused with a better message.
            (kind, _) if kind & reply::ERROR != 0 => return Ok(None),
            _ => return Err(malformed("an unexpected reply to NBD_OPT_SET_META_CONTEXT")),
        }
    }
    Err(malformed("too many metadata contexts"))
}

/// Selects the export and ends the negotiation.
fn go(stream: &mut (impl Read + Write), name: &str, agreed: &mut Agreed) -> io::Result<()> {
    let mut data = with_len(name);
    let requested = [info::BLOCK_SIZE, info::DESCRIPTION];
    data.extend((requested.len() as u16).to_be_bytes());
    data.extend(requested.iter().flat_map(|requested| requested.to_be_bytes()));
    request(stream, option::GO, &data)?;
    let (export, mut has_size) = (&mut agreed.export, false);
    (export.block_min_bytes, export.block_max_bytes) = (1, protocol::REQUEST_BYTES_MAX);
    for _ in 0..REPLIES_MAX {
        match answer(stream, option::GO)? {
            (reply::ACK, _) if has_size => return check(agreed),
            (reply::ACK, _) => return Err(malformed("it did not send the size of the export")),
            (reply::INFO, data) => {
                let mut numbers = Numbers(&data);
                match numbers.u16() {
                    Some(info::EXPORT) => {
                        let (Some(size), Some(flags)) = (numbers.u64(), numbers.u16()) else {
                            return Err(malformed("its export information is too short"));
                        };
                        (agreed.size, has_size) = (size, true);
                        read_flags(agreed, flags);
                    }
                    Some(info::DESCRIPTION) => {
                        let text = String::from_utf8_lossy(numbers.0).into_owned();
                        agreed.export.description = Some(text).filter(|text| !text.is_empty());
                    }
                    Some(info::BLOCK_SIZE) => read_block_sizes(&mut agreed.export, numbers)?,
                    _ => {}
                }
            }
            (kind, data) if kind & reply::ERROR != 0 => {
                // Tries to end the connection cleanly.
                request(stream, option::ABORT, &[]).ok();
                return Err(refused(kind, name, &data));
            }
            _ => return Err(malformed("an unexpected reply to NBD_OPT_GO")),
        }
    }
    Err(malformed("its export information is too long"))
}

fn read_flags(agreed: &mut Agreed, flags: u16) {
    let has = |flag: u16| flags & flag != 0;
    let export = &mut agreed.export;
    export.read_only = has(can::READ_ONLY);
    export.flush = has(can::FLUSH);
    export.fua = has(can::FUA);
    export.trim = has(can::TRIM);
    export.write_zeroes = has(can::WRITE_ZEROES);
    export.fast_zero = has(can::FAST_ZERO);
    export.multi_conn = has(can::MULTI_CONN);
    agreed.rotational = has(can::ROTATIONAL);
}

fn read_block_sizes(export: &mut Export, mut numbers: Numbers<'_>) -> io::Result<()> {
    let (Some(least), Some(preferred), Some(most)) = (numbers.u32(), numbers.u32(), numbers.u32()) else {
        return Err(malformed("its block sizes are too short"));
    };
    let fits = least.is_power_of_two() && least <= 64 << 10 && preferred >= least && most >= BLOCK_MAX_LEAST.max(least);
    if !fits {
        let sizes = format!("invalid block sizes: {least}, {preferred} and {most} bytes");
        return Err(malformed(&sizes));
    }
    export.block_min_bytes = least;
    export.block_preferred_bytes = Some(preferred);
    // Larger requests do not improve throughput.
    export.block_max_bytes = (most - most % least).min(protocol::REQUEST_BYTES_MAX);
    Ok(())
}

fn check(agreed: &Agreed) -> io::Result<()> {
    let (size, block) = (agreed.size, agreed.export.block_min_bytes);
    if i64::try_from(size).is_err() {
        return Err(malformed("the export is larger than the largest possible offset"));
    }
    if !size.is_multiple_of(block.into()) {
        return Err(malformed(&format!(
            "its size of {} is not a multiple of its block size of {block} bytes",
            byte_count(size)
        )));
    }
    Ok(())
}

/// The error for a refused export.
fn refused(kind: u32, name: &str, data: &[u8]) -> io::Error {
    let words: String = String::from_utf8_lossy(data).chars().filter(|letter| !letter.is_control()).take(200).collect();
    let messages = if words.trim().is_empty() { String::new() } else { format!(": {}", words.trim()) };
    let known = "Check the name of the export; nbdinfo --list shows those of a server.";
    let (kind, what, advice) = match kind {
        reply::TLS_REQUIRED => {
            (Kind::Open, "the NBD server requires TLS".to_owned(), "Use an address with nbds: or nbds+unix:.")
        }
        reply::UNKNOWN => (Kind::Open, format!("the NBD server has no export '{name}'"), known),
        reply::POLICY => (Kind::Open, "the NBD server does not allow the use of this export".to_owned(), ""),
        reply::UNSUPPORTED => (Kind::Unsupported, "the NBD server does not support NBD_OPT_GO".to_owned(), ""),
        reply::SHUTDOWN => (Kind::Open, "the NBD server is shutting down".to_owned(), ""),
        number => {
            let number = number & !reply::ERROR;
            (Kind::Open, format!("the NBD server refuses export '{name}' (error {number})"), "")
        }
    };
    failure(kind, what + &messages, advice)
}
