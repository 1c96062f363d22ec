//! Parses addresses: a path, or an object on a server. No other file knows URL schemes.
use super::percent::{decoded, decoded_text, encoded};
use super::{Error, HttpAddress, Kind, NbdTls, ObjectAddress, Result, ServerProgram, Side};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The port that IANA assigned to NBD.
const NBD_PORT: u16 = 10809;

/// Most bytes of an export name, as the protocol specifies.
const EXPORT_BYTES_MAX: usize = 4096;

/// Advice for a path that looks like a URL.
const OF_A_PATH: &str = "Correct the address, or write ./ before it if it is the name of a file.";

/// Schemes whose names are followed by `://`.
const SCHEMES: [&str; 9] = ["nbd", "nbds", "nbd+unix", "nbds+unix", "http", "https", "s3", "gs", "az"];

/// How addresses begin, with what they name: for completions.
pub const BEGINNINGS: [(&str, &str); 13] = [
    ("nbd://", "NBD server"),
    ("nbds://", "NBD server, by TLS"),
    ("nbd+unix:///", "NBD server, Unix domain socket"),
    ("nbds+unix:///", "NBD server, Unix domain socket, by TLS"),
    ("http://", "Web server"),
    ("https://", "Web server, by TLS"),
    ("s3://", "Amazon S3"),
    ("gs://", "Google Cloud Storage"),
    ("az://", "Azure Blob Storage"),
    ("file:///", "File of this machine"),
    ("qcow2:", "Image, through qemu-nbd"),
    ("vmdk:", "Image, through qemu-nbd"),
    ("vhdx:", "Image, through qemu-nbd"),
];

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A path, or `-`.
    Path(String),
    /// An export of an NBD server.
    Nbd(NbdAddress),
    /// A resource of a web server.
    Http(HttpAddress),
    /// An object in an object store.
    Object(ObjectAddress),
}

/// An export of an NBD server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NbdAddress {
    /// Address of the server.
    pub server: NbdServer,
    /// Name of the export; may be empty.
    pub export: String,
    /// How the connections are encrypted; `None`: they are not.
    pub tls: Option<NbdTls>,
}

/// The address of an NBD server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NbdServer {
    /// A TCP port of a host. The host is a name or an IP address without brackets.
    Tcp {
        /// Name or IP address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix domain socket. A path that begins with a zero byte is in the abstract namespace.
    Unix(PathBuf),
    /// Started by haul.
    Program(ServerProgram),
}

impl Address {
    /// Parses `text`. Text that does not begin with a known scheme is a path.
    ///
    /// # Errors
    /// Usage for a malformed address, or one with a known scheme that haul does not support. Error messages never
    /// contain a password.
    pub fn parse(text: &str, side: Side) -> Result<Address> {
        let parsed = match scheme(text) {
            Some(("file", rest)) => file(rest),
            Some(("nbd", rest)) => nbd_tcp(rest, None),
            Some(("nbd+unix", rest)) => nbd_unix(rest, None),
            Some(("nbds", rest)) => nbd_tcp(rest, Some(NbdTls::default())),
            Some(("nbds+unix", rest)) => nbd_unix(rest, Some(NbdTls::default())),
            Some(("http" | "https", _)) => HttpAddress::parse(text).map(Address::Http),
            Some(_) => ObjectAddress::parse(text).map(Address::Object),
            None => match ServerProgram::parse(text, side) {
                Some(program) => program.map(|program| {
                    let (server, export) = (NbdServer::Program(program), String::new());
                    Address::Nbd(NbdAddress { server, export, tls: None })
                }),
                None => match unknown_scheme(text) {
                    Some(name) => Err(format!("haul does not support {name}: addresses")),
                    None => Ok(Address::Path(text.to_owned())),
                },
            },
        };
        parsed.map_err(|why| {
            let what = format!("{} {} cannot be used: {why}", side.name(), without_secrets(text));
            Error::new(Kind::Usage, what).on(side).advise(OF_A_PATH)
        })
    }

