//! The subjects of coreutils' tests of dd, tested with both programs by independent code.
use crate::dd;
use crate::dd::{Case, Stdin, Stdout, compare, same_in_both};
use crate::support::{haul_path, memory_dir};

/// The same with standard input as a pipe that delivers `pieces`, one per read.
#[track_caller]
fn same_of_pieces(words: &str, input: &[u8], pieces: &[usize]) {
    let words = words.split_whitespace().map(str::to_owned).collect();
    let stdin = Stdin::Pipe(pieces.to_vec());
    same(Case { words, input: input.to_vec(), output: None, stdin, stdout: Stdout::Pipe });
}

#[track_caller]
fn same(case: Case) {
    if dd::reference().is_some() {
        compare(&case, memory_dir().path()).unwrap_or_else(|differ| panic!("{differ}"));
    }
}

#[test]
fn skip_and_seek_work_on_every_pair_of_sides() {
    // skip-seek
    for (skip, seek) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 5), (9, 1), (1, 30)] {
        for more in ["", "conv=notrunc", "bs=2", "bs=2 count=2 conv=notrunc", "ibs=3 obs=2", "ibs=2 obs=5 count=3"] {
            let dd = format!("skip={skip} seek={seek} bs=1 {more}");
            same_in_both(&[
                &format!("printf zyxwvutsrqponmlkji >out; printf abcdefghijklm >a; dd if=a of=out {dd}"),
                &format!("printf abcdefghijklm >a; dd if=a {dd} >out"),
            ]);
        }
    }
}

#[test]
fn skip_and_seek_count_from_the_offset_of_inherited_descriptors() {
    // skip-seek2, not-rewound
    same_in_both(&[
        "printf LA:3456789abcdef >a; { dd bs=1 skip=3 count=5; cat; } <a",
        "printf LA:3456789abcdef >a; { dd bs=1 count=1; dd bs=1 skip=1 count=2; dd bs=1 skip=0 count=2; cat; } <a",
        "printf LA:3456789abcdef >a; { read -r -N 3 head; dd bs=2 skip=1 count=2; } <a",
        "{ printf LA:; dd if=in bs=1 seek=3 count=2; printf end; } >out",
        "printf 0123456789 >out; { dd if=in bs=1 seek=3 count=2 conv=notrunc; printf end; } 1<>out",
        "printf 0123456789 >out; { printf a; dd if=in bs=2 seek=1 count=0; } 1<>out",
    ]);
}

#[test]
fn skip_past_the_end_of_a_file_copies_nothing_with_a_message() {
    // skip-seek-past-file
    same_in_both(&[
        "dd if=in of=out bs=1 skip=1000",
        "dd if=in of=out bs=1 skip=1001",
        "dd bs=1 skip=1000 <in",
        "dd bs=1 skip=1001 <in",
        "dd bs=1 skip=1001 count=0 <in",
        "dd bs=1 skip=1001 status=none <in",
        "{ dd bs=400 skip=1 count=0; dd bs=400 skip=2; dd bs=400 skip=1; } <in",
        "dd if=in of=out bs=1 skip=9223372036854775807",
        "dd if=in of=out bs=1 skip=9223372036854775808",
        "dd if=in of=out bs=1 seek=9223372036854775808",
        "dd if=in of=out bs=1000 skip=18446744073709551615",
        "truncate -s 1T huge; dd if=huge of=out bs=1M skip=1048575",
        "truncate -s 1T huge; dd if=huge of=out bs=1M skip=1048577",
    ]);
}

#[test]
fn short_reads_are_reblocked_only_with_separate_record_sizes_or_fullblock() {
    // reblock
    for words in ["ibs=3 obs=3", "bs=3", "bs=3 conv=swab", "ibs=3 obs=7", "bs=3 iflag=fullblock", "ibs=3", "obs=3"] {
        same_of_pieces(words, b"xyz", &[1, 2]);
        same_of_pieces(words, b"abcdefghijklmnop", &[1, 5, 3]);
        same_of_pieces(&format!("{words} count=2"), b"abcdefghijklmnop", &[1, 5, 3]);
    }
}

