//! What help and man page say beyond the options: written once, laid out twice.

/// One section under a heading.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) parts: &'static [Part],
}

/// A piece of a section.
pub(crate) enum Part {
    /// A paragraph.
    Text(&'static str),
    /// Something, and what it is.
    Term(&'static str, &'static str),
    /// A command line, and what it does.
    Example(&'static str, &'static str),
}

use Part::{Example, Term, Text};

const ENDPOINTS: Section = Section {
    title: "ENDPOINTS",
    parts: &[
        Term("/dev/sdb, /dev/disk/by-id/…, /dev/loop0", "A block device or partition, by any of its names."),
        Term("/dev/sg1", "A SCSI, SATA or USB disk by its own commands; as its block device with --passthrough."),
        Term("disk.img", "A regular file. As DST it becomes equal to the source; with a range only that changes."),
        Term("-", "Standard input or standard output."),
        Term("a FIFO, /dev/stdin", "Bytes in order, to the end of the stream."),
        Term("/dev/zero, /dev/urandom", "Endless: fills a device, else --count says how much."),
        Term("/dev/null", "Swallows everything: reads the source and no more."),
    ],
};

const SIZES: Section = Section {
    title: "SIZES",
    parts: &[
        Text("A size is a number of bytes with one of these behind it; 1.5G is fine if it is a whole number of bytes."),
        Term("(nothing), B", "Bytes."),
        Term("K M G T P E, KiB MiB GiB …", "Powers of 1024."),
        Term("KB MB GB TB PB EB", "Powers of 1000."),
        Term("s", "Sectors of 512 bytes, whatever the device says."),
        Term("0x1000", "Hexadecimal; B and E are digits there."),
        Term("100x4M", "A product."),
        Text("dd's b is refused, because it means a block to some and a byte to others."),
    ],
};

const EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example("haul copy /dev/sdb /dev/sdc", "Copy a disk to another; asks before it overwrites."),
        Example("haul copy -n debian.img /dev/sdc", "Show what would be done and why; write nothing."),
        Example(
            "haul copy --yes --expect serial=S3Z9NB0K debian.img /dev/disk/by-id/usb-…",
            "In a script: only onto the stick that is meant.",
        ),
        Example("haul copy --hash sha256 /dev/sdb sdb.img", "Make an image, with its digest."),
        Example("haul copy --resume /dev/sdb sdb.img", "Go on with an image after a crash or a pulled cable."),
        Example("haul copy debian.img /dev/sdc --also /dev/sdd", "Two sticks with one read."),
        Example(
            "haul copy --verify --manifest sdb.manifest /dev/sdb sdb.img",
            "Be certain, and able to prove it later.",
        ),
        Example("haul copy --count 1M /dev/sdb head.img", "Save the first MiB."),
        Example("haul copy --skip 2048s --count 512M disk.img part.img", "Cut a partition out of an image."),
        Example("xz -dc image.xz | haul copy --yes - /dev/sdc", "Write what another program makes."),
        Example("haul copy --count 1G /dev/zero /dev/sdc", "Overwrite the first GiB with zeros."),
    ],
};

const VERIFY_EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example("haul verify debian.img /dev/sdc", "Is the image on the stick? The rest of the stick may be anything."),
        Example("haul verify --json a.img b.img", "Which sectors differ, for a program."),
        Example("xz -dc image.xz | haul verify - /dev/sdc", "Against what another program makes."),
        Example("haul verify /dev/zero /dev/sdc", "Is it all zeros?"),
        Example("haul verify --manifest sdb.manifest sdb.img", "Years later, without the source."),
    ],
};

const TUNE_EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example("haul tune /dev/sdb", "Which block size and depth does this disk need?"),
        Example("haul tune --save /dev/sdb", "The same, and copies from it begin with the answer."),
        Example("haul tune --quick disk.img", "A first impression, in a few seconds."),
        Example("haul tune --csv --time 5m /dev/nvme0n1 > sweep.csv", "Every figure, for a spreadsheet."),
        Example("haul tune --write /srv/backup", "Writing: a file is made there, measured, and gone."),
        Example("haul tune --write /dev/sdb", "Writing to a device: asks first, and puts back what stood there."),
        Example("haul tune --restore /dev/sdb", "After a crash or a power loss in the midst of that."),
    ],
};

const MEASURED_STATUS: Section = Section {
    title: "EXIT STATUS",
    parts: &[
        Term("0", "Measured; places that could not be read or written are named."),
        Term("1", "Nothing could be measured, the disk failed or went away, or what stood there is not back."),
        Term("2", "The command line cannot be meant."),
        Term("3", "Refused for safety, or too small: nothing was written."),
        Term("a signal", "Interrupted: after putting back and the report of what was measured by then."),
    ],
};

