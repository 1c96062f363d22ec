//! The plugin in nbdkit: data is stored at its offsets, faults are reported, and the counters are correct.
//!
//! Nothing here depends on a clock; service times are the model's arithmetic, which is tested without one.
mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::{Client, end};

/// Prints that the current test did not run, and why; bypasses the harness, which would capture it.
fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn has_all(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", tool]).stdout(Stdio::null()).status();
        !found.is_ok_and(|status| status.success())
    });
    missing.inspect(|tool| skip(&format!("{tool} is not installed"))).is_none()
}

/// The plugin that cargo built with this test: next to it, in `deps`.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().join("libmodelled_disk.so");
    assert!(path.exists(), "{} is not there; cargo builds it before this test", path.display());
    path
}

struct Bed {
    dir: tempfile::TempDir,
}

impl Bed {
    fn new() -> Bed {
        Bed { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn nbdkit(&self, socket: &str, parameters: &[&str]) -> Command {
        let mut command = Command::new("nbdkit");
        command.args(["-f", "--exit-with-parent", "-t", "32", "-U", socket]).arg(plugin()).args(parameters);
        command.args(["store=store", "log=log"]).current_dir(self.dir.path());
        command
    }

    /// Serves a disk while `client` runs in a shell, with the server's address in `$uri`.
    fn serve(&self, parameters: &[&str], client: &str) -> Output {
        // nbdkit does not remove the directory of a socket that it names itself ("-").
        let socket = self.path("socket");
        let _ = fs::remove_file(&socket);
        self.nbdkit(socket.to_str().unwrap(), parameters).args(["--run", client]).output().unwrap()
    }

    /// Serves a disk to `client`, then ends the server.
    fn serve_to(&self, parameters: &[&str], client: impl FnOnce(&mut Client)) {
        let socket = self.path("socket");
        let mut server = self.nbdkit(socket.to_str().unwrap(), parameters).spawn().unwrap();
        let mut connection = Client::connect(&socket, &mut server);
        client(&mut connection);
        drop(connection);
        end(server);
    }

    fn counters(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path("log")).unwrap()).unwrap()
    }
}

#[track_caller]
fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Bytes in which all sectors differ.
fn pattern(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..len / 8).flat_map(|_| next()).collect()
}

const SIZE: usize = 24 << 20;

fn write_file(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn nbdcopy_writes_and_reads_back_every_byte_of_every_kind_of_disk() {
    if !has_all(&["nbdkit", "nbdcopy"]) {
        return;
    }
    let presets = ["sata-ssd", "fast-ssd", "slow-ssd", "disk-7200", "usb-stick", "scsi-2001"];
    let unlike = [
        ("disk-7200", "one_way=true transfer_max=120K distance_us=2000 rotational=false"),
        ("disk-7200", "read_ahead_bytes=0 one_way=true"),
        ("usb-stick", "transfer_max=120K rotational=true"),
        ("sata-ssd", "channels=4 channel_rate=40MB transfer_max=64K"),
        ("sata-ssd", "distance_us=9000"),
    ];
    for (preset, more) in presets.map(|preset| (preset, "")).into_iter().chain(unlike) {
        let bed = Bed::new();
        let bytes = pattern(SIZE);
        write_file(&bed.path("in"), &bytes);
        // Channels exclude a cache.
        let cache = if more.contains("channels") { "write_cache_bytes=0" } else { "write_cache_bytes=1M" };
        let words = [&format!("preset={preset}"), "size=24M", "time_scale=8", cache];
        let words: Vec<&str> = words.into_iter().chain(more.split_whitespace()).collect();
        assert_success(&bed.serve(&words, "nbdcopy --flush in \"$uri\" && nbdcopy \"$uri\" out"));
        assert!(fs::read(bed.path("store")).unwrap() == bytes, "{preset}: the store differs");
        assert!(fs::read(bed.path("out")).unwrap() == bytes, "{preset}: what was read differs");
        let counters = bed.counters();
        for direction in ["read", "write"] {
            assert_eq!(counters[direction]["bytes"], SIZE, "{preset} {direction}");
            assert!(counters[direction]["commands"].as_u64() >= Some(96), "{preset} {direction}: {counters}");
        }
        assert!(counters["flushes"].as_u64() >= Some(1), "{preset}");
        // nbdcopy keeps 64 requests in flight. The slowest disk has the most of them; a fast one may have completed
        // each.
        let at_once = if preset == "scsi-2001" { 4 } else { 1 };
        assert!(counters["queue_max"].as_u64() >= Some(at_once), "{preset}: one request at a time: {counters}");
    }
}

#[test]
fn only_a_bad_range_is_an_io_error() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let bed = Bed::new();
    bed.serve_to(&["size=4M", "bad_read=1M:4096", "bad_write=2M:512"], |disk| {
        assert_eq!(disk.size_bytes(), 4 << 20);
        let bad = 1 << 20;
        for (offset, len, fails) in
            [(bad, 512, true), (bad + 3584, 1024, true), (bad - 512, 512, false), (bad + 4096, 512, false)]
        {
            let errno = disk.read(offset, len).err().and_then(|error| error.raw_os_error());
            assert_eq!(errno, fails.then_some(libc::EIO), "read of {len} at {offset}");
        }
        assert!(disk.write(bad, &[b'1'; 512]).is_ok(), "what cannot be read can be written");
        assert_eq!(disk.write(2 * bad, &[b'2'; 512]).unwrap_err().raw_os_error(), Some(libc::EIO));
        assert!(disk.read(2 * bad, 512).is_ok(), "what cannot be written can be read");
    });
    let store = fs::read(bed.path("store")).unwrap();
    assert_eq!((store[1 << 20], store[2 << 20]), (b'1', 0), "a failed write leaves the store alone");
    let counters = bed.counters();
    assert_eq!((&counters["read"]["errors"], &counters["write"]["errors"]), (&2.into(), &1.into()));
}

