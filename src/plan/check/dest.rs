//! Checks that the dest is the intended one, and may be written.
use crate::core::{EndpointKind, Error, Facts, InUse, Kind, Result, Side};
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::{Expectation, words};
use std::path::Path;

/// Refuses a dest that is not the expected one, is in use, or may not be written.
pub(crate) fn dest(asked: &PlanInput) -> Result<()> {
    let dest = asked.dest;
    no_file_among_devices(dest)?;
    asked.options.expect.iter().try_for_each(|expectation| match expectation {
        Expectation::Etag(etag) => same_resource(asked.source, etag),
        of_dest => expected(dest, of_dest),
    })?;
    free(dest)?;
    if !dest.writable {
        let advice = match dest.kind {
            EndpointKind::Block => {
                "Check whether the device is read-only (blockdev --getro) or has a write-protect switch, and whether \
                 you have permission to write (its group is often 'disk')."
            }
            EndpointKind::Nbd => "The server offers this export for reading only: serve it writable.",
            _ => {
                "Check the permissions of the file and its directory, and whether the file system is mounted read-only."
            }
        };
        return Err(Error::new(Kind::Open, format!("no permission to write to {}", named(Side::Dest, dest)))
            .on(Side::Dest)
            .advise(advice));
    }
    Ok(())
}

/// Refuses a file or device that is in use.
pub(crate) fn free(dest: &Facts) -> Result<()> {
    match dest.kind {
        EndpointKind::Block | EndpointKind::File | EndpointKind::CompressedDest if !dest.in_use.is_empty() => {
            Err(in_use(dest))
        }
        _ => Ok(()),
    }
}

/// Refuses to create a file below /dev: a misspelt device name would become a file that fills memory.
fn no_file_among_devices(dest: &Facts) -> Result<()> {
    let devices = Path::new("/dev");
    // These are separate file systems below /dev, for shared memory and message queues.
    let own = ["/dev/shm", "/dev/mqueue", "/dev/hugepages"];
    let among = dest.path.starts_with(devices) && !own.iter().any(|path| dest.path.starts_with(path));
    let among = among || dest.filesystem.as_deref() == Some("devtmpfs");
    if !dest.is_file() || dest.exists || !among {
        return Ok(());
    }
    let what = format!("no device {}, and haul creates no file in its place", dest.path.display());
    Err(Error::new(Kind::Refused, what)
        .on(Side::Dest)
        .advise("Check the name and whether the device is connected; 'haul list' shows the available devices."))
}

/// Refuses a source that is not the expected resource of a web server.
fn same_resource(source: &Facts, etag: &str) -> Result<()> {
    let resource = source.http.as_ref().filter(|http| !http.is_weak);
    let found = resource.and_then(|http| http.version());
    // A shell removes the quotes of an entity tag.
    let what = match found {
        Some(found) if found == etag || found.trim_matches('"') == etag => return Ok(()),
        Some(found) => format!("is not the expected resource: its ETag is {found}, not '{etag}'"),
        None => format!("has no ETag that identifies its content; expected '{etag}'"),
    };
    let what = format!("{} {what}", named(Side::Source, source));
    Err(Error::new(Kind::Refused, what).on(Side::Source).advise("Nothing was written. Check the address."))
}

fn expected(dest: &Facts, expectation: &Expectation) -> Result<()> {
    let identity = &dest.identity;
    let (key, wanted, found) = match expectation {
        Expectation::Sequence(sequence) => return same_disk(dest, *sequence),
        Expectation::Serial(serial) => ("serial", serial.clone(), identity.serial.clone()),
        Expectation::Model(model) => ("model", model.clone(), identity.model.clone()),
        Expectation::Wwn(wwn) => ("wwn", wwn.clone(), identity.wwn.clone()),
        Expectation::Etag(etag) => ("etag", etag.clone(), None),
        Expectation::Size(size) => ("size", words::exact(*size), dest.size.map(words::exact)),
    };
    let name = named(Side::Dest, dest);
    let what = match found {
        Some(found) if found == wanted => return Ok(()),
        Some(found) => format!("{name} is not the expected device: {key} is '{found}', not '{wanted}'"),
        None => format!("{name} reports no {key}; expected '{wanted}'"),
    };
    Err(Error::new(Kind::Refused, what)
        .on(Side::Dest)
        .advise("Nothing was written. 'haul list' shows the available devices."))
}

/// Checks that the name still refers to the disk that was chosen.
fn same_disk(dest: &Facts, sequence: u64) -> Result<()> {
    if dest.disk_sequence.is_none_or(|now| now == sequence) {
        return Ok(());
    }
    let what =
        format!("{} is not the disk that was chosen: another disk or medium has its name now", named(Side::Dest, dest));
    Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Nothing was written. Run it again and choose again."))
}

/// The error that names each use, and how to end it.
fn in_use(dest: &Facts) -> Error {
    let users: Vec<String> = dest.in_use.iter().map(user).collect();
    let system = dest.in_use.iter().any(|user| matches!(user, InUse::System { .. }));
    let advice = if system {
        // Advice to unmount / would not help.
        "To overwrite it, boot another system, from a USB stick or over the network.".to_owned()
    } else {
        let mut steps: Vec<String> = Vec::new();
        for step in dest.in_use.iter().map(remedy) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        format!("If it is the right device, first: {}.", steps.join("; "))
    };
    let what = format!("{} is in use: {}", named(Side::Dest, dest), users.join("; "));
    Error::new(Kind::Refused, what).on(Side::Dest).advise(advice)
}

/// A clause that names a use.
pub(crate) fn user(user: &InUse) -> String {
    match user {
        InUse::Mounted { device, at } => format!("{device} is mounted at {}", at.display()),
        InUse::Swap { device } => format!("{device} is swap space"),
        InUse::Held { device, by } => format!("{device} is held by {by}"),
        InUse::System { at } => format!("the running system uses it for {}", at.display()),
        InUse::Exclusive => "another program has opened it exclusively".to_owned(),
    }
}

/// How to end that use.
fn remedy(user: &InUse) -> String {
    let path = |name: &str| if name.starts_with('/') { name.to_owned() } else { format!("/dev/{name}") };
    match user {
        InUse::Mounted { at, .. } => format!("umount {}", at.display()),
        InUse::Swap { device } => format!("swapoff {}", path(device)),
        InUse::Held { by, .. } if by.starts_with("loop") => format!("losetup -d {}", path(by)),
        InUse::Held { by, .. } if by.starts_with("md") => format!("mdadm --stop {}", path(by)),
        InUse::Held { by, .. } if by.starts_with("dm-") => {
            format!("dmsetup remove {} (or vgchange -an, or cryptsetup close)", path(by))
        }
        InUse::Held { by, .. } => format!("stop {}", path(by)),
        InUse::System { .. } => "boot another system".to_owned(),
        InUse::Exclusive => "find that program with fuser or lsof (also in containers) and stop it".to_owned(),
    }
}