#[test]
fn conv_block_and_unblock_convert_lines_and_records() {
    // unblock, unblock-sync, block
    let inputs =
        ["", "\n", "\n\n", "    ", " ", "a", "a ", " a", "ab c", "abc\n", "abcd\nabcdefgh\n", "a b  c   d    \n"];
    for input in inputs {
        for cbs in [1, 2, 3, 4, 5, 10] {
            for conv in ["block", "unblock", "block,sync", "unblock,sync", "block,ucase", "unblock,swab", "ibm,block"] {
                let words = ["if=in".into(), format!("cbs={cbs}"), format!("conv={conv}"), "ibs=5".into()].to_vec();
                let (input, stdin) = (input.as_bytes().to_vec(), Stdin::Nothing);
                same(Case { words, input, output: None, stdin, stdout: Stdout::Pipe });
            }
        }
    }
}

#[test]
fn conv_sparse_writes_holes_and_sets_the_length() {
    // sparse
    let mut input = vec![0; 1 << 20];
    input[300_000] = 1;
    input[700_000..710_000].fill(2);
    let inputs = [input.clone(), input[..800_000].to_vec(), input[..300_001].to_vec(), vec![0; 1 << 20], vec![1; 9000]];
    for input in inputs {
        for words in ["bs=4096", "bs=32k", "bs=1M", "bs=4096 seek=3", "ibs=512 obs=64k", "bs=3000", "count=30 bs=4k"] {
            for (more, output) in [("", None), ("", Some(vec![7; 2 << 20])), (",notrunc", Some(vec![7; 2 << 20]))] {
                let words = format!("if=in of=out {words} conv=sparse{more}");
                let words = words.split(' ').map(str::to_owned).collect();
                let (stdin, stdout) = (Stdin::Nothing, Stdout::Pipe);
                same(Case { words, input: input.clone(), output, stdin, stdout });
            }
        }
    }
    same_in_both(&[
        "truncate -s 100k a; dd if=a conv=sparse bs=1k | wc -c",
        "truncate -s 100k a; dd if=a of=out conv=sparse bs=1k oflag=append",
        "truncate -s 100k a; { printf x; dd if=a conv=sparse bs=1k; printf y; } >out",
        "truncate -s 100k a; { dd if=a conv=sparse bs=1k; dd if=a conv=sparse bs=1k; } >out; stat -c %s out",
    ]);
}

#[test]
fn nocache_evicts_the_page_cache_or_reports_why_not() {
    // nocache, nocache_fail
    same_in_both(&[
        "dd if=in iflag=nocache count=0",
        "dd if=in of=/dev/null iflag=nocache skip=1 count=1 bs=100",
        "cp in out; dd of=out oflag=nocache conv=notrunc,fdatasync count=0",
        "dd if=in of=out bs=64 iflag=nocache oflag=nocache,sync",
        "dd iflag=nocache oflag=nocache <in >out",
        "cat in | dd of=out iflag=nocache",
        "cat in | dd of=out iflag=nocache count=0 conv=noerror",
        "dd if=in oflag=nocache | wc -c",
        "dd if=in of=/dev/full oflag=nocache",
    ]);
}

#[test]
fn conversion_tables_map_every_byte() {
    // ascii
    for conv in ["ascii", "ebcdic", "ibm", "ascii,lcase", "ascii,ucase", "ebcdic,lcase", "ibm,ucase", "lcase", "ucase"]
    {
        same_in_both(&[
            &format!("dd if=all of=out conv={conv}"),
            &format!("dd if=all of=out conv={conv} cbs=7"),
            &format!("dd if=all of=out conv={conv},swab ibs=3"),
        ]);
    }
}

#[test]
fn byte_counts_are_not_records() {
    // bytes
    for words in [
        "count=14B",
        "count=14 iflag=count_bytes",
        "iseek=8B count=14B",
        "skip=8 iflag=skip_bytes count=3 bs=5",
        "oseek=8B count=14B",
        "seek=8 oflag=seek_bytes bs=100 count=2",
        "seek=1500B",
        "seek=1500B conv=notrunc",
        "skip=995B",
        "skip=1005B",
        "count=1001B bs=1000",
        "count=1KiB",
        "count=1kBB",
        "count=1KiB bs=3",
        "count=1kB bs=3",
        "count=1K bs=3",
        "count=1KD bs=3",
        "skip=1kB bs=3",
        "seek=2KiB bs=3",
        "count=2B ibs=1 obs=4",
        "iseek=3 oseek=2B bs=100",
        "count=0B",
    ] {
        let keeps = format!("seq 200 >out; dd if=in of=out {words}");
        same_in_both(&[&keeps, &format!("cat in | dd {words} >out"), &format!("dd {words} <in | wc -c")]);
    }
}

