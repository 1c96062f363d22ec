//! Tests with file systems made by their own tools.
use super::*;
use std::process::Command;

/// Runs `tool` on a file of `mib` MiB and returns the content that is recognized; `None`, with a message, if the tool
/// is not installed.
fn made(tool: &str, options: &[&str], mib: u64) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(mib << 20).unwrap();
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    match Command::new(tool).env("PATH", path).args(options).arg(file.path()).output() {
        Ok(output) => {
            assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
            Some(look(file.path()).unwrap_or_else(|| panic!("what {tool} {options:?} made is unknown")))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {tool} is not installed");
            None
        }
        Err(error) => panic!("{tool}: {error}"),
    }
}

#[track_caller]
fn expect(tool: &str, options: &[&str], mib: u64, expected: &str) {
    if let Some(found) = made(tool, options, mib) {
        assert_eq!(found, expected, "{tool} {options:?}");
    }
}

#[test]
fn file_systems_of_mke2fs_are_recognized() {
    expect("mkfs.ext4", &["-q", "-F", "-L", "root"], 16, "ext4 \"root\"");
    expect("mkfs.ext4", &["-q", "-F", "-b", "1024"], 16, "ext4");
    expect("mkfs.ext3", &["-q", "-F", "-L", "old root"], 16, "ext3 \"old root\"");
    expect("mkfs.ext2", &["-q", "-F"], 16, "ext2");
}

#[test]
fn file_systems_of_mkfs_xfs_are_recognized() {
    expect("mkfs.xfs", &["-q", "-f", "-L", "twelve chars"], 320, "xfs \"twelve chars\"");
}

#[test]
fn file_systems_of_mkfs_btrfs_are_recognized() {
    expect("mkfs.btrfs", &["-q", "-f", "-L", "snapshots"], 128, "btrfs \"snapshots\"");
}

#[test]
fn file_systems_of_mkfs_vfat_are_recognized() {
    expect("mkfs.vfat", &["-F", "12", "-n", "FLOPPY"], 1, "vfat \"FLOPPY\"");
    expect("mkfs.vfat", &["-F", "16", "-n", "CAMERA"], 16, "vfat \"CAMERA\"");
    expect("mkfs.vfat", &["-F", "32", "-n", "EFI"], 64, "vfat \"EFI\"");
    expect("mkfs.vfat", &["-F", "32", "-S", "4096"], 300, "vfat");
}

#[test]
fn file_systems_of_mkfs_exfat_ntfs_and_f2fs_are_recognized() {
    expect("mkfs.exfat", &["-L", "Camera"], 16, "exfat \"Camera\"");
    expect("mkfs.ntfs", &["-q", "-F", "-f"], 16, "ntfs");
    expect("mkfs.f2fs", &["-q", "-l", "phone"], 128, "f2fs \"phone\"");
}

#[test]
fn swap_space_of_mkswap_is_recognized() {
    expect("mkswap", &["-q", "-L", "pages"], 16, "swap \"pages\"");
    expect("mkswap", &["-q", "-p", "16384"], 16, "swap");
}

#[test]
fn partition_tables_of_sfdisk_are_recognized() {
    for (table, expected) in [("gpt", "GPT"), ("dos", "MBR")] {
        let script = r#"printf 'label: %s\nstart=2048, size=8192\n' "$0" | sfdisk -q "$1""#;
        if made("sfdisk", &["--version"], 1).is_some() {
            expect("sh", &["-c", script, table], 16, expected);
        }
    }
}
