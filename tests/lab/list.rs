//! `haul list` in the lab compared with other programs that list devices: each disk is the same, field by field.
use crate::guests::findings;
use crate::support::lab_is_available;
use serde_json::Value;
use std::collections::BTreeMap;

/// The sections of the output of `lab/list.sh`, by name.
fn sections(messages: &str) -> BTreeMap<&str, &str> {
    let sections = messages.split("=== ").skip(1).filter_map(|section| section.split_once('\n'));
    sections.collect()
}

/// The lines of a section, split into words.
fn lines<'a>(sections: &BTreeMap<&str, &'a str>, name: &str) -> Vec<Vec<&'a str>> {
    let text = sections.get(name).unwrap_or_else(|| panic!("the script printed no section {name}"));
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

/// The listed device at this path.
#[track_caller]
fn device<'a>(listed: &'a [Value], path: &str) -> &'a Value {
    let found = listed.iter().find(|device| device["path"] == path);
    found.unwrap_or_else(|| panic!("haul does not list {path}"))
}

fn has_alias(device: &Value, alias: &str) -> bool {
    device["aliases"].as_array().expect("aliases are a list").iter().any(|known| known == alias)
}

#[test]
fn each_disk_has_the_nodes_names_and_sizes_of_sg_map_lsscsi_and_nvme() {
    if !lab_is_available(&["sg_map", "sg_vpd", "lsscsi", "nvme", "blockdev"]) {
        return;
    }
    let findings = findings("list.sh");
    let sections = sections(findings.messages());
    let list: Value = serde_json::from_str(sections["haul"]).expect("the list is JSON");
    let listed = list["devices"].as_array().expect("devices are a list");
    scsi_disks(&sections, listed);
    nvme_drives(&sections, listed);
    sizes(&sections, listed);
    human_output_identifies_disks(sections["human"], listed);
    what_is_no_disk(&sections);
}

/// Tape, enclosure and the drive without a medium, each with the node, address and type that sg_map prints.
fn what_is_no_disk(sections: &BTreeMap<&str, &str>) {
    let list: Value = serde_json::from_str(sections["others-haul"]).expect("the list is JSON");
    let listed = list["scsi_devices"].as_array().expect("they are a list");
    let others: Vec<_> = lines(sections, "others").into_iter().filter(|line| line.len() == 6).collect();
    assert_eq!(others.len(), listed.len(), "{others:?}: {listed:?}");
    let human = sections["others-human"].split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kinds = Vec::new();
    for line in others {
        let [path, host, channel, target, unit, kind] = line[..] else { panic!("sg_map printed {line:?}") };
        let ours = device(listed, path);
        assert_eq!(ours["address"], format!("{host}:{channel}:{target}:{unit}"), "{ours}");
        assert_eq!(ours["peripheral_type"].to_string(), kind, "{ours}");
        let words = ours["kind"].as_str().expect("it has words");
        assert!(human.contains(&format!("{} {words}", path.trim_start_matches("/dev/"))), "{words}: {human}");
        kinds.push(words);
    }
    assert!(kinds.contains(&"tape") && kinds.contains(&"enclosure"), "{kinds:?}");
}

/// sg, sd and bsg nodes, and the names of SCSI disks: four of them, two from another manufacturer.
fn scsi_disks(sections: &BTreeMap<&str, &str>, listed: &[Value]) {
    // One line is about the drive without a medium, which has no block device.
    let but_one = |section, is_disk: fn(&[&str]) -> bool| {
        let (disks, others): (Vec<_>, Vec<_>) = lines(sections, section).into_iter().partition(|line| is_disk(line));
        assert_eq!(others.len(), 1, "{section}: {others:?}");
        disks
    };
    let is_no_cd = |line: &[&str]| !line.contains(&"cd/dvd");
    let disks = but_one("sg_map", |line| line.len() > 6);
    for line in &disks {
        let [sg, .., sd] = line[..] else { panic!("sg_map printed {line:?}") };
        assert!(has_alias(device(listed, sd), sg), "sg_map: {line:?}, but haul: {}", device(listed, sd));
    }
    assert_eq!(disks.len(), 4, "sg_map -x listed other disks than the lab's");
    for line in but_one("lsscsi-nodes", |line| line[1] != "-") {
        let [place, block, sg] = line[..] else { panic!("lsscsi printed {line:?}") };
        let bsg = format!("/dev/bsg/{}", place.trim_matches(['[', ']']));
        let nodes = if sg == "-" { vec![block.replace("nvme", "ng")] } else { vec![sg.to_owned(), bsg] };
        for node in nodes {
            assert!(has_alias(device(listed, block), &node), "{node} is not a node of {}", device(listed, block));
        }
    }
    for line in but_one("lsscsi-names", is_no_cd) {
        let [_, _, name, block] = line[..] else { panic!("lsscsi printed {line:?}") };
        match device(listed, block)["wwn"].as_str() {
            // A name of type NAA has its type as a prefix; lsscsi omits it.
            Some(wwn) => assert_eq!(wwn.strip_prefix("naa.").unwrap_or(wwn), name, "{block}"),
            None => assert_eq!(name, "none", "{block}"),
        }
    }
    for line in but_one("lsscsi", is_no_cd).iter().filter(|line| !line[0].starts_with("[N")) {
        // Vendor, product, followed by the revision, which haul omits, and the node.
        let (block, reported) = (line[line.len() - 1], line[2..line.len() - 2].join(" "));
        let model = device(listed, block)["model"].as_str().expect("each has a model");
        assert!(reported.ends_with(model), "{block} is a {model}, and to lsscsi a {reported}");
    }
}