#[test]
fn various_operands_match_gnu_dd() {
    // misc
    same_in_both(&[
        "dd if=in of=out status=none",
        "dd if=in of=out status=noxfer",
        "dd if=in of=out status=none status=noxfer",
        "dd if=in of=out status=bogus",
        "dd if=in of=out bs=0",
        "dd if=in of=out ibs=0",
        "dd if=in of=out cbs=0 conv=block",
        "dd if=in of=out conv=block",
        "dd if=in of=out conv=lcase,ucase",
        "dd if=in of=out conv=block,unblock",
        "dd if=in of=out conv=excl,nocreat",
        "dd if=in of=out conv=ascii,ebcdic",
        "dd if=in of=out conv=",
        "dd if=in of=out iflag=",
        "dd if=in of=out iflag=direct,nocache",
        "dd if=in of=out oflag=count_bytes",
        "dd if=in of=out iflag=seek_bytes",
        "dd if=in of=out bs=1 count=3 bs=7",
        "dd if=in if=all of=lost of=out; test -e lost; echo $?",
        "dd in",
        "dd if",
        "dd if= of=out",
        "dd if=in of=",
        "dd -- if=in of=out",
        "dd if=in of=out -x",
        "dd if=in of=out bs=10q",
        "dd if=in of=out bs=-1",
        "dd if=in of=out count=99999999999999999999",
        "dd if=in of=out count=",
        "dd if=in of=out bs=1Mi",
        "ln -s in link; dd if=link of=out; dd if=link iflag=nofollow of=out",
        "mkdir d; dd if=d of=out iflag=directory count=0; dd if=d of=out",
        "dd if=in iflag=directory of=out",
        "dd if=in of=out oflag=directory",
        "chmod 0 in; dd if=in of=out count=1 status=none; echo $?",
        "dd if=in of=out iflag=noatime,noctty oflag=noctty",
        "dd if=in of=out bs=30M count=0 skip=1 seek=1",
        "dd of=out conv=fsync,fdatasync <in",
    ]);
}

#[test]
fn the_output_length_is_set_even_if_nothing_is_copied() {
    same_in_both(&[
        "cp in out; dd of=out bs=100 seek=3 count=0",
        "cp in out; dd of=out bs=100 seek=30 count=0",
        "cp in out; dd of=out bs=100 seek=3 count=0 conv=notrunc",
        "cp in out; dd of=out bs=100 seek=30 count=0 conv=notrunc",
        "cp in out; dd of=out count=0",
        "cp in out; dd of=out bs=1 seek=10 </dev/null",
        "cp in out; dd if=/dev/null of=out bs=100 seek=3B",
        "dd of=out bs=1 seek=10 count=0 conv=nocreat",
        "cp in out; dd bs=100 seek=3 count=0 1<>out",
        "dd of=out bs=1K seek=1000000 count=0; stat -c %s:%b out; rm out",
    ]);
}

#[test]
fn a_file_is_copied_onto_itself_up_to_its_end() {
    same_in_both(&[
        "cp in out; dd if=out of=out",
        "cp in out; dd if=out of=out conv=notrunc",
        "cp in out; dd if=out of=out bs=100 seek=1 count=3 conv=notrunc",
        "cp in out; dd if=out of=out bs=100 skip=1 conv=notrunc",
        "cp in out; dd if=out of=out bs=100 seek=2 count=9",
        "cp in out; dd bs=100 skip=1 <out 1<>out",
        // Large enough that reading ahead, or copying blocks, would show.
        "seq 300000 >out; dd if=out of=out bs=4k seek=1 count=400 conv=notrunc,swab",
        "seq 300000 >out; dd if=out of=out ibs=4k obs=3k seek=1 count=400 conv=notrunc",
        "seq 2000000 >out; dd if=out of=out bs=64k seek=1 count=150 conv=notrunc",
        "cp in out; dd if=out of=out bs=1 oflag=append conv=notrunc count=3000; stat -c %s out",
    ]);
}

