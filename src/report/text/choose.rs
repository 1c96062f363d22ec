use crate::core::{Device, InUse};
use crate::plan::Objection;
use crate::report::columns::{whole, wrap};
use crate::report::list::contents;
use crate::report::pending;
use crate::report::printable::printable;
use crate::report::style::{CARE, paint};
use crate::report::table::{Align, Heading, Table};
use crate::report::units;

/// The question which disk is to be the destination of a copy of `source`, with a number for each.
pub fn choose(
    source: &str,
    size: Option<u64>,
    offered: &[Device],
    others: &[(Device, Objection)],
    width: usize,
) -> String {
    let size = size.map(|size| format!(" ({})", units::size(size))).unwrap_or_default();
    let what = format!("Choose the destination of {}{}:", whole(&printable(source)), whole(&size));
    let mut text = format!("{}\n{}\n", wrap("", "", &what, width).trim_end(), table(offered).lines(Some(width)));
    for (number, device) in offered.iter().enumerate() {
        if let Some(copy) = &device.pending {
            let care = whole(&paint(CARE, &format!("{}:", number + 1)));
            text += &wrap("", "   ", &format!("{care} {}", pending::at_disk(copy)), width);
        }
    }
    text += &not_offered(others, width);
    text + &format!("Type a number from 1 to {}, anything else to stop: ", offered.len())
}

/// Lines about the disks that cannot be chosen; empty without such disks.
pub fn not_offered(others: &[(Device, Objection)], width: usize) -> String {
    let line = |(device, why): &(Device, Objection)| {
        let name = printable(&device.path.to_string_lossy());
        let who = device.identity.model.as_ref().map(|model| format!(" ({})", printable(model))).unwrap_or_default();
        wrap("", "  ", &format!("Not offered: {name}{who}: {}.", reason(device, why)), width)
    };
    others.iter().map(line).collect()
}

fn table(offered: &[Device]) -> Table {
    let heading = |name, align| Heading { name, align };
    let mut headings = vec![heading("", Align::Right)];
    let names = [("DISK", Align::Whole), ("SIZE", Align::Right), ("MODEL", Align::Text), ("SERIAL", Align::Text)];
    headings.extend(names.map(|(name, align)| heading(name, align)));
    headings.push(heading("CONTENT", Align::Text));
    let mut table = Table::new(headings);
    for (number, device) in offered.iter().enumerate() {
        let given = |text: &Option<String>| text.as_deref().map(printable).unwrap_or_default();
        let path = printable(&device.path.to_string_lossy());
        let (model, serial) = (given(&device.identity.model), given(&device.identity.serial));
        let content = printable(&contents(device));
        table.row(vec![(number + 1).to_string(), path, units::size(device.size), model, serial, content]);
    }
    table
}

fn reason(device: &Device, why: &Objection) -> String {
    let size = |bytes: u64| whole(&units::size(bytes));
    match why {
        Objection::Source => "the source is on it".to_owned(),
        Objection::InUse(InUse::Mounted { device, at }) => {
            format!("{} is mounted at {}", printable(device), printable(&at.to_string_lossy()))
        }
        Objection::InUse(InUse::Swap { device }) => format!("{} is swap", printable(device)),
        Objection::InUse(InUse::Held { device, by }) => format!("{} is held by {}", printable(device), printable(by)),
        Objection::InUse(InUse::System { .. }) => "the running system is on it".to_owned(),
        Objection::InUse(InUse::Exclusive) => "another program uses it".to_owned(),
        Objection::NoMedium => "no medium".to_owned(),
        Objection::ReadOnly => "read-only".to_owned(),
        Objection::TooSmall(needed) => format!("{} is less than the {} needed", size(device.size), size(*needed)),
        Objection::TooLarge(max) => {
            format!("{} is more than {} (--choose-max)", size(device.size), size(*max))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chooser_numbers_the_disks_and_explains_why_others_are_not_offered() {
        let disk = |name: &str, size| {
            let mut device =
                Device { name: name.to_owned(), path: format!("/dev/{name}").into(), size, ..Device::default() };
            (device.identity.model, device.identity.serial) =
                (Some("SanDisk Ultra".to_owned()), Some("4C53".to_owned()));
            (device.content, device.readable) = (Some("vfat \"BOOT\"".to_owned()), true);
            device
        };
        let mounted = InUse::Mounted { device: "sdd1".to_owned(), at: "/media/stick".into() };
        let others = [
            (disk("sdd", 8_000_000_000), Objection::InUse(mounted)),
            (disk("sde", 4_000_000_000_000), Objection::TooLarge(300_000_000_000)),
        ];
        let offered = [disk("sdb", 32_000_000_000), disk("sdc", 64_000_000_000)];
        let text = choose("image.img", Some(2_000_000_000), &offered, &others, 80);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text), @r#"
        Choose the destination of image.img (2.00 GB):
           DISK         SIZE  MODEL          SERIAL  CONTENT
        1  /dev/sdb  32.0 GB  SanDisk Ultra  4C53    vfat "BOOT"
        2  /dev/sdc  64.0 GB  SanDisk Ultra  4C53    vfat "BOOT"

        Not offered: /dev/sdd (SanDisk Ultra): sdd1 is mounted at /media/stick.
        Not offered: /dev/sde (SanDisk Ultra): 4.00 TB is more than 300.0 GB
          (--choose-max).
        Type a number from 1 to 2, anything else to stop:
        "#);
        assert!(choose("i", None, &offered, &[], 60).lines().all(|line| line.chars().count() <= 60));
    }
}
