//! `haul map`: shows, compares and combines the map files of rescues.
mod options;
pub(in crate::apps) mod words;

use crate::apps::exit::{Exit, printed};
use crate::core::rescue::RescueMap;
use crate::core::{Error, Kind, Result};
use crate::job::map_files::{read, read_loose, text, write};
use crate::ledger::mapfile::Mapfile;
use crate::report::map::{ShownMap, differences, json};
use crate::report::{Out, map};
use options::{MapAction, MapChange};

/// Carries out the request.
fn run(asked: &MapAction, out: Out) -> Result<Exit> {
    match asked {
        MapAction::Show { map: path, json: as_json } => {
            let shown = shown(path, read(path)?);
            Ok(printed(out, &if *as_json { json(&shown) } else { map::text(&shown) }))
        }
        MapAction::Compare { maps: [first, second], quiet } => {
            let (one, other) = (read(first)?, read(second)?);
            let found = one.differences(&other);
            if found.is_empty() {
                return Ok(Exit::Status(0));
            }
            let found: Vec<_> = found.iter().map(|found| (found.extent, found.first, found.second)).collect();
            let ended = if *quiet { Exit::Status(0) } else { printed(out, &differences([first, second], &found)) };
            Ok(ended.at_least(Exit::DIFFERENT))
        }
        MapAction::Done { map } => Ok(Exit::Status(if read(map)?.is_finished() { 0 } else { Exit::DIFFERENT })),
        MapAction::Change { map, change, new } => {
            let changed = changed(map, change)?;
            match new.as_str() {
                "-" => Ok(printed(out, &text(&changed)?)),
                _ => write(&changed, new).map(|()| Exit::Status(0)),
            }
        }
    }
}

fn shown(path: &str, file: Mapfile) -> ShownMap {
    ShownMap {
        path: path.to_owned(),
        map: RescueMap::of_blocks(file.end(), file.blocks),
        phase: file.doing,
        pass: file.current_pass,
        pos: file.current_pos,
    }
}

fn changed(path: &str, change: &MapChange) -> Result<Mapfile> {
    Ok(match change {
        MapChange::Combine(how, second) => read(path)?.combined(*how, &read(second)?),
        MapChange::Invert => read(path)?.inverted(),
        MapChange::Complete { size_bytes } => {
            let file = read_loose(path)?;
            let (end, size) = (file.end(), size_bytes.unwrap_or(file.end()));
            if size < end {
                let what = format!("--size {size} is before the end of the last block of map {path}, at byte {end}");
                return Err(Error::new(Kind::Usage, what).advise("Give the size of the source."));
            }
            file.completed(size)
        }
    })
}
