use super::*;
use crate::report::example_devices as examples;

/// The list without colour.
fn bare(devices: &[Device], width: usize) -> String {
    anstream::adapter::strip_str(&human(devices, &[], width)).to_string()
}

/// The text without line breaks.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_tuned_disk_shows_its_settings() {
    let (block_bytes, date) = (256 << 10, "2026-11-21".to_owned());
    let saved = Some(crate::core::SavedPace { block_bytes, depth: 4, bytes_per_s: 1_200_000_000, date });
    let device = Device { saved, ..examples::devices()[0].clone() };
    let text = flowing(&bare(std::slice::from_ref(&device), 80));
    assert!(text.contains("tuned: 256 KiB × 4 for reading, 1.20 GB/s,"), "{text}");
    assert!(text.contains("on 2026-11-21"), "{text}");
    let written = Device { saved_write: device.saved.clone(), saved: None, ..device.clone() };
    assert!(flowing(&bare(&[written], 80)).contains("tuned: 256 KiB × 4 for writing, 1.20 GB/s,"));
    let both = Device { saved_write: device.saved.clone(), ..device };
    let text = flowing(&bare(&[both], 80));
    assert!(text.contains("on 2026-11-21; 256 KiB × 4 for writing, 1.20 GB/s,"), "{text}");
}

#[test]
fn a_device_to_restore_is_marked_with_advice() {
    let mut device = examples::devices()[0].clone();
    let undo = |kept_bytes| Some(WaitingUndo { path: "/srv/state/haul/S5.undo".into(), kept_bytes });
    device.undo = undo(Some(32 << 20));
    device.partitions[1].undo = undo(None);
    let text = bare(&[device], 80);
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    let text = flowing(&text.replace('│', ""));
    let reported = "DATA MODIFIED: a write measurement was interrupted; haul tune --restore /dev/nvme0n1 restores 33.6 \
        MB from /srv/state/haul/S5.undo";
    assert!(text.contains(reported), "{text}");
    assert!(text.contains("held by dm-0 write measurement in progress"), "{text}");
}