/// Model, serial number, size and blocks of the three NVMe drives.
fn nvme_drives(sections: &BTreeMap<&str, &str>, listed: &[Value]) {
    let reported: Value = serde_json::from_str(sections["nvme"]).expect("nvme list prints JSON");
    let drives = reported["Devices"].as_array().expect("devices are a list");
    assert_eq!(drives.len(), 3, "nvme list shows other drives than the lab's: {reported:#}");
    for drive in drives {
        let ours = device(listed, drive["DevicePath"].as_str().expect("the path is UTF-8"));
        let pairs = [
            ("model", "ModelNumber"),
            ("serial", "SerialNumber"),
            ("size_bytes", "PhysicalSize"),
            ("logical_block_bytes", "SectorSize"),
        ];
        for (field, theirs) in pairs {
            assert_eq!(ours[field], drive[theirs], "{field} of {}", drive["DevicePath"]);
        }
    }
}

/// Size and block sizes of all disks, as the kernel reports them by ioctl, and serial numbers as disks report them
/// by commands.
fn sizes(sections: &BTreeMap<&str, &str>, listed: &[Value]) {
    let disks = lines(sections, "disks");
    assert_eq!(disks.len(), 7, "the lab has other disks: {disks:?}");
    let of_4096 = disks.iter().filter(|line| line[2] == "4096").count();
    assert_eq!(of_4096, 2, "two disks should have large blocks: {disks:?}");
    for line in disks {
        let ours = device(listed, line[0]);
        for (field, theirs) in ["size_bytes", "logical_block_bytes", "physical_block_bytes"].iter().zip(&line[1..]) {
            assert_eq!(ours[field].to_string(), *theirs, "{field} of {}", line[0]);
        }
        if let Some(serial) = line.get(4) {
            assert_eq!(ours["serial"], *serial, "serial number of {}", line[0]);
        }
    }
}

/// The list as text, in 80 columns, identifies each disk.
fn human_output_identifies_disks(human: &str, listed: &[Value]) {
    assert!(human.lines().all(|line| line.chars().count() <= 80), "wider than 80 columns:\n{human}");
    let mut paragraphs: Vec<&str> = human.split("\n\n").collect();
    // The last is about the drive without a medium, which has no block device.
    assert_eq!(paragraphs.len(), listed.len() + 1, "{human}");
    assert!(paragraphs.pop().is_some_and(|last| last.starts_with("sg")), "{human}");
    for (paragraph, device) in paragraphs.iter().zip(listed) {
        let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut wanted: Vec<String> =
            ["model", "serial", "wwn"].iter().filter_map(|field| Some(device[*field].as_str()?.to_owned())).collect();
        // Composed by the kernel of model and serial number, and too long for a line.
        wanted.retain(|word| !word.starts_with("nvme."));
        wanted
            .extend(device["aliases"].as_array().into_iter().flatten().filter_map(|node| Some(node.as_str()?.into())));
        wanted.push(format!("{}-byte blocks", device["logical_block_bytes"]));
        let missing: Vec<&String> = wanted.iter().filter(|word| !text.contains(word.as_str())).collect();
        assert!(missing.is_empty(), "{} lacks {missing:?}:\n{paragraph}", device["name"]);
    }
}
