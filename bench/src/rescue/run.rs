//! One rescue of one disk.
use super::course::Course;
use super::disks::FailingDisk;
use crate::bed::content::noise;
use crate::bed::{Disk, Server, Size};
use crate::error::{Doing, Error, Result};
use crate::process::{Line, run as run_line};
use crate::seeds::Call;
use haul::ledger::mapfile::Mapfile;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The program that reads through the page cache.
pub(super) const BUFFERED: &str = "ddrescue";

/// The size of a read while copying.
const CLUSTER_BYTES: u64 = 64 << 10;

/// Seconds after which it is ended: each bad page is read hundreds of times.
const PATIENCE_S: u32 = 20;

/// What a rescue has made.
pub(super) struct Rescued {
    pub(super) name: &'static str,
    pub(super) course: Course,
    /// Bytes that its map lists as finished, all of which are right.
    pub(super) rescued_bytes: u64,
    /// Them, as ranges.
    pub(super) finished: Vec<(u64, u64)>,
}

/// Rescues `disk`, made again for this run, by `line`, followed by the operands.
pub(super) fn run(disk: &FailingDisk, name: &'static str, line: &str, call: &Call<'_>) -> Result<Rescued> {
    let memory = call.workplace.memory();
    let [trace, dest, map] = ["rescue.trace", "rescue.dest", "rescue.map"].map(|name| memory.join(name));
    for old in [&trace, &dest, &map] {
        let _ = fs::remove_file(old);
    }
    let kept = memory.join("rescue.data");
    let mut words = disk.words.clone();
    words.push(format!("trace={}", trace.display()));
    let served = Disk { name: "rescue", words: &words, bytes: disk.size_bytes, time_scale: 1.0, rotates: true };
    let (server, place) = Server::start(&served, memory)?;
    noise(&place.store, 0, disk.size_bytes)?;
    let _ = fs::remove_file(&kept);
    fs::hard_link(&place.store, &kept).doing("keep the data of a disk")?;
    let patience = if call.size == Size::Full { PATIENCE_S } else { PATIENCE_S / 10 };
    let limit = if name == BUFFERED { format!("timeout -s INT {patience} ") } else { String::new() };
    let line = format!("{limit}{line} {} {} {}", place.path.display(), dest.display(), map.display());
    let line = Line::words(&line);
    let ended = run_line(&line, None, call.interrupt)?;
    // Status 1 of haul: something is missing; 124: it was ended, and the map is that of this moment.
    if !matches!(ended.status.code(), Some(0 | 1 | 124)) {
        return Err(Error(format!("`{}` failed: {}", line.text(), ended.how())));
    }
    drop(server);
    let course = Course::of(&modelled_disk::trace::read(&trace).doing("read the trace of a disk")?, CLUSTER_BYTES);
    let parsed = Mapfile::parse(BufReader::new(File::open(&map).doing("open the map of a rescue")?));
    let parsed = parsed.map_err(|_| Error(format!("`{}` left an invalid map", line.text())))?;
    let finished: Vec<(u64, u64)> =
        parsed.sets().finished.iter().map(|part| (part.offset, part.offset + part.len)).collect();
    let rescued_bytes = finished.iter().map(|(start, end)| end - start).sum();
    are_equal(&kept, &dest, &finished).map_err(|error| Error(format!("`{}`: {error}", line.text())))?;
    Ok(Rescued { name, course, rescued_bytes, finished })
}

/// Compares what is finished with the data of the disk.
fn are_equal(data: &Path, dest: &Path, finished: &[(u64, u64)]) -> Result<()> {
    let (data, dest) = (File::open(data)?, File::open(dest)?);
    for &(start, end) in finished {
        let [mut one, mut other] = [vec![0; (end - start) as usize], vec![0; (end - start) as usize]];
        data.read_exact_at(&mut one, start)?;
        dest.read_exact_at(&mut other, start)?;
        if one != other {
            return Err(Error(format!("wrong bytes between {start} and {end}")));
        }
    }
    Ok(())
}