#[test]
fn devices_and_partitions_are_a_tree_in_80_columns() {
    let text = bare(&examples::devices(), 80);
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    insta::assert_snapshot!(text, @r#"
    nvme0n1         1.00 TB  Samsung SSD 980 PRO 1TB, serial S5GXNX0T123456,
    │                        wwn eui.0025385b11b2c3d4, nvme, SSD, 931.5 GiB,
    │                        512/4096-byte blocks
    │                        SYSTEM DISK, GPT
    │   /dev/disk/by-id/nvme-Samsung_SSD_980_PRO_1TB_S5GXNX0T123456 /dev/ng0n1
    ├ nvme0n1p1    536.9 MB  2048 + 1048576         vfat "EFI", mounted at /boot/efi
    ├ nvme0n1p2    990.9 GB  1050624 + 1935360000   LUKS2, dm-0 mounted at /,
    │                                               held by dm-0
    └ nvme0n1p3     8.59 GB  1936410624 + 16777216  swap, in use as swap

    sdb           no medium  Generic SD/MMC, usb, SSD, removable, 512-byte blocks
        /dev/sg1

    dm-0           990.9 GB  root_crypt, dm, SSD, 922.8 GiB, 512-byte blocks
                             SYSTEM DISK, ext4 "root", mounted at /
                             consists of nvme0n1p2

    loop0           67.1 MB  loop, SSD, 64.0 MiB, 512-byte blocks
    │                        read-only, MBR
    │                        on /srv/images/card of the camera.img
    └ loop0p1       62.9 MB  8192 + 122880          vfat "CAMERA"

    Partitions: first sector + number of sectors, of 512 bytes each.
    "#);
}

#[test]
fn wide_terminals_are_used_and_narrow_ones_get_readable_text() {
    let lines = |width| bare(&examples::devices(), width).lines().count();
    assert!(lines(200) < lines(80));
    assert_eq!(lines(10), lines(WIDTH_MIN));
}

#[test]
fn many_mount_points_are_counted() {
    let at = |number: usize| InUse::Mounted { device: "vda".to_owned(), at: format!("/srv/{number}").into() };
    let device = Device { name: "vda".to_owned(), readable: true, uses: (0..9).map(at).collect(), ..Device::default() };
    let text = flowing(&bare(&[device], 80));
    assert!(text.ends_with("mounted at /srv/0, /srv/1, /srv/2, /srv/3 and 5 more"), "{text}");
}

#[test]
fn a_label_cannot_move_the_cursor() {
    let mut device = Device { name: "sda".to_owned(), content: Some("\u{1b}[2J".to_owned()), ..Device::default() };
    device.identity.model = Some("\u{1b}[2J\n".to_owned());
    let text = human(&[device], &[], 80);
    assert!(!text.contains("\u{1b}[2J") && text.contains(r"\u{1b}[2J\n"), "{text}");
}

#[test]
fn missing_and_unreadable_devices_are_reported() {
    assert_eq!(bare(&[], 80), "no block devices found\n");
    let secret = Device { size: 1 << 20, ..Device::default() };
    let text = flowing(&bare(&[secret], 80));
    assert!(text.contains("1.05 MB 1.00 MiB not readable Not readable: "), "{text}");
    assert!(text.ends_with("its content is unknown."), "{text}");
    assert!(!bare(&examples::devices(), 80).contains("eadable"));
    let strange = Device { size: 1 << 20, readable: true, ..Device::default() };
    assert!(bare(&[strange], 80).contains("unknown content"));
}

#[test]
fn tapes_and_enclosures_are_listed_after_the_disks() {
    let tape = ScsiDevice {
        name: "sg10".to_owned(),
        path: "/dev/sg10".into(),
        others: vec!["/dev/st0".into(), "/dev/nst0".into()],
        address: "2:0:1:0".to_owned(),
        peripheral_type: Some(1),
        model: Some("HP Ultrium 3-SCSI".to_owned()),
        revision: Some("G63W".to_owned()),
    };
    let (name, address) = ("sg2".to_owned(), "2:0:2:0".to_owned());
    let enclosure = ScsiDevice { name, address, peripheral_type: Some(13), ..ScsiDevice::default() };
    let text = human(&[], &[enclosure, tape], 60);
    insta::assert_snapshot!(anstream::adapter::strip_str(&text), @r"
    no block devices found
    sg2   enclosure, at 2:0:2:0
    sg10  tape, HP Ultrium 3-SCSI, revision G63W, at 2:0:1:0
          /dev/st0 /dev/nst0
    ");
}

#[test]
fn scheduler_and_read_ahead_are_shown() {
    let mut device = examples::devices()[0].clone();
    device.queue_policy.scheduler = Some("mq-deadline".to_owned());
    device.queue_policy.read_ahead_bytes = Some(128 << 10);
    let text = flowing(&bare(&[device], 80).replace('│', ""));
    assert!(text.contains("scheduler mq-deadline, read-ahead 128 KiB"), "{text}");
}

#[test]
fn each_device_has_a_line_of_its_own() {
    let text = table(&examples::devices(), &Column::usual(), Some(100));
    insta::assert_snapshot!(text, @r#"
    NAME          SIZE  MODEL                 SERIAL          CONTENT               USE
    nvme0n1    1.00 TB  Samsung SSD 980 PRO…  S5GXNX0T123456  GPT: vfat "EFI", LU…  system disk; mounte…
    sdb      no medium  Generic SD/MMC        -               -                     -
    dm-0      990.9 GB  root_crypt            -               ext4 "root"           system disk; mounte…
    loop0      67.1 MB  -                     -               MBR: vfat "CAMERA"    -
    "#);
    let narrow = table(&examples::devices(), &Column::usual(), Some(60));
    assert!(narrow.lines().all(|line| columns(line) <= 60), "{narrow}");
}

#[test]
fn partitions_without_a_known_content_are_counted() {
    let content = |whole: Option<&str>, parts: &[Option<&str>]| {
        let mut device = examples::devices()[0].clone();
        device.content = whole.map(str::to_owned);
        device.partitions.truncate(parts.len());
        for (part, content) in device.partitions.iter_mut().zip(parts) {
            part.partition.content = content.map(str::to_owned);
        }
        super::by_column::contents(&device)
    };
    assert_eq!(content(Some("GPT"), &[Some("ext4"), None]), "GPT: ext4, unknown");
    assert_eq!(content(Some("MBR"), &[None]), "MBR: 1 partition");
    assert_eq!(content(None, &[None, None]), "2 partitions");
    assert_eq!([content(Some("ext4"), &[]), content(None, &[])], ["ext4", "unknown"]);
}

#[test]
fn uses_are_sorted_by_importance() {
    let mut device = examples::devices()[0].clone();
    device.partitions[1].undo = Some(WaitingUndo { path: "/x.undo".into(), kept_bytes: None });
    device.partitions[0].pending = Some(PendingCopy { len_bytes: Some(8), durable_bytes: 7, ..PendingCopy::default() });
    let text = table(&[device], &[Column::named("use").unwrap()], None);
    let wanted = "DATA MODIFIED: see haul list --all; unfinished copy, 87 % durable; system disk; mounted at ";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn every_column_has_a_name_of_its_own_and_a_cell_for_every_device() {
    for column in COLUMNS {
        assert!(std::ptr::eq(Column::named(&column.name.to_lowercase()).unwrap(), column), "{}", column.name);
        let text = table(&examples::devices(), &[column], None);
        assert_eq!(text.lines().count(), examples::devices().len() + 1, "{text}");
    }
    assert!(Column::named("colour").is_none());
}

#[test]
fn an_unfinished_copy_is_listed_at_its_disk_with_the_resume_command() {
    let mut device = examples::devices()[1].clone();
    let mut copy = PendingCopy { in_usual_place: true, dest_now: Some("/dev/sdb".into()), ..PendingCopy::default() };
    copy.source.path = "/srv/image".to_owned();
    device.pending = Some(copy.clone());
    let text = flowing(&bare(std::slice::from_ref(&device), 80));
    let wanted = "UNFINISHED COPY from /srv/image: 0 bytes; haul copy --resume /srv/image /dev/sdb continues it";
    assert!(text.contains(wanted), "{text}");
    device.pending = Some(PendingCopy { running: true, ..copy });
    assert!(flowing(&bare(&[device], 80)).contains("running copy from /srv/image"));
}
