//! SCSI devices without a block device: tapes, changers, enclosures.
use super::aliases::Aliases;
use crate::core::ScsiDevice;
use crate::disks::probe::identity::attribute;
use crate::disks::probe::snapshot::Snapshot;
use crate::disks::probe::sysfs::{names_in, text};
use std::fs;

/// All SCSI generic nodes without a block device, in numerical order.
pub(super) fn devices(snapshot: &Snapshot, aliases: &Aliases) -> Vec<ScsiDevice> {
    let class = snapshot.sysfs.path("class/scsi_generic");
    let mut names = names_in(&class);
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.iter().filter_map(|name| describe_node(&class.join(name).join("device"), name, aliases)).collect()
}

fn describe_node(link: &std::path::Path, name: &str, aliases: &Aliases) -> Option<ScsiDevice> {
    let dir = fs::canonicalize(link).ok()?;
    if !names_in(&dir.join("block")).is_empty() {
        return None;
    }
    let [vendor, model] = ["vendor", "model"].map(|name| attribute(&dir, &[name]));
    let words: Vec<String> = vendor.into_iter().chain(model).collect();
    // A tape drive has four modes with two nodes each. Only the nodes of the default mode are listed.
    let drivers = ["scsi_tape", "scsi_changer"].iter().flat_map(|driver| names_in(&dir.join(driver)));
    let plain = |name: &String| !name.trim_start_matches('n').trim_start_matches("st").contains(['l', 'm', 'a']);
    let others = drivers.filter(plain).chain(names_in(&dir.join("bsg")).into_iter().map(|name| format!("bsg/{name}")));
    Some(ScsiDevice {
        name: name.to_owned(),
        path: aliases.node(name),
        others: others.map(|name| aliases.node(&name)).collect(),
        address: dir.file_name()?.to_string_lossy().into_owned(),
        peripheral_type: text(&dir, "type").and_then(|text| text.trim().parse().ok()),
        model: (!words.is_empty()).then(|| words.join(" ")),
        revision: attribute(&dir, &["rev"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::probe::tree::Tree;
    use std::path::Path;

    #[test]
    fn tapes_and_enclosures_are_listed_with_their_nodes_and_disks_are_not() {
        let tree = Tree::new();
        let node = |name: &str, target: &str| {
            let dir = format!("devices/host2/{target}");
            tree.write(&format!("{dir}/scsi_generic/{name}/dev"), "21:0\n");
            tree.link(&format!("{dir}/scsi_generic/{name}/device"), &dir);
            tree.link(&format!("class/scsi_generic/{name}"), &format!("{dir}/scsi_generic/{name}"));
            dir
        };
        let tape = node("sg10", "2:0:1:0");
        for (name, text) in
            [("type", "1\n"), ("vendor", "HP      \n"), ("model", "Ultrium 3-SCSI  \n"), ("rev", "G63W\n")]
        {
            tree.write(&format!("{tape}/{name}"), text);
        }
        for name in ["st0", "nst0", "st0l", "nst0m", "st0a"] {
            tree.write(&format!("{tape}/scsi_tape/{name}/dev"), "9:0\n");
        }
        tree.write(&format!("{tape}/bsg/2:0:1:0/dev"), "246:0\n");
        let enclosure = node("sg2", "2:0:2:0");
        tree.write(&format!("{enclosure}/type"), "13\n");
        let disk = node("sg0", "2:0:0:0");
        tree.write(&format!("{disk}/block/sda/dev"), "8:0\n");
        let found = devices(&tree.snapshot(""), &Aliases::gather(Path::new("/dev/none")));
        let names: Vec<&str> = found.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(names, ["sg2", "sg10"]);
        assert_eq!((found[0].peripheral_type, found[0].kind(), &found[0].model), (Some(13), "enclosure", &None));
        let tape = &found[1];
        assert_eq!((tape.kind(), tape.model.as_deref()), ("tape", Some("HP Ultrium 3-SCSI")));
        assert_eq!((tape.revision.as_deref(), tape.address.as_str()), (Some("G63W"), "2:0:1:0"));
        let others: Vec<&str> = tape.others.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(others, ["/dev/none/nst0", "/dev/none/st0", "/dev/none/bsg/2:0:1:0"]);
        assert_eq!(tape.path, Path::new("/dev/none/sg10"));
    }

    #[test]
    fn a_machine_without_the_driver_lists_none() {
        assert!(devices(&Tree::new().snapshot(""), &Aliases::gather(Path::new("/dev/none"))).is_empty());
    }
}