#[test]
fn single_commands_with_pauses_cost_a_revolution_each() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let bed = Bed::new();
    // Without grace time every pause between two requests is too long.
    bed.serve_to(&["size=4M", "rate=50MB", "rpm=60000", "grace_us=0"], |disk| {
        for index in 0..16 {
            disk.read(index * 65536, 65536).unwrap();
        }
    });
    let counters = bed.counters();
    assert_eq!(counters["read"]["missed_turns"], 15, "{counters}");
    assert_eq!((&counters["read"]["seeks"], &counters["queue_max"]), (&0.into(), &1.into()), "{counters}");
}

#[test]
fn zeros_and_trims_read_as_zeros() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let bed = Bed::new();
    let mut bytes = pattern(4 << 20);
    write_file(&bed.path("store"), &bytes);
    bed.serve_to(&["size=4M", "trim=true"], |disk| {
        disk.zero(0, 65536).unwrap();
        disk.trim(1 << 20, 65536).unwrap();
        disk.flush().unwrap();
        assert_eq!(disk.read(0, 65536).unwrap(), vec![0; 65536]);
    });
    bytes[..65536].fill(0);
    bytes[1 << 20..(1 << 20) + 65536].fill(0);
    assert!(fs::read(bed.path("store")).unwrap() == bytes, "zeros where asked for, and nowhere else");
    let counters = bed.counters();
    assert_eq!((&counters["trims"], &counters["flushes"]), (&1.into(), &1.into()));
}

