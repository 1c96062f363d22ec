//! Web servers: one in this process that fails as a test wants it, and nginx.
use super::abilities::has;
use super::certificates::make_certificates;
use super::modelled::wait_until;
use super::running::haul;
use assert_cmd::Command as Run;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// `haul` without the proxies of the machine, with a short time limit for servers that are silent.
pub fn web_haul() -> Run {
    let mut command = haul();
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command.env("HAUL_HTTP_TIMEOUT", "2").env_remove("SSL_CERT_FILE");
    command
}

/// A request that a server got.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Requests before it.
    pub number: usize,
    /// Path and query, or all of the address at a proxy.
    pub target: String,
    /// Names in small letters.
    headers: Vec<(String, String)>,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The first and the last byte that are requested.
    pub fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().unwrap_or(usize::MAX)))
    }

    /// It is about more than the first byte.
    pub fn is_of_copy(&self) -> bool {
        self.range() != Some((0, 0))
    }
}

/// What a server answers.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body that are sent before the connection is cut.
    pub cut_at: Option<usize>,
    /// Instead of being cut, the connection is silent from there on.
    pub stalls: bool,
    /// The body is sent in chunks, without its length.
    pub chunked: bool,
}

impl Reply {
    /// A status and nothing else.
    pub fn status(status: u16) -> Reply {
        let (headers, body) = Default::default();
        Reply { status, headers, body, cut_at: None, stalls: false, chunked: false }
    }

    /// The same with a header.
    pub fn with(mut self, name: &str, value: impl ToString) -> Reply {
        self.headers.retain(|(old, _)| old != name);
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// The whole of `bytes`.
    pub fn whole(bytes: &[u8]) -> Reply {
        Reply { body: bytes.to_vec(), ..Reply::status(200) }.with("etag", "\"one\"")
    }

    /// What a server with ranges answers.
    pub fn ranged(asked: &Asked, bytes: &[u8]) -> Reply {
        let Some((first, last)) = asked.range() else { return Reply::whole(bytes) };
        if first >= bytes.len() {
            return Reply::status(416).with("content-range", format!("bytes */{}", bytes.len()));
        }
        if asked.header("if-match").is_some_and(|etag| etag != "\"one\"") {
            return Reply::status(412);
        }
        let last = last.min(bytes.len() - 1);
        let reply = Reply { body: bytes[first..=last].to_vec(), ..Reply::status(206) };
        reply.with("etag", "\"one\"").with("content-range", format!("bytes {first}-{last}/{}", bytes.len()))
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<bool> {
        let mut head = format!("HTTP/1.1 {} Status\r\n", self.status);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        let has_length = self.headers.iter().any(|(name, _)| name == "content-length");
        if self.chunked {
            head += "transfer-encoding: chunked\r\n";
        } else if !has_length {
            head += &format!("content-length: {}\r\n", self.body.len());
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        let body = &self.body[..self.cut_at.unwrap_or(self.body.len())];
        for piece in body.chunks(if self.chunked { 5000 } else { usize::MAX }) {
            if self.chunked {
                stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
            }
            stream.write_all(piece)?;
            if self.chunked {
                stream.write_all(b"\r\n")?;
            }
        }
        if self.stalls {
            // Until the other side closes the connection.
            let _ = stream.read(&mut [0]);
        }
        if self.cut_at.is_some() || self.stalls {
            let _ = stream.shutdown(Shutdown::Both);
            return Ok(false);
        }
        if self.chunked {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(true)
    }
}

/// A server in this process, for as long as the test runs.
pub struct FaultyServer {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FaultyServer {
    /// A server that answers each request as `answer` does.
    pub fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> FaultyServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().unwrap().port();
        let all = Arc::new(Mutex::new(Vec::new()));
        let (answer, asked) = (Arc::new(answer), all.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, asked) = (answer.clone(), asked.clone());
                thread::spawn(move || serve(stream, &asked, &*answer));
            }
        });
        FaultyServer { port, asked: all }
    }

    /// Its address with this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, all: &Mutex<Vec<Asked>>, answer: &(dyn Fn(&Asked) -> Reply + Send + Sync)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => break,
                Ok(_) => lines.push(line.trim().to_owned()),
            }
        }
        let header = |line: &String| {
            let (name, value) = line.split_once(':').unwrap_or_default();
            (name.to_lowercase(), value.trim().to_owned())
        };
        let headers = lines.iter().skip(1).map(header).collect();
        let target = lines[0].split(' ').nth(1).unwrap_or_default().to_owned();
        let asked = {
            let mut all = all.lock().unwrap();
            let asked = Asked { number: all.len(), target, headers };
            all.push(asked.clone());
            asked
        };
        if lines[0].starts_with("CONNECT") {
            let reply = answer(&asked);
            if reply.status != 200 {
                let _ = reply.send(&mut stream);
                return;
            }
            return tunnel(stream, &asked.target);
        }
        if !matches!(answer(&asked).send(&mut stream), Ok(true)) {
            return;
        }
    }
}