    /// The address of the file named `text`, even if the name looks like a URL.
    pub fn of_path(text: &str) -> Cow<'_, str> {
        if scheme(text).is_some() || unknown_scheme(text).is_some() || ServerProgram::is_named_by(text) {
            Cow::Owned(format!("./{text}"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// The address without its user name, password and query values.
fn without_secrets(text: &str) -> String {
    if let Some(("http" | "https", _)) = scheme(text) {
        return HttpAddress::redacted(text);
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://...{}", &rest[at..]),
        None => text.to_owned(),
    }
}

/// The scheme, if it is a known one, and the text after `://`.
fn scheme(text: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = text.split_once(':')?;
    if name.eq_ignore_ascii_case("file") && rest.starts_with('/') {
        return Some(("file", rest));
    }
    let rest = rest.strip_prefix("//")?;
    SCHEMES.into_iter().find(|known| name.eq_ignore_ascii_case(known)).map(|known| (known, rest))
}

/// What is before `://`, if it can be a scheme: a file with such a name is hardly meant.
fn unknown_scheme(text: &str) -> Option<&str> {
    let (name, _) = text.split_once("://")?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (name.len() > 1 && name.as_bytes()[0].is_ascii_alphabetic() && name.bytes().all(is_letter)).then_some(name)
}

/// Accepts `/path`, `///path` and `//localhost/path`.
fn file(rest: &str) -> std::result::Result<Address, String> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
    };
    if !path.starts_with('/') {
        return Err("a file: address names a file of this machine by its absolute path".to_owned());
    }
    Ok(Address::Path(decoded_text(path)?))
}

/// Splits the text after `nbd://` into authority, path without the leading slash, and query.
fn parts(rest: &str) -> std::result::Result<(&str, &str, Option<&str>), String> {
    if rest.contains('#') {
        return Err("an NBD address has no fragment (write %23 for #)".to_owned());
    }
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        return Err("a user name is for TLS with shared keys (PSK), which haul does not support".to_owned());
    }
    Ok((authority, path, query))
}

fn nbd_tcp(rest: &str, mut tls: Option<NbdTls>) -> std::result::Result<Address, String> {
    let (authority, path, query) = parts(rest)?;
    for (key, value) in query.into_iter().flat_map(pairs) {
        tls_parameter(&mut tls, key, value)?;
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("its IPv6 address has no closing bracket")?,
        None => authority.split_at(authority.rfind(':').unwrap_or(authority.len())),
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => NBD_PORT,
        Some("") => NBD_PORT,
        Some(digits) => digits.parse().ok().filter(|&port| port > 0).ok_or("its port is not a number up to 65535")?,
        None => return Err("its port is not a number up to 65535".to_owned()),
    };
    let host = decoded_text(host)?;
    if host.is_empty() {
        return Err("it names no host".to_owned());
    }
    Ok(Address::Nbd(NbdAddress { server: NbdServer::Tcp { host, port }, export: export(path)?, tls }))
}

fn nbd_unix(rest: &str, mut tls: Option<NbdTls>) -> std::result::Result<Address, String> {
    let (authority, path, query) = parts(rest)?;
    if !authority.is_empty() {
        return Err("an address of a Unix domain socket names no host: nbd+unix:///EXPORT?socket=PATH".to_owned());
    }
    let mut socket = None;
    for (key, value) in query.into_iter().flat_map(pairs) {
        match key {
            "socket" if socket.is_none() => socket = Some(decoded(value)?),
            "socket" => return Err("it names two sockets".to_owned()),
            key => tls_parameter(&mut tls, key, value)?,
        }
    }
    let socket = socket.filter(|socket| !socket.is_empty());
    let socket = socket.ok_or("it names no socket: nbd+unix:///EXPORT?socket=PATH")?;
    if socket[1..].contains(&0) {
        return Err("its socket has a zero byte".to_owned());
    }
    let server = NbdServer::Unix(OsString::from_vec(socket).into());
    Ok(Address::Nbd(NbdAddress { server, export: export(path)?, tls }))
}

fn tls_parameter(tls: &mut Option<NbdTls>, key: &str, value: &str) -> std::result::Result<(), String> {
    match tls {
        Some(tls) => tls.set(key, value),
        None if key.starts_with("tls-") => Err(format!("'{key}' is for addresses with TLS: nbds: or nbds+unix:")),
        None => Err(format!("unknown parameter '{key}'")),
    }
}

fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let fields = query.split('&').filter(|field| !field.is_empty());
    fields.map(|field| field.split_once('=').unwrap_or((field, "")))
}

fn export(path: &str) -> std::result::Result<String, String> {
    let name = decoded_text(path)?;
    if name.len() > EXPORT_BYTES_MAX {
        return Err(format!("its export name is longer than {EXPORT_BYTES_MAX} bytes"));
    }
    Ok(name)
}

impl NbdAddress {
    /// The path of the server's Unix domain socket, if the address names one.
    pub fn socket(&self) -> Option<&Path> {
        match &self.server {
            NbdServer::Unix(path) => Some(path),
            NbdServer::Tcp { .. } | NbdServer::Program(_) => None,
        }
    }
}