/// Writes to a disk that is then killed, or shut down; returns which sectors of two runs of 1 MiB, old and new, are
/// new.
fn after_the_power(percent: u8, seed: u8, killed: bool) -> [Vec<bool>; 2] {
    let bed = Bed::new();
    write_file(&bed.path("store"), &[b'o'; 4 << 20]);
    let (percent, seed) = (format!("volatile_percent={percent}"), format!("volatile_seed={seed}"));
    let socket = bed.path("socket");
    let mut server = bed.nbdkit(socket.to_str().unwrap(), &["size=4M", &percent, &seed]).spawn().unwrap();
    let mut disk = Client::connect(&socket, &mut server);
    disk.write(0, &vec![b'n'; 1 << 20]).unwrap();
    disk.flush().unwrap();
    disk.write(2 << 20, &vec![b'n'; 1 << 20]).unwrap();
    // Partial sectors, across the border of two.
    disk.write(1000, b"mmmm").unwrap();
    assert_eq!(disk.read(996, 12).unwrap(), b"nnnnmmmmnnnn");
    assert_eq!(disk.read(2 << 20, 512).unwrap(), [b'n'; 512], "cached writes are read back");
    disk.zero(3 << 20, 4096).unwrap();
    if killed {
        server.kill().unwrap();
        server.wait().unwrap();
    } else {
        drop(disk);
        end(server);
    }
    let store = fs::read(bed.path("store")).unwrap();
    let new = |run: &[u8]| -> Vec<bool> {
        let sector = |sector: &[u8]| {
            assert!(sector.iter().all(|byte| b"nm".contains(byte)) || sector.iter().all(|byte| *byte == b'o'));
            sector[0] == b'n'
        };
        run.chunks(512).map(sector).collect()
    };
    assert!(killed || store[3 << 20..][..4096] == [0; 4096]);
    [new(&store[..1 << 20]), new(&store[2 << 20..3 << 20])]
}

#[test]
fn a_power_cut_keeps_flushed_bytes_and_some_unflushed_sectors() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let all = |sectors: &[bool]| sectors.iter().all(|new| *new);
    for seed in [1, 2] {
        let [flushed, rest] = after_the_power(40, seed, true);
        assert!(all(&flushed), "a flush did not make durable");
        let kept = rest.iter().filter(|new| **new).count();
        assert!((1000..1500).contains(&kept), "{kept} of 2048 sectors");
    }
    let [flushed, rest] = after_the_power(100, 1, true);
    assert!(all(&flushed) && rest.iter().all(|new| !new), "what was not flushed is lost");
    let [flushed, rest] = after_the_power(100, 1, false);
    assert!(all(&flushed) && all(&rest), "an orderly end loses nothing");
}

#[test]
fn configured_damage_is_done_silently_at_its_offset() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let bed = Bed::new();
    write_file(&bed.path("store"), &[b'o'; 1 << 20]);
    let words = ["size=1M", "drop=64K:512", "flip=100", "swap=128K:256K", "misread=500000"];
    let bytes = pattern(1 << 20);
    bed.serve_to(&words, |disk| {
        for (at, piece) in bytes.chunks(65536).enumerate() {
            disk.write(at as u64 * 65536, piece).unwrap();
        }
        // Zeros are writes too.
        disk.zero(64 << 10, 1024).unwrap();
        disk.flush().unwrap();
        let mut expected = bytes[499_712..500_736].to_vec();
        expected[500_000 - 499_712] ^= 1;
        assert_eq!(disk.read(499_712, 1024).unwrap(), expected);
    });
    let mut expected = bytes.clone();
    expected[100] ^= 1;
    expected[64 << 10..(64 << 10) + 512].fill(b'o');
    expected[(64 << 10) + 512..(64 << 10) + 1024].fill(0);
    expected[128 << 10..(128 << 10) + 4096].copy_from_slice(&bytes[256 << 10..(256 << 10) + 4096]);
    expected[256 << 10..(256 << 10) + 4096].copy_from_slice(&bytes[128 << 10..(128 << 10) + 4096]);
    let store = fs::read(bed.path("store")).unwrap();
    let differing: Vec<usize> = (0..expected.len()).filter(|at| store[*at] != expected[*at]).take(9).collect();
    assert!(differing.is_empty(), "damage elsewhere, or none where it should be: {differing:?}");
}

#[test]
fn the_server_refuses_an_invalid_parameter_by_name() {
    if !has_all(&["nbdkit"]) {
        return;
    }
    let cases = [
        (vec!["size=0"], "size"),
        (vec!["sise=1M"], "sise"),
        (vec!["size=1M", "preset=sata-ssd"], "preset"),
        (vec!["preset=floppy"], "usb-stick"),
        (vec!["size=1M", "swap=0:1M"], "swap"),
        (vec!["size=1M", "swap=0:512"], "swap"),
    ];
    for (words, named) in cases {
        let output = Bed::new().serve(&words, "true");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(named), "{words:?}: {text}");
    }
}
