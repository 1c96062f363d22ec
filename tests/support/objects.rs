//! An object store that others wrote, versitygw, and a proxy before it that fails as a test wants it.
use super::abilities::has;
use super::modelled::wait_until;
use super::running::{haul_path, state_home};
use assert_cmd::Command as Run;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// The secret of the store, which nothing may print.
pub const SECRET: &str = "Hunter2Hunter2Hunter2";

/// The name of the key, which belongs to it.
const KEY_NAME: &str = "testkey";

/// versitygw with one bucket, `vault`; ends with the test.
pub struct ObjectServer {
    child: Child,
    port: u16,
    objects: PathBuf,
}

impl ObjectServer {
    /// A server whose objects are files below `dir`. `None`: it is not installed, or the file system has no extended
    /// attributes.
    pub fn start(dir: &Path) -> Option<ObjectServer> {
        if !has("versitygw") {
            return None;
        }
        let objects = dir.join("objects");
        fs::create_dir_all(objects.join("vault")).unwrap();
        loop {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let log = dir.join("versitygw.log");
            let mut command = Command::new("versitygw");
            command.args(["--access", KEY_NAME, "--secret", SECRET, "--port", &format!("127.0.0.1:{port}"), "posix"]);
            command.arg(&objects).stdin(Stdio::null());
            command
                .stdout(fs::File::create(&log).unwrap())
                .stderr(fs::File::create(dir.join("versitygw.err")).unwrap());
            let mut child = command.spawn().expect("versitygw runs");
            let mut ended = false;
            wait_until(|| {
                ended = child.try_wait().unwrap().is_some();
                ended || TcpStream::connect(("127.0.0.1", port)).is_ok()
            });
            if !ended {
                return Some(ObjectServer { child, port, objects });
            }
            // Another process took the port in between.
            let errors = fs::read_to_string(dir.join("versitygw.err")).unwrap() + &fs::read_to_string(log).unwrap();
            assert!(errors.contains("in use"), "{errors}");
        }
    }

    /// The file of an object.
    pub fn file(&self, key: &str) -> PathBuf {
        self.objects.join("vault").join(key)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// What runs `haul` with it. A server ends with its test; a thread that outlives that has this.
    pub fn client(&self) -> StoreClient {
        StoreClient { port: self.port }
    }

    /// `haul` with the credentials of this server.
    pub fn haul(&self) -> Run {
        self.client().haul()
    }

    /// The same by the server at another port.
    pub fn haul_at(&self, port: u16) -> Run {
        StoreClient { port }.haul()
    }

    /// The same, to be started and ended by the test.
    pub fn command_at(&self, port: u16) -> Command {
        StoreClient { port }.command()
    }

    /// The variables with its address and credentials.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        environment(self.port)
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `haul` with the store at a port.
#[derive(Clone, Copy, Debug)]
pub struct StoreClient {
    port: u16,
}

impl StoreClient {
    /// `haul` with the credentials of the store.
    pub fn haul(self) -> Run {
        Run::from_std(self.command())
    }

    fn command(self) -> Command {
        let mut command = Command::new(haul_path());
        command.env("XDG_STATE_HOME", state_home()).env("HAUL_HTTP_TIMEOUT", "2").env_remove("SSL_CERT_FILE");
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            command.env_remove(name).env_remove(name.to_uppercase());
        }
        for (name, _) in std::env::vars_os() {
            if ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
                command.env_remove(name);
            }
        }
        command.envs(environment(self.port));
        command
    }
}

/// A request on its way to the store.
#[derive(Clone, Debug)]
pub struct Passing {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Requests of this kind before it.
    pub earlier: usize,
}

impl Passing {
    /// It sends a part.
    pub fn is_part(&self) -> bool {
        self.method == "PUT" && self.target.contains("partNumber=")
    }

    /// It joins the parts.
    pub fn is_completion(&self) -> bool {
        self.method == "POST" && self.target.contains("uploadId=")
    }

    /// It reads the object.
    pub fn is_read(&self) -> bool {
        self.method == "GET" && !self.target.contains('?')
    }
}

/// What happens to a request.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// The store answers it.
    Answered,
    /// This status, without the store.
    Status(u16),
    /// The connection is cut before an answer; the store never gets it.
    Cut,
    /// The answer is cut after so many bytes.
    CutAnswer(usize),
    /// No answer until the test ends.
    Hangs,
}

/// A proxy before a store, for as long as the test runs.
pub struct StoreProxy {
    port: u16,
    passed: Arc<Mutex<Vec<Passing>>>,
}

impl StoreProxy {
    /// A proxy that treats each request as `fate` says.
    pub fn start(server: &ObjectServer, fate: impl Fn(&Passing) -> Fate + Send + Sync + 'static) -> StoreProxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().unwrap().port();
        let passed = Arc::new(Mutex::new(Vec::new()));
        let (all, fate, to) = (passed.clone(), Arc::new(fate), server.port);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (all, fate) = (all.clone(), fate.clone());
                thread::spawn(move || pass(stream, to, &all, &*fate));
            }
        });
        StoreProxy { port, passed }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// All requests so far.
    pub fn passed(&self) -> Vec<Passing> {
        self.passed.lock().unwrap().clone()
    }
}

/// One request, and the connection ends: so each has the fate that the test wants.
fn pass(
    mut client: TcpStream,
    to: u16,
    all: &Mutex<Vec<Passing>>,
    fate: &(dyn Fn(&Passing) -> Fate + Send + Sync),
) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let (mut head, mut len) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            len = value.trim().parse().ok()?;
        }
        head += &line;
    }
    let mut words = head.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut passing = Passing { method, target, earlier: 0 };
    {
        let kind = |passing: &Passing| (passing.is_part(), passing.is_completion(), passing.is_read());
        let mut all = all.lock().unwrap();
        passing.earlier = all.iter().filter(|earlier| kind(earlier) == kind(&passing)).count();
        all.push(passing.clone());
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body).ok()?;
    let answered_bytes = match fate(&passing) {
        Fate::Answered => usize::MAX,
        Fate::CutAnswer(bytes) => bytes,
        Fate::Cut => return client.shutdown(Shutdown::Both).ok(),
        Fate::Hangs => {
            let _ = client.read(&mut [0]);
            return None;
        }
        Fate::Status(status) => {
            let answer = format!("HTTP/1.1 {status} Status\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return client.write_all(answer.as_bytes()).ok();
        }
    };
    let mut server = TcpStream::connect(("127.0.0.1", to)).ok()?;
    server.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).ok()?;
    server.write_all(&body).ok()?;
    let mut left = answered_bytes;
    let mut piece = vec![0; 64 << 10];
    while left > 0 {
        let read = server.read(&mut piece).ok()?;
        let some = read.min(left);
        if some == 0 {
            break;
        }
        client.write_all(&piece[..some]).ok()?;
        left -= some;
    }
    client.shutdown(Shutdown::Both).ok()
}

fn environment(port: u16) -> [(&'static str, String); 4] {
    [
        ("AWS_ACCESS_KEY_ID", KEY_NAME.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
    ]
}