const MEASURED_FILES: Section = Section {
    title: "FILES",
    parts: &[
        Term("~/.config/haul/tuned.toml", "What haul tune --save found, for each disk; in XDG_CONFIG_HOME where set."),
        Term(
            "~/.local/state/haul/NAME.undo",
            "What stood on a device before --write wrote there, until it is back; in XDG_STATE_HOME where set.",
        ),
    ],
};

const MEASURED_SEE_ALSO: Section = Section {
    title: "SEE ALSO",
    parts: &[Text("haul(1), haul-tune(1), haul-profile(1), hdparm(8), fio(1), sg_rbuf(8)")],
};

const PROFILE_EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example("haul profile /dev/sdb", "How fast is it where, and how long does reading all of it take?"),
        Example("haul profile --timing /dev/sdb", "One line, in 9 seconds, as hdparm -t."),
        Example("haul profile --positions 200 --csv /dev/sdb > zones.csv", "A fine zone curve, for a spreadsheet."),
        Example("haul profile --write /dev/sdb", "The same of writing: asks first, and puts back what stood there."),
        Example("haul profile --write --sustained 50G new", "A file on and on: where does a write cache run out?"),
    ],
};

const VERIFY_STATUS: Section = Section {
    title: "EXIT STATUS",
    parts: &[
        Term("0", "What was compared is equal, to its end."),
        Term("1", "It differs, or could not be read, in whole or in part."),
        Term("2", "The command line cannot be meant."),
        Term("3", "Refused: another haul is writing to it just now."),
        Term("a signal", "Interrupted, after the report of what was compared by then."),
    ],
};

const PATTERN_EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example(
            "haul pattern write /dev/sdc",
            "Fill a disk; asks before it overwrites. Prints the command that checks.",
        ),
        Example(
            "haul pattern check /dev/sdc",
            "What is left of it? Unplug the disk in between: what counts is what it keeps.",
        ),
        Example("haul pattern write --count 1G test.bin", "Make a file, to test what is below it."),
        Example("haul pattern check --json --run 7 /dev/sdc", "All that is wrong, for a program."),
    ],
};

const PATTERN_KINDS: Section = Section {
    title: "DAMAGE",
    parts: &[
        Text("What haul pattern check tells of blocks that are not as they were written:"),
        Term("swapped", "Two blocks lie in each other's place."),
        Term("misplaced", "Another block of the pattern, whole: written to the wrong place, or read from it."),
        Term("stale", "A block of another run: what this run wrote there was lost."),
        Term("torn", "One block up to some byte and another from there: a write that was cut in two."),
        Term("zero", "Nothing but zeros: never written, or given up by the disk."),
        Term("foreign", "Nothing of the pattern."),
        Term("flipped", "Right but for some bits."),
        Text(
            "Each is told with its offset and length on the disk. If addresses repeat, the disk lies about its size: \
             the report says how much it really holds.",
        ),
    ],
};

const PATTERN_STATUS: Section = Section {
    title: "EXIT STATUS",
    parts: &[
        Term("0", "Every block is as it was written."),
        Term("1", "Some are not, or could not be read, or there is no pattern."),
        Term("2", "The command line cannot be meant."),
        Term("3", "Refused: another haul is writing to it just now, or a device must not be overwritten."),
        Term("a signal", "Interrupted, after the report of what was checked by then."),
    ],
};

const EXIT_STATUS: Section = Section {
    title: "EXIT STATUS",
    parts: &[
        Term("0", "Done, and on the medium (with --no-flush: handed over)."),
        Term(
            "1",
            "Reading, writing, opening or flushing failed, or the dest has no room; or --on-error skip found \
             something to skip; or --verify found the dest wrong.",
        ),
        Term("2", "The command line cannot be meant."),
        Term("3", "Refused for safety: nothing was written."),
        Term("a signal", "Interrupted: after the report haul ends by the same signal, 130 or 143 to a shell."),
    ],
};

const SIGNALS: Section = Section {
    title: "SIGNALS",
    parts: &[
        Term("SIGUSR1", "Prints a line of progress to standard error; the copy goes on."),
        Term(
            "SIGINT, SIGTERM",
            "Finishes what is in flight, flushes, writes the journal, prints the report and the command that continues \
             the copy, and ends by that signal. A second one ends at once.",
        ),
    ],
};

const NOTES: Section = Section {
    title: "NOTES",
    parts: &[
        Text(
            "A dest device is opened exclusively, and refused when it, a partition of it or something stacked on it is \
             mounted, swap or held, when it holds the running system, or when it is smaller than what is to \
             be copied. It is never changed behind the last byte copied. No file is ever made under /dev.",
        ),
        Text(
            "If SRC and DST are the same bytes under two names (symbolic or hard link, a loop device and its file, a \
             disk and its partition) the copy is refused. With --skip and --seek both given it is done so that the \
             dest ends up with what the source held before.",
        ),
        Text(
            "Memory in use stays under 64 MiB whatever is copied, unless --block-size and --depth ask for more. Where \
             direct I/O is impossible, or does not pay, the page cache is left as it was found.",
        ),
        Text("haul runs without privileges on whatever its user may open."),
    ],
};

