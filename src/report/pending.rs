//! Unfinished copies as text: their durable part, and the command that continues them.
use super::columns::{Columns, paragraph, whole};
use super::printable::{printable, shell_line};
use super::style::{CARE, STRONG, paint};
use super::units;
use crate::core::{PendingCopy, PendingSide};
use std::path::{Path, PathBuf};

/// A clause: `unfinished copy, 45 % durable`.
pub(crate) fn in_short(copy: &PendingCopy) -> String {
    if copy.running {
        return format!("running copy from {}", printable(&copy.source.path));
    }
    match copy.percent() {
        Some(percent) => format!("unfinished copy, {percent} % durable"),
        None => format!("unfinished copy, {} durable", units::size(copy.durable_bytes)),
    }
}

/// A sentence about the copy to this disk, with the command that continues it.
pub(crate) fn at_disk(copy: &PendingCopy) -> String {
    let source = whole(&printable(&copy.source.path));
    if copy.running {
        return format!("running copy from {source}");
    }
    let state = whole(&paint(CARE, "UNFINISHED COPY"));
    let what = format!("{state} from {source}: {}", durable(copy));
    match command(copy) {
        Some(words) => format!("{what}; {} continues it", whole(&shell_line(words))),
        None => what,
    }
}

/// The words of the command that continues the copy; `None` if the journal does not contain all of it, or the
/// destination does not exist.
pub(crate) fn command(copy: &PendingCopy) -> Option<Vec<String>> {
    let dest = copy.dest_now.as_ref()?.to_str()?.to_owned();
    if copy.of_ranges {
        return None;
    }
    let mut words = ["haul", "copy", "--resume"].map(str::to_owned).to_vec();
    let mut option = |name: &str, bytes: u64| words.extend([name.to_owned(), bytes.to_string()]);
    if copy.source.offset_bytes > 0 {
        option("--skip", copy.source.offset_bytes);
    }
    if copy.dest.offset_bytes > 0 {
        option("--seek", copy.dest.offset_bytes);
    }
    if let Some(len) = copy.len_bytes.filter(|_| copy.is_counted) {
        option("--count", len);
    }
    if !copy.in_usual_place {
        words.extend(["--journal".to_owned(), copy.journal.to_str()?.to_owned()]);
    }
    words.extend([copy.source.path.clone(), dest]);
    Some(words)
}

/// Unfinished copies as paragraphs, and the journals that cannot be read with the reason. `directories` were
/// searched.
pub fn human(copies: &[PendingCopy], faults: &[(PathBuf, String)], directories: &[PathBuf]) -> String {
    let mut paragraphs: Vec<String> = copies.iter().map(one).collect();
    let unreadable = |(path, why): &(PathBuf, String)| {
        let mut rows = Columns::default();
        rows.row("journal", path_words(path));
        rows.row("error", printable(why));
        rows.lines()
    };
    paragraphs.extend(faults.iter().map(unreadable));
    if paragraphs.is_empty() {
        let places: Vec<String> = directories.iter().map(|directory| path_words(directory)).collect();
        return paragraph(&format!("No unfinished copies: no journal in {}.", places.join(", ")));
    }
    if copies.iter().any(|copy| !copy.running) {
        paragraphs.push(paragraph(OPTIONS_AGAIN));
    }
    paragraphs.join("\n")
}

const OPTIONS_AGAIN: &str = "A journal does not record every option: repeat options such as --on-error, --verify and \
                             --limit if needed. haul journal remove discards an unfinished copy.";

/// One unfinished copy, a line for each property.
pub fn one(copy: &PendingCopy) -> String {
    let mut rows = Columns::default();
    let (now, then) = (copy.dest_now.as_deref().map(path_words), side(&copy.dest));
    let dest = match &now {
        Some(now) if *now == printable(&copy.dest.path) => then,
        Some(now) => format!("{now}, earlier {then}"),
        None if copy.dest.kind == "file" => format!("{then}, does not exist"),
        None => format!("{then}, not connected"),
    };
    rows.row("destination", paint(STRONG, &dest));
    rows.row("source", side(&copy.source));
    rows.row("durable", durable(copy));
    let saved = copy.saved.as_deref().map(|time| format!(", last checkpoint {}", whole(&moment(time))));
    rows.row("started", format!("{}{}", whole(&moment(&copy.began)), saved.unwrap_or_default()));
    rows.row("journal", path_words(&copy.journal));
    let next = match command(copy) {
        _ if copy.running => "the copy is running".to_owned(),
        // On one line, so that it can be pasted as one command.
        Some(words) => whole(&shell_line(words)),
        None if copy.of_ranges => "the same command as before, with its lists of ranges, and --resume".to_owned(),
        None if copy.dest.kind == "file" => "not possible: the destination does not exist".to_owned(),
        None => "connect the destination, then run haul journal list again".to_owned(),
    };
    rows.row("continue", next);
    rows.lines()
}

