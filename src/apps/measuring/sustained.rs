//! `haul profile --write --sustained`.
use super::{json as found_json, page};
use crate::apps::exit::Exit;
use crate::apps::measuring::measured::{MeasureTask, MeasuredDisk};
use crate::apps::measuring::plan::{KEPT_BYTES_MAX, ProfileOptions, TableStyle, WriteOptions, WriteScope};
use crate::apps::measuring::report::{ChartStyle, Meter, sustained_chart, sustained_csv, sustained_text};
use crate::core::Result;
use crate::disks::probe;
use crate::measure::{self, Ground, Sustained, Thermometer};
use crate::report::{Out, json, units};
use crate::sys::is_utf8;
use std::time::{Duration, Instant};

/// Time of which a share is for saving the original data of a device, without `--time`.
const TIME: Duration = Duration::from_secs(60);

/// Writes continuously, after idle time and without other measurements, which would fill the cache before.
pub(crate) fn sustained(
    options: &ProfileOptions,
    write: &WriteOptions,
    bytes: u64,
    asked: MeasureTask<'_>,
    out: Out,
) -> Result<Exit> {
    let reach = WriteScope { places: 1, kept_bytes: KEPT_BYTES_MAX, file_bytes: bytes, filled: false };
    let mut opened = match MeasuredDisk::to_write(asked, write, reach, options.time.unwrap_or(TIME), out)? {
        Ok(opened) => opened,
        Err(signal) => return Ok(Exit::Signal(signal)),
    };
    let sensor = probe::sensor(&opened.facts);
    opened.subject.thermometer = sensor.map(|sensor| Thermometer::of(sensor.limit_c, move || sensor.celsius()));
    let (began, meter) = (Instant::now(), Meter::start(out));
    let mut on_progress = |written: u64| {
        let (share, passed) = (written as f64 / bytes as f64, began.elapsed());
        let left = passed.mul_f64((1.0 - share).max(0.0) / share.max(1e-9));
        let left = options.time.map_or(left, |time| left.min(time.saturating_sub(passed)));
        meter.moved(share, Some(left), "continuous writing");
    };
    let found = measure::sustained(&mut opened.subject, bytes, options.time, &opened.stop, &mut on_progress);
    meter.finish();
    opened.measured();
    let doubt = doubt(&found, &opened);
    opened.doubt(doubt);
    let run = opened.run();
    let shown_text = sustained_text(&run, &found, bytes, "");
    let text = match options.style {
        TableStyle::Text => {
            let chart = sustained_chart(&found, ChartStyle::of_output(out.columns(), is_utf8()));
            sustained_text(&run, &found, bytes, &chart)
        }
        TableStyle::Csv => sustained_csv(&found),
        TableStyle::Json => json::text(&found_json::sustained(&run, &found, bytes)),
    };
    let printed = opened.print(&text, &shown_text, |measured| page::sustained(&found, measured));
    let any = found.end.bytes > 0;
    Ok(opened.exit(found.failure, any, printed))
}

/// A warning that overwriting the same extents may be faster than writing to others.
fn doubt(found: &Sustained, opened: &MeasuredDisk<'_>) -> Option<String> {
    let (written, address) = (opened.written.as_ref().filter(|_| found.went_round)?, &opened.facts.address);
    let size = units::size(written.bytes);
    Some(match written.ground {
        Ground::Kept => format!(
            "{size} of {address} were overwritten repeatedly: a flash drive may look faster than it is; --destroy \
             overwrites the whole device without saving it"
        ),
        Ground::NewFile => format!(
            "the file had {size}, half of the free space, and was overwritten repeatedly: a flash drive may look \
             faster than it is"
        ),
        Ground::All => format!("{address} has {size}: it was overwritten repeatedly from its start"),
    })
}