/// Writes the canonical form: default values are omitted, so equal exports have equal text.
impl fmt::Display for NbdAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let export = encoded(self.export.as_bytes());
        let scheme = if self.tls.is_some() { "nbds" } else { "nbd" };
        match &self.server {
            NbdServer::Program(program) => write!(out, "{program}"),
            NbdServer::Tcp { host, port } => {
                let host = if host.contains(':') { format!("[{host}]") } else { encoded(host.as_bytes()) };
                write!(out, "{scheme}://{host}")?;
                if *port != NBD_PORT {
                    write!(out, ":{port}")?;
                }
                if !export.is_empty() {
                    write!(out, "/{export}")?;
                }
                self.tls.iter().try_for_each(|tls| tls.write(out, '?'))
            }
            NbdServer::Unix(socket) => {
                write!(out, "{scheme}+unix:///{export}?socket={}", encoded(socket.as_os_str().as_bytes()))?;
                self.tls.iter().try_for_each(|tls| tls.write(out, '&'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> std::result::Result<Address, String> {
        Address::parse(text, Side::Source).map_err(|error| error.to_string())
    }

    fn nbd(text: &str) -> (String, u16, String) {
        match parse(text) {
            Ok(Address::Nbd(NbdAddress { server: NbdServer::Tcp { host, port }, export, .. })) => (host, port, export),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_examples_of_the_standard_name_their_exports() {
        for (address, export) in [
            ("nbd://example.com/disk", "disk"),
            ("nbd://example.com/", ""),
            ("nbd://example.com", ""),
            ("nbd://example.com//disk", "/disk"),
            ("nbd://example.com/hello%20world", "hello world"),
            ("NBD://example.com:10809/disk", "disk"),
        ] {
            assert_eq!(nbd(address), ("example.com".to_owned(), 10809, export.to_owned()), "{address}");
        }
        let unix = parse("nbd+unix:///disk?socket=%2Frun/a%20b").unwrap();
        let server = NbdServer::Unix("/run/a b".into());
        assert_eq!(unix, Address::Nbd(NbdAddress { server, export: "disk".to_owned(), tls: None }));
        assert_eq!(nbd("nbd://[::1]:7/x"), ("::1".to_owned(), 7, "x".to_owned()));
    }

    #[test]
    fn text_without_a_known_scheme_is_a_path() {
        for path in ["-", "disk.img", "./nbd://host/x", "/dev/sda", "nbd:x", "file:x", "c:\\x", "a b://c"] {
            assert_eq!(parse(path), Ok(Address::Path(path.to_owned())), "{path}");
        }
        for address in ["file:/a%20b", "file:///a%20b", "file://localhost/a%20b"] {
            assert_eq!(parse(address), Ok(Address::Path("/a b".to_owned())), "{address}");
        }
        assert_eq!((Address::of_path("nbd://x"), Address::of_path("x")), ("./nbd://x".into(), "x".into()));
    }

    #[test]
    fn an_unsupported_address_is_refused_with_a_reason_and_without_its_password() {
        for (address, why) in [
            ("ftp://user:secret@host/x", "haul does not support ftp: addresses"),
            ("nbd://host/x?tls-hostname=a", "for addresses with TLS"),
            ("nbds://host/x?tls-psk-file=keys", "(PSK) is not supported"),
            ("nbds://host/x?tls-verify-peer=0", "always verifies"),
            ("nbds://host/x?tls-hostname=a&tls-hostname=b", "twice"),
            ("nbds://host/x?tls-new=1", "parameter 'tls-new'"),
            ("nbd://host/x?socket=/run/x", "parameter 'socket'"),
            ("nbd://user:secret@host/x", "nbd://...@host/x cannot be used: a user name"),
            ("nbd://host:0/x", "its port"),
            ("nbd://host:99999/x", "its port"),
            ("nbd://[::1/x", "bracket"),
            ("nbd:///x", "names no host"),
            ("nbd://host/%zz", "two hexadecimal digits"),
            ("nbd://host/%ff", "not UTF-8"),
            ("nbd://host/a%00", "zero byte"),
            ("nbd://host/x#y", "fragment"),
            ("nbd+unix:///x", "names no socket"),
            ("nbd+unix://host/x?socket=/run/x", "names no host"),
            ("nbd+unix:///x?socket=/a&socket=/b", "two sockets"),
            ("s3://user:secret@host/x", "s3://...@host/x cannot be used: it has credentials"),
            ("https://user:secret@host:x/y?z=secret", "https://...@host:x/y?z=... cannot be used: its port"),
            ("file://server/x", "absolute path"),
        ] {
            let messages = parse(address).unwrap_err();
            assert!(messages.contains(why) && !messages.contains("secret"), "{address}: {messages}");
        }
    }

    proptest! {
        #[test]
        fn an_address_that_is_written_out_names_the_same_export(
            host in "[a-z0-9.-]{1,9}|[0-9a-f:]{2,9}:",
            port in 1u16..,
            export in "[^\\x00]{0,9}",
            socket in "/[^\\x00]{0,9}",
            tls in proptest::option::of((proptest::option::of("[^\\x00]{1,9}"), proptest::option::of("[a-z.&=]{1,9}"))),
        ) {
            let of = |(certificates, hostname): (Option<String>, _)| {
                NbdTls { certificates: certificates.map(PathBuf::from), hostname }
            };
            let tls = tls.map(of);
            let servers = [NbdServer::Tcp { host, port }, NbdServer::Unix(socket.into())];
            for server in servers {
                let address = NbdAddress { server, export: export.clone(), tls: tls.clone() };
                prop_assert_eq!(parse(&address.to_string()), Ok(Address::Nbd(address)));
            }
        }

        #[test]
        fn no_address_is_a_panic(text in "(nbds?|nbds?\\+unix|file)://[ -~]{0,20}") {
            let _ = parse(&text);
        }
    }
}
