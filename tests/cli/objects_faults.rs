//! Object stores that fail: each fault is either made up for, or ends the copy, and no wrong object is visible.
use crate::support::{Fate, ObjectServer, Passing, StoreProxy, cmp, in_one_line, name, scratch, write_noise};
use std::process::Output;

const MIB: usize = 1 << 20;
const LEN: usize = 25 * MIB + 333;

/// Copies by a proxy that treats requests as `fate` says.
fn copy(
    server: &ObjectServer,
    arguments: &[&str],
    fate: impl Fn(&Passing) -> Fate + Send + Sync + 'static,
) -> (i32, String) {
    let proxy = StoreProxy::start(server, fate);
    let mut command = server.haul_at(proxy.port());
    let Output { status, stdout, stderr } = command.args(["copy", "-v"]).args(arguments).output().unwrap();
    (status.code().unwrap_or(-1), in_one_line([stdout, stderr].concat()))
}

#[test]
fn a_fault_that_passes_is_made_up_for_and_counted() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    write_noise(&source, LEN, 1);
    type Kind = fn(&Passing) -> bool;
    let kinds: [(&str, Kind); 2] = [("part", Passing::is_part), ("completion", Passing::is_completion)];
    for (what, is_kind) in kinds {
        for fault in [Fate::Status(500), Fate::Status(503), Fate::Cut] {
            let fails = move |passing: &Passing| match is_kind(passing) && passing.earlier < 2 {
                true => fault,
                false => Fate::Answered,
            };
            let (status, text) = copy(&server, &[name(&source), "s3://vault/x"], fails);
            assert!(status == 0 && text.contains("that were repeated: 2"), "{what}, {fault:?}: {text}");
            cmp(&source, server.file("x"));
        }
    }
    for fault in [Fate::Status(500), Fate::Status(503), Fate::Cut, Fate::CutAnswer(100_000)] {
        let fails = move |passing: &Passing| match passing.is_read() && passing.earlier < 3 {
            true => fault,
            false => Fate::Answered,
        };
        let (status, text) = copy(&server, &["s3://vault/x", name(&back)], fails);
        assert!(status == 0 && text.contains("that were repeated: 3"), "{fault:?}: {text}");
        cmp(&source, &back);
    }
}

#[test]
fn a_fault_that_stays_ends_the_copy_at_its_byte_and_nothing_is_visible() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, LEN, 2);
    for (status, words) in [(403, "403 Forbidden"), (507, "507 Insufficient Storage"), (400, "400 Bad Request")] {
        let fails = move |passing: &Passing| match passing.is_part() && passing.target.contains("partNumber=2") {
            true => Fate::Status(status),
            false => Fate::Answered,
        };
        let (code, text) = copy(&server, &["--no-journal", name(&source), "s3://vault/x"], fails);
        assert!(code != 0 && text.contains(words) && text.contains("at byte 8388608"), "{text}");
        assert!(text.contains("haul journal abort s3://vault/x"), "{text}");
        assert!(!server.file("x").exists());
    }
    let fails = |passing: &Passing| if passing.is_completion() { Fate::Status(403) } else { Fate::Answered };
    let (code, text) = copy(&server, &["--no-journal", name(&source), "s3://vault/x"], fails);
    assert!(code != 0 && text.contains("403 Forbidden"), "{text}");
    assert!(!server.file("x").exists());
}

#[test]
fn a_source_that_changes_during_the_copy_ends_it() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (one, two, back) = (dir.path().join("one"), dir.path().join("two"), dir.path().join("back"));
    write_noise(&one, LEN, 3);
    write_noise(&two, LEN, 4);
    server.haul().args(["copy", "-q", name(&one), "s3://vault/x"]).assert().success();
    let (changing, other) = (server.client(), name(&two).to_owned());
    let (code, text) = copy(&server, &["--depth", "1", "s3://vault/x", name(&back)], move |passing| {
        if passing.is_read() && passing.earlier == 2 {
            changing.haul().args(["copy", "-q", &other, "s3://vault/x"]).assert().success();
        }
        Fate::Answered
    });
    assert!(code != 0 && text.contains("the object changed on the server") && text.contains("at byte"), "{text}");
}

#[test]
fn an_object_that_another_program_writes_during_the_copy_is_kept() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (source, other) = (dir.path().join("source"), dir.path().join("other"));
    write_noise(&source, LEN, 5);
    write_noise(&other, 1000, 6);
    type When = fn(&Passing) -> bool;
    // With the HEAD before the completion, and with its condition alone.
    let moments: [(&str, When); 2] = [("part", Passing::is_part), ("completion", Passing::is_completion)];
    for (at, (what, is_then)) in moments.into_iter().enumerate() {
        let address = format!("s3://vault/x{at}");
        let (writing, from, to) = (server.client(), name(&other).to_owned(), address.clone());
        let (code, text) = copy(&server, &["--no-journal", name(&source), &address], move |passing| {
            if is_then(passing) && passing.earlier == 0 {
                writing.haul().args(["copy", "-q", &from, &to]).assert().success();
            }
            Fate::Answered
        });
        assert!(code != 0 && text.contains("another program wrote"), "{what}: {text}");
        cmp(&other, server.file(&format!("x{at}")));
    }
}