fn durable(copy: &PendingCopy) -> String {
    let mut words = match (copy.len_bytes, copy.percent()) {
        (Some(len), Some(percent)) => {
            let sizes = format!("{} of {}", units::size(copy.durable_bytes), units::size(len));
            whole(&format!("{sizes} ({percent} %)"))
        }
        _ => whole(&units::size(copy.durable_bytes)),
    };
    if copy.unread_bytes > 0 {
        words += &format!(", {}", whole(&format!("{} unreadable", units::size(copy.unread_bytes))));
    }
    words
}

fn side(side: &PendingSide) -> String {
    let identity = [side.model.clone(), side.serial.as_ref().map(|serial| format!("serial {serial}"))];
    let identity: Vec<String> = identity.into_iter().flatten().map(|words| printable(&words)).collect();
    let path = printable(&side.path);
    if identity.is_empty() { path } else { format!("{path} ({})", identity.join(", ")) }
}

fn path_words(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// A moment in RFC 3339 in a readable form.
fn moment(time: &str) -> String {
    printable(time).replace('T', " ").replace('Z', " UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy() -> PendingCopy {
        let side = |path: &str, kind: &str| PendingSide {
            path: path.to_owned(),
            kind: kind.to_owned(),
            size_bytes: Some(32_000_000_000),
            ..PendingSide::default()
        };
        PendingCopy {
            journal: "/home/user/.local/state/haul/S1.journal".into(),
            in_usual_place: true,
            source: side("/srv/two words.img", "file"),
            dest: PendingSide { serial: Some("S1".to_owned()), ..side("/dev/sdb", "block device") },
            dest_now: Some("/dev/sdc".into()),
            len_bytes: Some(32_000_000_000),
            durable_bytes: 14_400_000_000,
            began: "2026-11-23T06:11:48Z".to_owned(),
            ..PendingCopy::default()
        }
    }

    fn line(copy: &PendingCopy) -> Option<String> {
        command(copy).map(shell_line)
    }

    #[test]
    fn the_resume_command_has_the_current_name_of_the_disk() {
        assert_eq!(line(&copy()).unwrap(), "haul copy --resume '/srv/two words.img' /dev/sdc");
        assert_eq!(line(&PendingCopy { dest_now: None, ..copy() }), None);
        assert_eq!(line(&PendingCopy { of_ranges: true, ..copy() }), None);
    }

    #[test]
    fn the_resume_command_has_the_range_and_a_named_journal() {
        let mut part = PendingCopy { is_counted: true, in_usual_place: false, len_bytes: Some(4096), ..copy() };
        (part.source.offset_bytes, part.dest.offset_bytes) = (512, 1024);
        let wanted = "haul copy --resume --skip 512 --seek 1024 --count 4096 --journal \
                      /home/user/.local/state/haul/S1.journal '/srv/two words.img' /dev/sdc";
        assert_eq!(line(&part).unwrap(), wanted);
    }

    #[test]
    fn an_unfinished_copy_shows_both_sides_durable_bytes_and_the_resume_command() {
        let text = human(&[copy()], &[], &[]);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text), @r"
        destination  /dev/sdc, earlier /dev/sdb (serial S1)
        source       /srv/two words.img
        durable      14.4 GB of 32.0 GB (45 %)
        started      2026-11-23 06:11:48 UTC
        journal      /home/user/.local/state/haul/S1.journal
        continue     haul copy --resume '/srv/two words.img' /dev/sdc

        A journal does not record every option: repeat options such as --on-error,
        --verify and --limit if needed. haul journal remove discards an unfinished copy.
        ");
        let running = one(&PendingCopy { running: true, dest_now: None, ..copy() });
        assert!(running.contains("/dev/sdb (serial S1), not connected") && running.contains("the copy is running"));
    }

    #[test]
    fn a_command_is_one_line_of_any_length() {
        let mut long = copy();
        long.source.path = "/srv/".to_owned() + &"long/".repeat(20);
        let line = line(&long).unwrap();
        assert!(one(&long).lines().any(|shown| shown.ends_with(&line)), "{}", one(&long));
    }

    #[test]
    fn without_journals_the_searched_directories_are_named() {
        let text = human(&[], &[], &["/home/user/.local/state/haul".into(), "/srv".into()]);
        assert_eq!(text, "No unfinished copies: no journal in /home/user/.local/state/haul, /srv.\n");
        let text = human(&[], &[("/a".into(), "it is damaged".to_owned())], &[]);
        assert!(text.contains("error") && text.contains("it is damaged"), "{text}");
    }
}
