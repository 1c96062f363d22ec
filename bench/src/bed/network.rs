//! Copies over the network: real servers (nbdkit, nginx) on this machine, with data in memory, and paths with latency.
use super::link::SlowLink;
use super::memory::device;
use super::server::Running;
use super::{Bed, Part, Place, Recipe, Shape, Size, Task, content};
use crate::error::{Doing, Error, Result};
use crate::process::die_with_parent;
use crate::workplace::Workplace;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The server of a side; the other kind of side is a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Serves {
    /// None: a loop device.
    Nothing,
    /// nbdkit, with this delay of each request in milliseconds.
    Nbd(u32),
    /// nginx, over a path with this round-trip time in milliseconds.
    Http(u32),
}

pub(super) fn recipes() -> Vec<Recipe> {
    let bed = |name, title| Recipe { name, title, make, seed: 0 };
    vec![
        bed("network-nbd-nbd", "NBD to NBD"),
        bed("network-nbd-nbd-5ms", "NBD to NBD, 5 ms of latency on both sides"),
        bed("network-nbd-device", "NBD to a device"),
        bed("network-device-nbd", "A device to NBD"),
        bed("network-http-device", "HTTP to a device"),
        bed("network-http-device-20ms", "HTTP to a device, 20 ms of latency"),
    ]
}

fn sides(name: &str) -> Result<[Serves; 2]> {
    Ok(match name {
        "network-nbd-nbd" => [Serves::Nbd(0), Serves::Nbd(0)],
        "network-nbd-nbd-5ms" => [Serves::Nbd(5), Serves::Nbd(5)],
        "network-nbd-device" => [Serves::Nbd(0), Serves::Nothing],
        "network-device-nbd" => [Serves::Nothing, Serves::Nbd(0)],
        "network-http-device" => [Serves::Http(0), Serves::Nothing],
        "network-http-device-20ms" => [Serves::Http(20), Serves::Nothing],
        _ => return Err(Error(format!("{name} is no bed of the network"))),
    })
}

fn make(recipe: &Recipe, workplace: &Workplace, size: Size) -> Result<Bed> {
    let bytes = size.bytes(1 << 30, 64 << 20);
    let [from, to] = sides(recipe.name)?;
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    for (what, serves) in [("source", from), ("dest", to)] {
        let name = format!("{}-{what}", recipe.name);
        let (part, place) = device(workplace, &name, bytes)?;
        if what == "source" {
            content::noise(&place.store, 0, bytes)?;
        } else {
            content::spoil(&place.store, 0, bytes)?;
        }
        let (uri, servers) = serve(serves, &name, &place.store, workplace)?;
        // A server ends before the device whose file it has.
        parts.extend(servers);
        parts.push(part);
        places.push(Place { uri, ..place });
    }
    let [Some(dest), Some(source)] = [places.pop(), places.pop()] else { unreachable!("two sides were made") };
    Ok(Bed {
        task: Task::Network,
        what:
            "Noise in tmpfs files, served by nbdkit (a Unix domain socket) or nginx (TCP); a device is a loop device \
               over such a file. nbdkit's delay filter, or a forwarder with a window of 3 MiB, makes the latency."
                .into(),
        source,
        dest,
        parts,
        ..Bed::new(recipe, Shape::DeviceToDevice, bytes, size, 5)
    })
}

/// The address of a server of the file `store`, and what runs for it.
fn serve(serves: Serves, name: &str, store: &Path, workplace: &Workplace) -> Result<(Option<String>, Vec<Part>)> {
    let dir = workplace.memory().join(format!("{name}-server"));
    match serves {
        Serves::Nothing => Ok((None, Vec::new())),
        Serves::Nbd(delay_ms) => {
            fs::create_dir(&dir)?;
            let (socket, ready) = (dir.join("socket"), dir.join("ready"));
            let mut command = Command::new("nbdkit");
            command.args(["--foreground", "--exit-with-parent", "--threads", "64", "--pidfile"]).arg(&ready);
            command.arg("--unix").arg(&socket);
            let delays = [format!("rdelay={delay_ms}ms"), format!("wdelay={delay_ms}ms")];
            if delay_ms > 0 {
                command.arg("--filter=delay");
            }
            command.arg("file").arg(store).args(delays.iter().filter(|_| delay_ms > 0));
            let server = Running::start(command, &dir.join("log"))?.until(|| ready.exists())?;
            let removed = content::Removed(dir);
            Ok((Some(format!("nbd+unix:///?socket={}", socket.display())), vec![Box::new(server), Box::new(removed)]))
        }
        Serves::Http(round_trip_ms) => {
            fs::create_dir(&dir)?;
            let (server, at) = nginx(&dir, store)?;
            let mut parts: Vec<Part> = vec![Box::new(server), Box::new(content::Removed(dir))];
            let mut at = at;
            if round_trip_ms > 0 {
                let link = SlowLink::start(at, Duration::from_millis(u64::from(round_trip_ms) / 2))?;
                at = link.address;
                parts.insert(0, Box::new(link));
            }
            let file = store.file_name().unwrap_or_default().to_string_lossy();
            Ok((Some(format!("http://{at}/{file}")), parts))
        }
    }
}

/// nginx for the directory of `store`.
fn nginx(dir: &Path, store: &Path) -> Result<(Running, SocketAddr)> {
    // Another process may take the port in between; then nginx does not start, and the bench says so.
    let at = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let shown = dir.display();
    let temporary =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|of| format!("{of}_temp_path {shown}/{of};"));
    let root = store.parent().unwrap_or(Path::new("/")).display();
    let configuration = format!(
        "daemon off; user root; worker_processes 2; pid {shown}/pid; error_log {shown}/errors;\n\
         events {{ worker_connections 256; }}\n\
         http {{ access_log off; sendfile on; {} server {{ listen {at}; root {root}; }} }}\n",
        temporary.concat()
    );
    let path = dir.join("nginx.conf");
    fs::write(&path, configuration).doing("write the configuration of nginx")?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(dir).arg("-e").arg(dir.join("errors")).arg("-c").arg(&path);
    die_with_parent(&mut command, libc::SIGTERM);
    let server = Running::start(command, &dir.join("log"))?.until(|| TcpStream::connect(at).is_ok())?;
    Ok((server, at))
}
