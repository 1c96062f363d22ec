//! Secrets in words of the command line appear in nothing that haul prints or records.
use crate::support::{NbdServer, haul, in_one_line, name, scratch, state_home, write_noise};
use std::fs;
use std::path::Path;

const SECRET: &str = "Hunter2Hunter2";

/// The text of all files below a directory.
fn all_text(directory: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        text += &path.to_string_lossy();
        if path.is_dir() {
            text += &all_text(&path);
        } else if path.is_file() {
            text += &String::from_utf8_lossy(&fs::read(&path).unwrap_or_default());
        }
    }
    text
}

#[test]
fn no_address_option_or_argument_of_a_server_shows_its_secret() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 100_000, 1);
    let (source, dest) = (name(&source), name(&dest));
    let url = format!("https://me:{SECRET}@127.0.0.1:1/x?sig={SECRET}");
    let other = |scheme: &str| format!("{scheme}://me:{SECRET}@127.0.0.1:1/x?X-Amz-Signature={SECRET}");
    let mut runs: Vec<Vec<String>> = Vec::new();
    for address in
        [url.clone(), other("ftp"), other("htps"), other("nbd"), other("nbds"), other("s3"), other("az"), other("HTTP")]
    {
        for verb in [&["copy"][..], &["copy", "--dry-run", "--json"], &["verify", "--json"]] {
            let words = |from: &str, to: &str| verb.iter().copied().chain([from, to]).map(str::to_owned).collect();
            runs.push(words(&address, dest));
            runs.push(words(source, &address));
        }
        for option in
            ["--also", "--bmap", "--checksum", "--manifest", "--report", "--journal", "--mapfile", "--label-x"]
        {
            runs.push(vec!["copy".to_owned(), source.to_owned(), dest.to_owned(), format!("{option}={address}")]);
            let words = ["copy", "--yes", option, &address, source, dest];
            runs.push(words.map(str::to_owned).to_vec());
        }
        for verb in
            ["tune", "profile", "list", "rescue", "manifest show", "journal list", "journal uploads", "pattern check"]
        {
            runs.push(verb.split(' ').chain([address.as_str()]).map(str::to_owned).collect());
        }
    }
    let program = format!("nbdkit curl url={url} password={SECRET} header=Authorization:{SECRET}");
    runs.push(vec!["copy".to_owned(), format!("[ {program} ]"), dest.to_owned()]);
    let words = ["copy", "--json", "-vv", "["].into_iter().chain(program.split(' ')).chain(["]", dest]);
    runs.push(words.map(str::to_owned).collect());
    for words in runs {
        let output = haul().args(&words).output().unwrap();
        // A server's own messages are not haul's.
        let printed = [output.stdout, output.stderr].concat();
        let of_haul = |line: &&[u8]| !line.starts_with(b"nbdkit:");
        let text = in_one_line(printed.split(|byte| *byte == b'\n').filter(of_haul).collect::<Vec<_>>().join(&b'\n'));
        assert!(!text.contains(SECRET), "{words:?}: {text}");
        let _ = fs::remove_file(dest);
    }
    assert!(!all_text(dir.path()).contains(SECRET) && !all_text(&state_home()).contains(SECRET));
}

#[test]
fn the_secret_of_a_server_that_haul_starts_reaches_the_server_alone() {
    let dir = scratch();
    let (source, dest, got) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("got"));
    write_noise(&source, 300_000, 1);
    // No plugin without a network takes a password.
    if NbdServer::nbdkit(dir.path(), &["null"]).is_none() {
        return;
    }
    let script = "case $1 in get_size) echo 300000;;
        pread) dd if=$SOURCE iflag=skip_bytes,count_bytes skip=$4 count=$3 status=none;;
        config) [ $2 = password ] && echo $3 >$GOT;; *) exit 2;; esac";
    let plugin = dir.path().join("plugin.sh");
    let script = script.replace("$GOT", name(&got)).replace("$SOURCE", name(&source));
    fs::write(&plugin, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&plugin, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let password = format!("password={SECRET}");
    let page = dir.path().join("page.html");
    let manifest = dir.path().join("manifest");
    let files = ["--manifest", name(&manifest), "--report", name(&page)];
    let words = ["[", "nbdkit", "sh", name(&plugin), &password, "]", name(&dest)];
    let output = haul().args(["copy", "--json", "-vv"]).args(files).args(words).output().unwrap();
    let text = in_one_line([output.stdout, output.stderr].concat());
    assert!(output.status.success() && !text.contains(SECRET) && text.contains("password=..."), "{text}");
    crate::support::cmp(&source, &dest);
    assert_eq!(fs::read_to_string(&got).unwrap().trim(), SECRET);
    fs::remove_file(&got).unwrap();
    assert!(!all_text(dir.path()).contains(SECRET) && !all_text(&state_home()).contains(SECRET));
}
