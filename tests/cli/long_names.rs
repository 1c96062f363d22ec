//! Names and directories of the maximum length: haul copies to every file to which dd writes.
use crate::support::{haul_path, in_one_line, scratch, write_noise};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Creates nested directories until no path from the root reaches them, and enters the last.
const GO_DEEP: &str = "n=$(printf 'd%.0s' $(seq 200)); for i in $(seq 24); do mkdir $n && cd -P ./$n || exit 9; done; ";

#[test]
fn a_directory_deeper_than_path_max_accepts_copies_with_record_files() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 300_000, 5);
    for run in [
        "copy $S out --engine threads && cmp $S out",
        "copy $S out --manifest m --mapfile map --on-error skip --report page.html && cmp $S out && test -s page.html \
         && $H verify --manifest m out && $H verify $S out",
        "copy $S out --verify --also second && cmp $S out && cmp $S second",
        "copy $S out --time 1s --limit 50K --block-size 4K; test $? = 4 && $H copy --resume $S out && cmp $S out",
        "copy $S out --time 1s --limit 50K --block-size 4K; test $? = 4 && $H copy --resume $S ./out && cmp $S out",
        "dd if=$S of=out && cmp $S out && $H copy out third && cmp $S third",
        "copy $S out --count 100000 --journal j && $H copy out out2 && cmp -n 100000 $S out2",
    ] {
        let directory = dir.path().join("deep");
        fs::create_dir(&directory).unwrap();
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("{GO_DEEP} $H {run}")).current_dir(&directory);
        let output = shell.env("H", haul_path()).env("S", &source).output().expect("bash runs");
        let messages = in_one_line(&output.stderr);
        assert_eq!((output.status.code(), output.status.signal()), (Some(0), None), "{run}: {messages}");
        fs::remove_dir_all(&directory).unwrap();
    }
}

#[test]
fn a_file_name_of_maximum_length_accepts_resumable_copies() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 300_000, 6);
    for len in [237, 238, 250, 255] {
        let name = "n".repeat(len);
        let copy = |words: &[&str]| {
            let mut copy = Command::new(haul_path());
            copy.arg("copy").args(words).arg(&source).arg(&name).current_dir(dir.path()).output().unwrap()
        };
        for words in [&[][..], &["--restart"], &["--manifest", "m"]] {
            let output = copy(words);
            assert!(output.status.success(), "{len}: {}", in_one_line(&output.stderr));
        }
        assert!(fs::read(dir.path().join(&name)).unwrap() == fs::read(&source).unwrap(), "{len}");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().map(|file| file.file_name()).collect();
        assert_eq!(left.len(), 3, "{len}: {left:?}");
        [name.as_str(), "m"].iter().for_each(|made| fs::remove_file(dir.path().join(made)).unwrap());
    }
}
