//! Copies to and from an object store that others wrote, versitygw, on this machine and in memory.
use super::content::{self, Removed};
use super::server::Running;
use super::{Bed, Place, Recipe, Shape, Size, Task};
use crate::error::{Error, Result};
use crate::process::{Interrupt, Line, run};
use crate::workplace::Workplace;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

/// The key of the store, which ends with the bed.
pub(crate) const KEY_NAME: &str = "bench";
/// Its secret.
pub(crate) const SECRET: &str = "bench-bench-bench";
/// The bucket.
const BUCKET: &str = "vault";
/// The name of the object.
const KEY: &str = "image";
/// The region.
pub(crate) const REGION: &str = "us-east-1";

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        Recipe { name: "network-s3-up", title: "A file to an object store", make: up, seed: 0 },
        Recipe { name: "network-s3-down", title: "An object to a file", make: down, seed: 0 },
    ]
}

fn up(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let (bed, file, object) = make(recipe, workplace, size)?;
    content::noise(&file.store, 0, bed.bytes)?;
    Ok(Bed { source: file, dest: object, ..bed })
}

fn down(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let (bed, file, object) = make(recipe, workplace, size)?;
    content::noise(&file.store, 0, bed.bytes)?;
    // By a client, because an object that was put beneath the server has no ETag.
    let address = object.uri.as_deref().unwrap_or_default();
    let signed = format!("--aws-sigv4 aws:amz:{REGION}:s3 --user {KEY_NAME}:{SECRET}");
    let put =
        format!("curl -sSf {signed} -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' -T {} {address}", file.path.display());
    let ended = run(&Line::shell(put), None, &Interrupt::default())?;
    if !ended.status.success() {
        return Err(Error(format!("curl did not put the object: {}", ended.how())));
    }
    Ok(Bed { source: object, dest: file, ..bed })
}

/// A bed without sides, with its server; a file and an object for them, neither with data.
fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<(Bed, Place, Place)> {
    let bytes = size.bytes(1 << 30, 64 << 20);
    let dir = workplace.memory().join(format!("{}-server", recipe.name));
    let objects = dir.join("objects");
    fs::create_dir_all(objects.join(BUCKET))?;
    let (server, at) = versitygw(&dir, &objects)?;
    let file = workplace.memory().join(format!("{}-file", recipe.name));
    let place = |path: &Path| Place { path: path.into(), store: path.into(), ..Place::default() };
    let object = objects.join(BUCKET).join(KEY);
    let object = Place { uri: Some(format!("http://{at}/{BUCKET}/{KEY}")), ..place(&object) };
    let bed = Bed {
        task: Task::Objects,
        what: "A file of noise in tmpfs, and versitygw, which has its objects in files of tmpfs and takes most of the \
               machine's processor time."
            .into(),
        parts: vec![Box::new(server), Box::new(Removed(dir)), Box::new(Removed(file.clone()))],
        ..Bed::new(recipe, Shape::FileToFile, bytes, size, 5)
    };
    Ok((bed, place(&file), object))
}

/// The object store for the directories in `objects`, which are its buckets.
fn versitygw(dir: &Path, objects: &Path) -> Result<(Running, SocketAddr)> {
    // Another process may take the port in between; then the server does not start, and the bench says so.
    let at = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut command = Command::new("versitygw");
    command.args(["--access", KEY_NAME, "--secret", SECRET, "--region", REGION, "--port", &at.to_string(), "posix"]);
    command.arg(objects);
    let server = Running::start(command, &dir.join("log"))?.until(|| TcpStream::connect(at).is_ok())?;
    Ok((server, at))
}
