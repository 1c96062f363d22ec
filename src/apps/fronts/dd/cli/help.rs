//! What `dd --help` and the man page say, written once.

/// How dd is called, and its first words of help.
const HELP: &str = "\
Copy a file, converting and formatting according to the operands.
Reads and writes overlap; no block size has to be chosen for speed.
";

/// What the man page says ahead of the operands.
pub const MANUAL_TEXT: &[&str] = &[
    "Takes the operands of GNU dd, leaves the same bytes, tells the same counts in the same words and ends with the \
     same status: 0, or 1 where anything failed. Status 3, of which dd knows nothing, says that another haul reads or \
     writes the same bytes of the output just now: nothing was written. Called through a link named dd, haul behaves \
     so too.",
    "Where nothing but bytes is moved between files and disks, haul moves them with a block size, a depth and \
     direct I/O of its own, whatever bs= says, and counts the records afterwards. Everything else is read, converted \
     and written record by record, side by side. --explain says which.",
    "As dd it asks nothing: not before it overwrites a disk, nor whether that disk is in use, and it does not \
     flush unless told to by conv=fsync or conv=fdatasync. haul copy is the safe front.",
    "SIGUSR1 tells the counts; SIGINT tells them and ends it by that signal. With POSIXLY_CORRECT in the environment \
     SIGUSR1 ends it, as in GNU dd.",
];

/// One operand or word, and what it does.
pub type Entry = (&'static str, &'static str);

/// A list of entries under a title.
pub struct Group {
    /// What they have in common.
    pub title: &'static str,
    /// In the order of the manual.
    pub entries: &'static [Entry],
}

/// Everything that can be said to dd.
pub const MANUAL_OPERANDS: &[Group] = &[
    Group {
        title: "Operands",
        entries: &[
            ("if=FILE", "Read from FILE instead of standard input."),
            (
                "of=FILE",
                "Write to FILE instead of standard output. It is made or emptied, unless conv= says otherwise.",
            ),
            ("bs=BYTES", "Records of BYTES on both sides; overrides ibs and obs. What one read brings is one write."),
            ("ibs=BYTES", "Read up to BYTES at a time: a record of the input (512)."),
            ("obs=BYTES", "Write BYTES at a time: a record of the output (512)."),
            ("cbs=BYTES", "The length of a record for conv=block and conv=unblock."),
            ("count=N", "Copy N records of the input, short ones counted; bytes where N ends in B."),
            ("skip=N, iseek=N", "Pass over N records of the input first; bytes where N ends in B."),
            ("seek=N, oseek=N", "Pass over N records of the output first; bytes where N ends in B."),
            ("conv=WORDS", "Convert; see below. Words are separated by commas."),
            ("iflag=WORDS, oflag=WORDS", "Open the input, the output so; see below."),
            ("status=none", "Tell errors only."),
            ("status=noxfer", "Leave out the line about bytes and speed."),
            ("status=progress", "Tell that line every second, too."),
        ],
    },
    Group {
        title: "Numbers",
        entries: &[
            ("c w b", "1, 2, 512."),
            ("K M G T P E Z Y R Q", "Powers of 1024; the same with iB."),
            ("kB MB GB …", "Powers of 1000."),
            ("x", "Between factors, of which there may be any number: 2x80x18b."),
            ("B", "At the end of count, skip and seek: bytes, not records."),
        ],
    },
    Group {
        title: "Words of conv=",
        entries: &[
            ("ascii", "From EBCDIC to ASCII, then as unblock."),
            ("ebcdic", "As block, then from ASCII to EBCDIC."),
            ("ibm", "As ebcdic, with the other table of POSIX."),
            ("block", "Lines become records of cbs bytes, padded with spaces or cut."),
            ("unblock", "Records of cbs bytes become lines; spaces at their end go."),
            ("lcase", "Letters become small."),
            ("ucase", "Letters become capital."),
            ("swab", "Each two bytes change places."),
            ("sync", "Fill short input records with NULs, with spaces for block and unblock."),
            ("sparse", "Pass over output records of NULs instead of writing them."),
            ("excl", "Fail if the output is there already."),
            ("nocreat", "Fail if the output is not there."),
            ("notrunc", "Leave in the output what is not overwritten."),
            ("noerror", "Go on behind what cannot be read."),
            ("fdatasync", "Write the data to the medium before the end."),
            ("fsync", "Write data and metadata to the medium before the end."),
        ],
    },
    Group {
        title: "Words of iflag= and oflag=",
        entries: &[
            ("append", "Write at the end, wherever that is by then (oflag only; conv=notrunc suggested)."),
            ("direct", "Past the page cache."),
            ("directory", "Fail unless it is a directory."),
            ("dsync", "Each write returns when its data is on the medium."),
            ("sync", "Each write returns when data and metadata are on the medium."),
            ("fullblock", "Read again until a record is full (iflag only)."),
            ("nonblock", "Do not wait for data or room."),
            ("noatime", "Leave the time of the last access as it is."),
            ("nocache", "Give the page cache back; with count=0 that of the whole file."),
            ("noctty", "Do not make it the controlling terminal."),
            ("nofollow", "Do not follow a symbolic link."),
            ("count_bytes", "count=N counts bytes (iflag only)."),
            ("skip_bytes", "skip=N counts bytes (iflag only)."),
            ("seek_bytes", "seek=N counts bytes (oflag only)."),
        ],
    },
    Group {
        title: "Options",
        entries: &[
            ("--help", "Show this and end."),
            ("--version", "Show the version and end."),
            ("--explain", "First of all words: say which way it would go and why, and copy nothing. Not in GNU dd."),
        ],
    },
];

/// What `--help` prints for `program`.
pub fn text(program: &str) -> String {
    let mut text = format!("Usage: {program} [--explain] [OPERAND]...\n  or:  {program} OPTION\n{HELP}");
    for group in MANUAL_OPERANDS {
        text.push_str(&format!("\n{}:\n", group.title));
        for (term, words) in group.entries {
            // Behind a term that is too long for its column the words begin on the next line.
            match term.chars().count() {
                0..=20 => text.push_str(&format!("  {term:<20}  {words}\n")),
                _ => text.push_str(&format!("  {term}\n{:24}{words}\n", "")),
            }
        }
    }
    text.push_str("\nSIGUSR1 makes a running dd tell its counts. Nothing is asked before a disk is overwritten;\n");
    text.push_str("haul copy does ask, and looks whether the disk is in use.\n");
    text
}