fn tunnel(mut client: TcpStream, to: &str) {
    let Ok(server) = TcpStream::connect(to) else { return };
    let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    let (mut from, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut from, &mut back).and_then(|_| back.shutdown(Shutdown::Write)));
    let mut server = server;
    let _ = std::io::copy(&mut client, &mut server).and_then(|_| server.shutdown(Shutdown::Write));
}

/// nginx, which ends with the test.
pub struct Nginx {
    child: Child,
    dir: PathBuf,
    ports: [u16; 2],
}

impl Nginx {
    /// nginx that serves the files of `dir/www`: by http, and by https with a certificate of a new authority; below
    /// /plain/ without ranges. `None`: it is not installed.
    pub fn start(dir: &Path) -> Option<Nginx> {
        if !has("nginx") || !has("openssl") {
            return None;
        }
        let dir = dir.join("nginx");
        fs::create_dir_all(dir.join("../www")).unwrap();
        fs::create_dir_all(&dir).unwrap();
        make_certificates(&dir);
        loop {
            let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let ports = [free(), free()];
            fs::write(dir.join("conf"), configuration(&dir, ports)).unwrap();
            let mut command = Command::new("nginx");
            command.arg("-p").arg(&dir).args(["-c", "conf"]).stderr(fs::File::create(dir.join("log")).unwrap());
            let mut child = command.stdin(Stdio::null()).spawn().expect("nginx runs");
            let mut ended = false;
            wait_until(|| {
                ended = child.try_wait().unwrap().is_some();
                ended || ports.iter().all(|&port| TcpStream::connect(("127.0.0.1", port)).is_ok())
            });
            if !ended {
                return Some(Nginx { child, dir, ports });
            }
            // Another process took a port in between.
            let log = fs::read_to_string(dir.join("log")).unwrap();
            assert!(log.contains("in use"), "{log}");
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.ports[0])
    }

    pub fn secure_url(&self, path: &str) -> String {
        format!("https://localhost:{}/{path}", self.ports[1])
    }

    /// The certificate of the authority.
    pub fn authority(&self) -> PathBuf {
        self.dir.join("ca-cert.pem")
    }

    /// Where the files are.
    pub fn www(&self) -> PathBuf {
        self.dir.join("../www")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration(dir: &Path, [plain, secure]: [u16; 2]) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path temporary_{name};\n"))
        .concat();
    let www = dir.join("../www");
    let files = format!("root '{0}'; location /plain/ {{ max_ranges 0; alias '{0}/'; }}", www.display());
    format!(
        "daemon off; master_process off; pid pid; error_log log; events {{}}\n\
         http {{ access_log off;\n{temporary}\n\
         server {{ listen 127.0.0.1:{plain}; {files} }}\n\
         server {{ listen 127.0.0.1:{secure} ssl; ssl_protocols TLSv1.2 TLSv1.3;\n\
         ssl_certificate server-cert.pem; ssl_certificate_key server-key.pem; {files} }} }}\n"
    )
}