const FILES: Section = Section {
    title: "FILES",
    parts: &[
        Term("/sys/block, /sys/class/block", "Sizes, queue limits, holders and partitions of devices."),
        Term("/proc/self/mountinfo, /proc/swaps", "What is in use."),
        Term(
            "~/.config/haul/tuned.toml",
            "What haul tune --save found, for each disk; XDG_CONFIG_HOME names another place.",
        ),
        Term(
            "~/.local/state/haul",
            "Journals of copies to devices, and what stood on a device that is measured; XDG_STATE_HOME names another \
             place.",
        ),
        Term("/proc/sys/kernel/io_uring_disabled", "Whether --engine ring can be had."),
        Term("/sys/module/sg/parameters/allow_dio", "1: the driver of /dev/sgN may do without a copy of the bytes."),
    ],
};

const SEE_ALSO: Section = Section {
    title: "SEE ALSO",
    parts: &[Text(
        "haul-tune(1), haul-profile(1), haul-dd(1), haul-sg_dd(1), dd(1), cp(1), lsblk(8), losetup(8), cmp(1), \
         io_uring(7), open(2)",
    )],
};

/// Behind the options in `haul copy --help`.
pub(crate) const COPY: &[Section] = &[ENDPOINTS, SIZES, EXAMPLES, EXIT_STATUS, SIGNALS];

/// Behind the options in `haul verify --help`.
pub(crate) const VERIFY: &[Section] = &[VERIFY_EXAMPLES, SIZES, VERIFY_STATUS];

/// Behind the options in `haul pattern write --help`.
pub(crate) const PATTERN_WRITE: &[Section] = &[PATTERN_EXAMPLES, SIZES, EXIT_STATUS];

/// Behind the options in `haul pattern check --help`.
pub(crate) const PATTERN_CHECK: &[Section] = &[PATTERN_KINDS, PATTERN_EXAMPLES, SIZES, PATTERN_STATUS];
/// Behind the options in `haul tune --help`.
pub(crate) const TUNE: &[Section] = &[TUNE_EXAMPLES, MEASURED_STATUS, MEASURED_FILES];

/// Behind the options in `haul profile --help`.
pub(crate) const PROFILE: &[Section] = &[PROFILE_EXAMPLES, MEASURED_STATUS, MEASURED_FILES];

/// Behind the options in `haul-tune(1)`.
pub(crate) const TUNE_MANUAL: &[Section] = &[SIZES, MEASURED_STATUS, MEASURED_FILES, TUNE_EXAMPLES, MEASURED_SEE_ALSO];

/// Behind the options in `haul-profile(1)`.
pub(crate) const PROFILE_MANUAL: &[Section] =
    &[SIZES, MEASURED_STATUS, MEASURED_FILES, PROFILE_EXAMPLES, MEASURED_SEE_ALSO];

/// Behind the commands in `haul --help`.
pub(crate) const OVERVIEW: &[Section] = &[OVERVIEW_EXAMPLES, EXIT_STATUS];

/// Behind the options in the man page.
pub(crate) const MANUAL: &[Section] =
    &[ENDPOINTS, SIZES, EXIT_STATUS, SIGNALS, EXAMPLES, PATTERN_KINDS, FILES, NOTES, SEE_ALSO];

const OVERVIEW_EXAMPLES: Section = Section {
    title: "EXAMPLES",
    parts: &[
        Example("haul list", "What disks are there?"),
        Example("haul copy -n disk.img /dev/sdc", "What would be done?"),
        Example("haul copy disk.img /dev/sdc", "Do it."),
        Example("haul copy --help", "Every option in full."),
    ],
};

/// Columns of help text; terminals are at least 80 wide.
const WIDTH: usize = 78;

/// The sections as plain text.
pub(crate) fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text.push_str(section.title);
        text.push('\n');
        for part in section.parts {
            match part {
                Text(words) => wrap(&mut text, words, 2),
                Term(term, words) if term.chars().count() < TERM_COLUMNS => {
                    text.push_str(&format!("  {term:TERM_COLUMNS$}"));
                    hang(&mut text, words, 2 + TERM_COLUMNS);
                }
                Term(term, words) | Example(term, words) => {
                    text.push_str(&format!("  {term}\n"));
                    wrap(&mut text, words, 6);
                }
            }
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Columns for a term that shares its line with its explanation.
const TERM_COLUMNS: usize = 18;

/// Appends `words` as lines of at most [`WIDTH`] columns, each indented by `indent`.
fn wrap(text: &mut String, words: &str, indent: usize) {
    text.push_str(&" ".repeat(indent));
    hang(text, words, indent);
}

/// The same, but the first line is indented already.
fn hang(text: &mut String, words: &str, indent: usize) {
    let mut column = indent;
    for (index, word) in words.split_whitespace().enumerate() {
        let len = word.chars().count();
        if index > 0 && column + 1 + len > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += len;
    }
    text.push('\n');
}
