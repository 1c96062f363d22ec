//! What `--help` and the man page say about sg_dd, sgp_dd and sgm_dd, written once.
use crate::core::SgFront;

/// Which programs have an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// All three.
    All,
    /// Only this one.
    Only(SgFront),
    /// sg_dd and sgp_dd.
    NotSgm,
}

impl Who {
    fn has(self, front: SgFront) -> bool {
        match self {
            Who::All => true,
            Who::Only(only) => only == front,
            Who::NotSgm => front != SgFront::SgmDd,
        }
    }

    /// What stands behind an entry that not all programs have.
    pub fn remark(self) -> String {
        match self {
            Who::All => String::new(),
            Who::Only(front) => format!(" ({} only)", front.name()),
            Who::NotSgm => " (sg_dd, sgp_dd)".to_owned(),
        }
    }
}

/// One operand or word: who has it, how it is written, what it does in short, and what is to be said beside that:
/// limits, and where it differs from the program of that name in sg3_utils.
pub type Entry = (Who, &'static str, &'static str, &'static str);

/// A list of entries under a title.
pub struct Group {
    /// What they have in common.
    pub title: &'static str,
    /// In the order of the manual.
    pub entries: &'static [Entry],
}

/// What the man page says ahead of the operands.
pub const MANUAL_TEXT: &[&str] = &[
    "Take the operands of the programs of these names in sg3_utils, leave the same bytes, tell the same counts, end \
     with the same status. Called through links of these names, haul behaves so too.",
    "bs= is the size of a block, for a device that of its logical blocks, and not of a request: where bpt= and thr= do \
     not say it, haul finds size and number of requests by itself, and reads and writes overlap. Plain copies between \
     files and disks go past the page cache where that pays; the rest is read and written in order, side by side.",
    "OFILE is never cut: it is overwritten from seek= on, and what lies behind that stays. The last block of a file \
     that is no multiple of bs is filled up with zeros. The originals fill it up with what happens to be in their \
     buffer.",
    "As the originals they ask nothing: not before a disk is overwritten, nor whether it is in use; nothing is made \
     durable unless sync=1 says so. haul copy is the safe front.",
    "SCSI generic nodes (/dev/sg*), and block devices with sgio, are reached by SCSI commands, many in flight; with a \
     partition of theirs only that is meant. The block device behind an OFILE is claimed meanwhile, so that a \
     mounted one is refused, and page caches are written back and dropped before and after. What cannot be meant is \
     refused before the first write: a tape drive, an empty drive, blocks of another size than bs=, more blocks than \
     there are, a write-protected medium. Transfers that come short are continued; the originals count them as whole.",
    "Words about commands are refused on sides that are reached without any, with what to write instead; the originals \
     pass over them. Nothing is passed over in silence.",
];

use SgFront::{SgDd, SgmDd, SgpDd};
use Who::{All, NotSgm, Only};

const OPERANDS: &[Entry] = &[
    (All, "if=IFILE", "Read IFILE instead of standard input.", "- is standard input."),
    (
        All,
        "of=OFILE",
        "Write to OFILE instead of standard output.",
        "- is standard output. A period stands for /dev/null. It is made where it is not there, and never cut. One of \
         both sides has to be named.",
    ),
    (
        All,
        "bs=BYTES",
        "Size of a block (512).",
        "Where count= is missing, and for disks by commands in any case, logical blocks of another size are refused.",
    ),
    (All, "ibs=BYTES, obs=BYTES", "Nothing but the same as bs.", ""),
    (
        All,
        "count=N",
        "Copy N blocks.",
        "Without it, or with -1: to the end of IFILE, and not beyond the end of a device. For files, too, which \
         the originals refuse. What has no end, such as a pipe, needs it, unless OFILE is a device. An IFILE that ends \
         earlier is no failure.",
    ),
    (
        All,
        "skip=N",
        "Begin N blocks behind the start of IFILE.",
        "Standard input is read over; the originals pass over the operand there.",
    ),
    (
        All,
        "seek=N",
        "Begin N blocks behind the start of OFILE.",
        "Standard output that has no offsets is refused; the originals pass over the operand on any.",
    ),
    (
        All,
        "bpt=N",
        "Blocks of a transfer, that is of one read or write.",
        "Where it is missing haul finds the size; with sparse it is 128 blocks.",
    ),
    (
        Only(SgpDd),
        "thr=N",
        "Transfers in flight, 1 to 1024.",
        "Where it is missing haul finds the number. What goes in order, as to and from a pipe, has so many buffers \
         between reading and writing, at most 64 MiB. With bpt= at most 1 GiB may be in flight. The originals have 4 \
         threads, of which only one reads and one writes at a time, but for SCSI generic nodes.",
    ),
    (Only(SgDd), "append=1", "As oflag=append.", ""),
    (Only(SgDd), "blk_sgio=1", "As iflag=sgio oflag=sgio.", ""),
    (
        All,
        "cdbsz=6|10|12|16",
        "Size of SCSI commands.",
        "Without it 10, or 16 where that is needed. One that cannot name the last block is refused.",
    ),
    (Only(SgDd), "cdl=A[,B]", "Command duration limits, 0 to 7.", "They take commands of 16 bytes."),
    (
        All,
        "coe=0|1|2|3",
        "1: as iflag=coe oflag=coe.",
        "2: what READ LONG fetches of a bad block takes the place of zeros; 3: with its CORRCT bit. Nobody says that \
         these are the bytes that were written. Only where IFILE is reached by commands.",
    ),
    (
        Only(SgDd),
        "coe_limit=N",
        "End when more than N blocks one behind the other cannot be read.",
        "0, which is what holds without it: any number.",
    ),
    (Only(SgDd), "conv=WORDS", "See below.", ""),
    (Only(SgpDd), "deb=N", "As verbose=N.", ""),
    (All, "dio=1", "As iflag=dio oflag=dio.", ""),
    (All, "fua=0|1|2|3", "1: as oflag=fua; 2: as iflag=fua; 3: both.", ""),
    (All, "iflag=WORDS, oflag=WORDS", "See below; separated by commas.", ""),
    (
        Only(SgDd),
        "group=N",
        "Group number of commands, for the disk's own counters: 0 to 63.",
        "Beyond 31 in commands of 16 bytes only. Not in sg3_utils 1.46.",
    ),
    (Only(SgDd), "odir=1", "Block devices past the page cache.", "As the word direct, but not for files."),
    (
        Only(SgDd),
        "of2=OFILE2",
        "Write every byte to OFILE2, too: a file or a FIFO.",
        "What sparse passes over on OFILE is written to it. It is not cut, and seek= is not about it.",
    ),
    (
        Only(SgDd),
        "retries=N",
        "Try a read or write that failed N times again.",
        "Errors of the medium; also on files and block devices. What may pass, as a unit attention, is tried again in \
         any case.",
    ),
    (
        All,
        "sync=1",
        "Make OFILE durable at the end.",
        "With fsync, or SYNCHRONIZE CACHE by commands; the originals do nothing on files and block devices.",
    ),
    (
        All,
        "time=1[,TO]",
        "Tell the time and the speed.",
        "MB are 1000000 bytes. TO: after so many seconds a SCSI command is given up (60).",
    ),
    (
        All,
        "verbose=N",
        "Tell what the sides are and how they are copied.",
        "And what disks had to be asked again. 2: the pace as well. More is as 2: single commands are not told.",
    ),
];

const CONVERSIONS: &[Entry] = &[
    (Only(SgDd), "nocreat", "As oflag=nocreat.", ""),
    (Only(SgDd), "noerror", "As iflag=coe.", ""),
    (Only(SgDd), "sparse", "As oflag=sparse.", ""),
    (Only(SgDd), "notrunc, null, sync", "Say nothing: so it is done in any case.", ""),
];

const FLAGS: &[Entry] = &[
    (Only(SgDd), "00", "Zeros instead of IFILE.", "iflag only."),
    (
        Only(SgDd),
        "ff",
        "Bytes of 0xff instead of IFILE.",
        "iflag only. Together with 00: each block holds its own number, 32 bits, big-endian, over and over, as in \
         sg_dd from 1.48 on.",
    ),
    (Only(SgDd), "random", "Random bytes instead of IFILE, fast, and not for secrets.", "iflag only."),
    (All, "append", "Write at the end of OFILE.", "oflag only, and without seek=."),
    (
        NotSgm,
        "coe",
        "Continue on error.",
        "iflag: where a transfer cannot be read, its blocks are read one by one, those that fail become zeros, count \
         as read, and are told; oflag: blocks that cannot be written are passed over and told, and with --verify those \
         that differ. A disk by commands blames a block itself, and only that one is read alone. On files and block \
         devices, too, where the originals end. sgp_dd does as sg_dd: only bad blocks become zeros, not the whole \
         transfer. Only for errors of the medium: medium and hardware errors and blank checks, EIO, ENODATA, \
         EREMOTEIO, EILSEQ. The status is 0 in the end. Said twice it is as coe=2.",
    ),
    (
        All,
        "dio",
        "Straight into our memory, without a copy in the driver of SCSI generic nodes.",
        "How often the driver copied all the same is told. Others are refused: write direct. sgm_dd: oflag only.",
    ),
    (All, "direct", "Past the page cache (O_DIRECT).", "On regular files, too. Commands go past it in any case."),
    (All, "dpo", "Disable page out: a bit of SCSI commands.", "Without commands refused: write nocache."),
    (All, "dsync", "Each write is on the medium before the next (O_SYNC).", "By commands refused: write fua."),
    (
        All,
        "excl",
        "Open with O_EXCL.",
        "A block device in use, or a file OFILE that is there already, is refused by the kernel. The originals refuse \
         any device without nocreat.",
    ),
    (
        Only(SgDd),
        "flock",
        "Take an advisory lock on it.",
        "Where somebody else has it: status 90, and nothing is copied.",
    ),
    (All, "fua", "Force unit access: a bit of SCSI commands.", "Without commands refused: write oflag=dsync."),
    (
        Only(SgDd),
        "fua_nv",
        "As fua, but memory of the disk that survives a loss of power will do.",
        "Obsolete since SBC-4; a disk without such memory takes no notice. As in ddpt; not in sg3_utils 1.46.",
    ),
    (
        Only(SgpDd),
        "mmap",
        "Through memory that the driver of SCSI generic nodes shares with us.",
        "There is one piece of it, so that one transfer is made at a time, of bpt= blocks (128): less work for the \
         processor, and slower. sgm_dd does so in any case, with IFILE where that is such a node, else with OFILE. Not \
         on both sides, and not with excl.",
    ),
    (Only(SgDd), "nocache", "Give the page cache back behind the copy.", ""),
    (Only(SgDd), "nocreat", "Fail if OFILE is not there.", "oflag only."),
    (All, "null", "Says nothing.", ""),
    (
        Only(SgDd),
        "sgio, pt",
        "SCSI commands to a block device.",
        "A partition keeps to its place; the original takes the whole disk for it. Refused without a block device.",
    ),
    (
        Only(SgDd),
        "sparse",
        "Do not write transfers of zeros, but for the last one.",
        "oflag only, and without append. Blocks passed over are counted as bypassed. Where OFILE has no offsets, as a \
         pipe, zeros are written; the original refuses.",
    ),
];

const OPTIONS: &[Entry] = &[
    (
        All,
        "-d, --dry-run",
        "Read the words and look at both sides, but copy nothing.",
        "OFILE is not made; the originals make it.",
    ),
    (All, "-h, --help", "Show this and end.", ""),
    (
        All,
        "-p, --progress",
        "Tell every 2 minutes how far it is; twice: every minute; three times: every 30 s.",
        "The time is told, too. In sg3_utils from 1.48 on for sgp_dd.",
    ),
    (All, "-v, --verbose", "As verbose=1, twice as verbose=2.", ""),
    (All, "-V, --version", "Show the version and end.", ""),
    (
        Only(SgDd),
        "-x, --verify",
        "Compare OFILE with IFILE instead of writing to it.",
        "Ends at the first block that differs, unless oflag=coe is given, with status 14. By VERIFY where OFILE is \
         reached by commands, and on any other file or device. A short last block is compared as far as it goes.",
    ),
];

const NUMBERS: &[Entry] = &[
    (All, "c w b", "1, 2, 512.", ""),
    (All, "k m g t p", "Powers of 1024; the same with iB; capital, too.", ""),
    (All, "KB MB GB TB PB", "Powers of 1000.", ""),
    (All, "0x1f, 1fh", "Hexadecimal.", ""),
    (All, "2x3, 2+3", "Products and sums, from right to left.", ""),
];

/// Everything that can be said.
pub fn groups() -> [Group; 5] {
    [
        Group { title: "Operands", entries: OPERANDS },
        Group { title: "Words of conv=", entries: CONVERSIONS },
        Group { title: "Words of iflag= and oflag=", entries: FLAGS },
        Group { title: "Options", entries: OPTIONS },
        Group { title: "Numbers", entries: NUMBERS },
    ]
}

/// Each signal and what it does. One that the caller ignores stays ignored.
pub const SIGNALS: &[(&str, &str)] = &[
    (
        "SIGUSR1",
        "Tells the counts and how many blocks remain, with time=1 the time and the speed, too; the copy goes on.",
    ),
    (
        "SIGINT, SIGQUIT, SIGTERM, SIGHUP",
        "Tell the same, and the command with the skip=, seek= and count= that continue the copy; then it dies by the \
         signal. What is printed can be given to a shell as it is.",
    ),
    ("SIGPIPE", "The same, if nobody reads standard output any more."),
];

/// Each status and what it means.
pub const STATUSES: &[(&str, &str)] = &[
    ("0", "Done; also where IFILE ended ahead of count=, or coe had blocks to pass over."),
    (
        "1",
        "A word that cannot be meant, or cdbsz= cannot do; sgm_dd: no count, too; sgp_dd: words that contradict each \
         other, too.",
    ),
    ("2, 5, 6, 9, 11", "A disk failed a command: not ready, illegal request, unit attention, unknown, aborted."),
    ("3", "A medium or hardware error of a disk by commands; more bad blocks in a row than coe_limit= allows."),
    ("7", "OFILE, by commands, is write-protected."),
    ("14", "--verify: the sides differ."),
    (
        "15",
        "IFILE or OFILE cannot be opened, or skip= or seek= cannot be reached; sgp_dd and sgm_dd: IFILE is not there.",
    ),
    ("22", "skip=, seek= and count= end behind the end of a disk that is reached by commands."),
    ("24", "RESERVATION CONFLICT: another host has reserved a disk."),
    ("31", "Words that contradict each other, or that cannot be honoured on these files."),
    ("50 to 96", "sgp_dd and sgm_dd: the same as 15 for other reasons, 50 and the kernel's error number."),
    ("90", "Another haul reads or writes those bytes of OFILE just now; with flock: somebody else has that lock."),
    ("99", "A read or write failed, or there is no count. sgp_dd of sg3_utils ends with 0 after some failed writes."),
    (
        "by signal",
        "Interrupted. sgp_dd of sg3_utils ends with 99. The command that continues the copy is printed before.",
    ),
];

/// What `--help` prints for `program`, which behaves as `front`.
pub fn text(program: &str, front: SgFront) -> String {
    let about = match front {
        SgDd => "Copy blocks, with care for what cannot be read.",
        SgpDd => "Copy blocks, many transfers at once.",
        SgmDd => "Copy blocks, through mapped memory of SCSI generic nodes.",
    };
    let mut text = format!("Usage: {program} [OPTION]... [OPERAND]...\n{about}\nReads and writes overlap.\n");
    for group in groups() {
        let mut entries = group.entries.iter().filter(|(who, ..)| who.has(front)).peekable();
        if entries.peek().is_some() {
            text.push_str(&format!("\n{}:\n", group.title));
        }
        for (_, term, words, _) in entries {
            // Behind a term that is too long for its column the words begin on the next line.
            match term.chars().count() {
                0..=20 => text.push_str(&format!("  {term:<20}  {words}\n")),
                _ => text.push_str(&format!("  {term}\n{:24}{words}\n", "")),
            }
        }
    }
    text.push_str("\nSIGUSR1 makes a running copy tell how far it is; after SIGINT the command that continues it is\n");
    text.push_str("printed. Nothing is asked before a disk is overwritten. See haul-sg_dd(1).\n");
    text
}