#[test]
fn oflag_append_writes_at_the_end() {
    same_in_both(&[
        "cp in out; dd if=in of=out oflag=append conv=notrunc",
        "cp in out; dd if=in of=out oflag=append",
        "cp in out; dd if=in of=out oflag=append conv=notrunc seek=1 bs=100",
        "cp in out; dd if=in oflag=append conv=notrunc 1<>out",
        "cp in out; dd if=in >>out",
        "cp in out; dd if=in seek=1 bs=100 >>out",
        "cp in out; dd if=in seek=1 bs=100 conv=notrunc >>out",
        "cat in | dd of=out oflag=append bs=7; dd if=in of=out oflag=append conv=notrunc bs=3 count=2",
    ]);
}

#[test]
fn an_empty_input_makes_an_empty_output_with_every_conversion() {
    for conv in ["notrunc", "sync", "swab", "ucase", "block", "unblock", "sparse", "noerror,sync", "fsync"] {
        same_in_both(&[
            &format!("dd if=/dev/null of=out cbs=3 conv={conv}"),
            &format!(": >a; dd if=a of=out cbs=3 conv={conv} seek=2 bs=3"),
            &format!(": | dd of=out cbs=3 conv={conv} skip=1"),
        ]);
    }
}

#[test]
fn skip_reads_from_a_pipe() {
    for words in ["skip=3", "skip=10", "skip=11", "skip=350B", "skip=3 count=2", "skip=3 count=0", "skip=1005B"] {
        same_in_both(&[
            &format!("cat in | dd bs=100 iflag=fullblock {words}"),
            &format!("cat in | dd ibs=100 obs=30 iflag=fullblock {words} of=out"),
        ]);
        for pieces in [&[100][..], &[60, 70], &[250]] {
            let input: Vec<u8> = (0..1000u32).map(|at| at as u8).collect();
            same_of_pieces(&format!("bs=100 {words}"), &input, pieces);
        }
    }
    same_in_both(&["mkfifo f; cat in >f & dd if=f bs=50 iflag=fullblock skip=2 of=out; wait"]);
}

#[test]
fn a_short_read_is_a_warning_if_more_records_follow() {
    let input: Vec<u8> = (0..1000u32).map(|at| at as u8).collect();
    for pieces in [&[100, 100, 60, 70][..], &[100, 100, 40], &[100, 60], &[60]] {
        for words in ["count=350B", "count=3", "count=3 skip=2", "skip=350B", "skip=350B count=1", "count=9 obs=7"] {
            same_of_pieces(&format!("bs=100 {words}"), &input, pieces);
        }
    }
}

#[test]
fn nonblock_does_not_wait_for_a_fifo() {
    same_in_both(&[
        "mkfifo f; dd if=f iflag=nonblock",
        "mkfifo f; exec 3<>f; dd if=f iflag=nonblock",
        "mkfifo f; exec 3<>f; printf abc >&3; dd if=f iflag=nonblock bs=3 count=1",
        "mkfifo f; exec 3<>f; printf abc >&3; dd if=f iflag=nonblock bs=2",
        "mkfifo f; exec 3<>f; dd if=f iflag=nonblock skip=1",
        "mkfifo f; dd if=in of=f oflag=nonblock",
        "mkfifo f; exec 3<>f; dd if=in of=f oflag=nonblock; dd bs=1000 count=1 <&3 | cmp - in",
        "mkfifo f; exec 3<>f; dd if=/dev/zero of=f oflag=nonblock bs=64k count=2",
    ]);
}

#[test]
fn a_link_named_dd_runs_the_dd_front() {
    let dir = memory_dir();
    for name in ["dd", "other/dd"] {
        let link = dir.path().join(name);
        std::fs::create_dir_all(link.parent().expect("it has one")).expect("the test directory is writable");
        std::os::unix::fs::symlink(haul_path(), &link).expect("the test directory supports links");
        let output = std::process::Command::new(&link).arg("if=/missing").output().expect("it runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.starts_with(&format!("{}: failed to open '/missing'", link.display())), "{messages}");
        assert_eq!(output.status.code(), Some(1));
    }
}
