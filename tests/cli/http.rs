//! HTTP(S) resources as a source, with a server that others wrote: nginx.
use crate::support::{
    FaultyServer, Nginx, Reply, Running, cmp, cmp_ranges, copied_bytes, engines, in_one_line, name, noise, scratch,
    state_home, stderr, web_haul, write_noise,
};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

const MIB: usize = 1 << 20;
const SIGINT: i32 = 2;

/// A copy that ends well.
#[track_caller]
fn copy(arguments: &[&str]) {
    web_haul().args(["copy", "-q", "--yes"]).args(arguments).assert().success();
}

#[test]
fn a_resource_is_copied_by_ranges_and_as_a_stream_by_every_engine() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    let (source, dest) = (server.www().join("d.img"), dir.path().join("dest"));
    write_noise(&source, 9 * MIB + 333, 1);
    fs::write(server.www().join("empty"), "").unwrap();
    for engine in engines() {
        for path in ["d.img", "plain/d.img"] {
            copy(&["--engine", engine, &server.url(path), name(&dest)]);
            cmp(&source, &dest);
            fs::remove_file(&dest).unwrap();
        }
        copy(&["--engine", engine, &server.url("empty"), name(&dest)]);
        assert_eq!(fs::metadata(&dest).unwrap().len(), 0);
        fs::remove_file(&dest).unwrap();
    }
}

#[test]
fn options_of_copy_apply_to_a_resource() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    let (source, dest, also) = (server.www().join("d.img"), dir.path().join("dest"), dir.path().join("also"));
    write_noise(&source, 5 * MIB + 77, 2);
    let url = server.url("d.img");
    copy(&["--skip", "1001", "--count", "3M", &url, name(&dest)]);
    cmp_ranges(&source, 1001, &dest, 0, 3 * MIB as u64);
    fs::remove_file(&dest).unwrap();
    let list = dir.path().join("list");
    fs::write(&list, "512 4096\n3145728 100000\n").unwrap();
    copy(&["--source-ranges", name(&list), &url, name(&dest)]);
    cmp_ranges(&source, 512, &dest, 0, 4096);
    cmp_ranges(&source, 3 * MIB as u64, &dest, 4096, 100_000);
    fs::remove_file(&dest).unwrap();
    let manifest = dir.path().join("manifest");
    let options = ["--verify", "--hash", "sha256", "--manifest", name(&manifest), "--limit", "50M", "--json"];
    let output = web_haul().args(["copy", "--also", name(&also)]).args(options).args([&url, name(&dest)]).output();
    let report: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!((&report["status"], &report["source"]["kind"]), (&"complete".into(), &"http".into()), "{report}");
    let etag = report["source"]["version"].as_str().unwrap();
    assert!(etag.starts_with('"'), "{report}");
    cmp(&source, &dest);
    cmp(&source, &also);
    let shown = web_haul().args(["manifest", "show", "--json", name(&manifest)]).output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["source"]["path"], &shown["source"]["version"]), (&url.as_str().into(), &etag.into()));
    web_haul().args(["verify", &url, name(&dest)]).assert().success();
    web_haul().args(["verify", &server.url("plain/d.img"), name(&dest)]).assert().success();
    fs::write(&dest, noise(5 * MIB + 77, 3)).unwrap();
    web_haul().args(["verify", &url, name(&dest)]).assert().code(1);
}

#[test]
fn the_expected_etag_is_required() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    write_noise(&server.www().join("d.img"), MIB, 2);
    let (url, dest) = (server.url("d.img"), dir.path().join("dest"));
    let messages = stderr(&web_haul().args(["copy", "--expect", "etag=nope", &url, name(&dest)]).assert().code(3));
    let etag = messages.split("its ETag is \"").nth(1).and_then(|rest| rest.split('"').next());
    let etag = etag.unwrap_or_else(|| panic!("{messages}")).to_owned();
    assert!(!dest.exists());
    copy(&["--expect", &format!("etag={etag}"), &url, name(&dest)]);
    let local = web_haul().args(["copy", "--expect", "etag=x", name(&dest), name(&dir.path().join("2"))]).assert();
    assert!(stderr(&local.code(3)).contains("has no ETag"));
}

#[test]
fn a_dry_run_reports_what_the_server_supports() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    write_noise(&server.www().join("d.img"), MIB, 2);
    let dest = dir.path().join("dest");
    let plan = |url: &str| {
        let mut run = web_haul();
        run.env("SSL_CERT_FILE", server.authority()).args(["copy", "--dry-run", url, name(&dest)]);
        in_one_line(run.output().unwrap().stdout)
    };
    let text = plan(&server.secure_url("d.img"));
    assert!(text.contains("web resource, 1.05 MB (1048576 bytes) HTTP/1.1 over TLS 1.3, nginx/"), "{text}");
    assert!(text.contains(", ranges, ETag \""), "{text}");
    assert!(text.contains("8 MiB") || text.contains("8+2"), "{text}");
    let text = plan(&server.url("plain/d.img"));
    assert!(text.contains("no ranges: an interrupted copy cannot be resumed"), "{text}");
    assert!(text.contains("journal none the source is a stream, which cannot be read again"), "{text}");
    assert!(!dest.exists());
}

#[test]
fn a_certificate_has_to_verify() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    let (source, dest) = (server.www().join("d.img"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB, 2);
    let url = server.secure_url("d.img");
    let refused = |url: &str, authority: &Path, why: &str| {
        let run = web_haul().env("SSL_CERT_FILE", authority).args(["copy", url, name(&dest)]).assert().code(1);
        let messages = stderr(&run);
        assert!(messages.contains(why), "{messages}");
        assert!(!dest.exists());
    };
    // Another authority, another name, a server without TLS.
    let other = dir.path().join("other");
    let stranger = Nginx::start(&other).unwrap();
    refused(&url, &stranger.authority(), "the certificate of localhost does not verify");
    let by_number = url.replace("localhost", "127.0.0.1");
    refused(&by_number, &server.authority(), "the certificate of 127.0.0.1 does not verify");
    refused(&server.url("d.img").replace("http:", "https:"), &server.authority(), "TLS with 127.0.0.1 failed");
    refused(&url, &dir.path().join("missing"), "SSL_CERT_FILE names");
    for path in ["d.img", "plain/d.img"] {
        let mut run = web_haul();
        let run = run.env("SSL_CERT_FILE", server.authority()).args(["copy", "-q", &server.secure_url(path)]);
        run.arg(&dest).assert().success();
        cmp(&source, &dest);
        fs::remove_file(&dest).unwrap();
    }
}

#[test]
fn an_interrupted_copy_is_resumed_by_ranges_unless_the_resource_changed() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    let (source, dest) = (server.www().join("d.img"), dir.path().join("dest"));
    let bytes = write_noise(&source, 12 * MIB + 345, 4);
    let modified = fs::metadata(&source).unwrap().modified().unwrap();
    let url = server.url("d.img");
    let slow = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json"];
    let mut copy = Running::start(&[&slow[..], &[&url, name(&dest)]].concat(), Stdio::null(), Stdio::piped());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > MIB as u64));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    let journal = fs::read_to_string(dir.path().join(".dest.haul-journal")).unwrap();
    assert!(journal.contains("\"version\":\"\\\"") && journal.contains(&url), "{journal}");

    // nginx makes the entity tag of the length and the time of the last change.
    let modify = |bytes: &[u8], time: SystemTime| {
        fs::write(&source, bytes).unwrap();
        fs::File::options().write(true).open(&source).unwrap().set_modified(time).unwrap();
    };
    let resume = ["copy", "--resume", &url, name(&dest)];
    modify(&noise(12 * MIB + 345, 5), modified + Duration::from_secs(3600));
    let messages = stderr(&web_haul().args(resume).assert().code(3));
    assert!(messages.contains("ETag or Last-Modified of the source was"), "{messages}");
    modify(&bytes, modified);
    web_haul().args(resume).assert().success();
    cmp(&source, &dest);
}

#[test]
fn a_resumed_copy_requests_only_what_is_missing() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 12 * MIB + 345, 4);
    let server = FaultyServer::start(move |asked| Reply::ranged(asked, &bytes));
    let url = server.url("d.img?key=1");
    let slow = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json"];
    let mut copy = Running::start(&[&slow[..], &[&url, name(&dest)]].concat(), Stdio::null(), Stdio::piped());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 4 * MIB as u64));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    let before = server.asked().len();
    // A signed address has another signature the next time.
    web_haul().args(["copy", "--resume", &server.url("d.img?key=2"), name(&dest)]).assert().success();
    cmp(&source, &dest);
    let ranges = server.asked().split_off(before).into_iter().filter(|asked| asked.is_of_copy());
    let received: usize = ranges.filter_map(|asked| asked.range()).map(|(first, last)| last + 1 - first).sum();
    assert!(received < 9 * MIB, "{received} bytes were requested again");
}

#[test]
fn a_destination_and_what_is_measured_cannot_be_a_resource() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 4096, 1);
    let server = FaultyServer::start(move |asked| Reply::ranged(asked, &noise(4096, 1)));
    let (url, local) = (server.url("x?secret=hunter2"), name(&source));
    for (arguments, code, why) in [
        (&["copy", local, &url][..], 2, "haul only reads from HTTP servers"),
        (&["copy", "--also", &url, local, name(&dir.path().join("new"))], 2, "haul only reads from HTTP servers"),
        (&["verify", local, &url], 2, "haul only reads from HTTP servers"),
        (&["pattern", "write", "--yes", &url], 2, "haul only reads from HTTP servers"),
        (&["pattern", "check", &url], 2, "cannot hold a test pattern"),
        (&["tune", &url], 2, "neither a disk nor a file"),
        (&["profile", &url], 2, "neither a disk nor a file"),
        (&["copy", "--on-error", "skip", &url, name(&dir.path().join("new"))], 2, "--on-error: source http://"),
    ] {
        let messages = stderr(&web_haul().args(arguments).assert().code(code));
        assert!(messages.contains(why) && !messages.contains("hunter2"), "{arguments:?}: {messages}");
    }
    cmp(&source, &source);
}

#[test]
fn credentials_appear_nowhere() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 5 * MIB, 4);
    let server = FaultyServer::start(move |asked| {
        if asked.header("authorization") != Some("Basic dXNlcjpodW50ZXIy") || !asked.target.contains("sig=5ecret") {
            return Reply::status(401);
        }
        let broken = asked.number == 3;
        Reply { cut_at: broken.then_some(1000), ..Reply::ranged(asked, &bytes) }
    });
    let url = server.url("d.img?sig=5ecret").replace("http://", "http://user:hunter2@");
    let (manifest, page) = (dir.path().join("manifest"), dir.path().join("page.html"));
    let files = ["--manifest", name(&manifest), "--report", name(&page)];
    let mut found = Vec::new();
    let mut run = |arguments: &[&str], succeeds: bool| {
        let output = web_haul().args(arguments).output().unwrap();
        let printed = in_one_line([output.stdout, output.stderr].concat());
        assert_eq!(output.status.success(), succeeds, "{arguments:?}: {printed}");
        found.push(printed);
    };
    run(&["copy", "--dry-run", "--json", &url, name(&dest)], true);
    run(&[&["copy", "-vv", "--progress", "json"], &files[..], &[&url, name(&dest)]].concat(), true);
    cmp(&source, &dest);
    run(&["verify", "--json", &url, name(&dest)], true);
    run(&["copy", "-v", &url.replace("hunter2", "hunter2x"), name(&dest)], false);
    run(&["copy", "--json", &url.replace("d.img", "nope d.img"), "/nowhere/at/all"], false);
    run(&["copy", &url.replace("127.0.0.1", "127.0.0.1:x"), name(&dest)], false);
    run(&["copy", "--no-such-option", &url, name(&dest)], false);
    run(&["copy", name(&dest), &format!("--also={url}"), "/dev/null"], false);

    // Interrupted: the journal, the command that continues.
    fs::remove_file(&dest).unwrap();
    let slow = ["copy", "--limit", "1M", "--block-size", "64K", "--progress", "json", &url, name(&dest)];
    let mut copy = Running::start(&slow, Stdio::null(), Stdio::piped());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    found.push(copy.messages.clone());
    for file in [dir.path().join(".dest.haul-journal"), manifest, page] {
        found.push(fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    let state = fs::read_dir(state_home()).unwrap().count();
    assert!(found.iter().all(|text| !text.is_empty()) && state < 9);
    let place = format!("http://...@127.0.0.1:{}/d.img?sig=...", server.port());
    for text in &found {
        let leak = ["hunter2", "5ecret", "dXNlcjpodW50ZXIy"].iter().find(|secret| text.contains(**secret));
        assert!(leak.is_none(), "{leak:?} in {text}");
    }
    assert!(found[0].contains(&place), "{}", found[0]);

    // The printed address alone is refused in words.
    let messages = stderr(&web_haul().args(["copy", &place, name(&dir.path().join("other"))]).assert().code(2));
    assert!(messages.contains("write the whole address"), "{messages}");
}

#[test]
fn proxies_of_the_environment_are_used() {
    let dir = scratch();
    let Some(server) = Nginx::start(dir.path()) else { return };
    let (source, dest) = (server.www().join("d.img"), dir.path().join("dest"));
    let bytes = write_noise(&source, 3 * MIB, 2);
    let proxy = FaultyServer::start(move |asked| match asked.header("proxy-authorization") {
        Some("Basic dXNlcjpodW50ZXIy") => Reply::ranged(asked, &bytes),
        _ => Reply::status(407),
    });
    let at_proxy = format!("http://user:hunter2@127.0.0.1:{}", proxy.port());
    let run = |variable: &str, value: &str, no_proxy: &str, url: &str, code: i32| {
        let _ = fs::remove_file(&dest);
        let before = proxy.asked().len();
        let mut run = web_haul();
        run.env(variable, value).env("no_proxy", no_proxy).env("SSL_CERT_FILE", server.authority());
        let run = run.args(["copy", url, name(&dest)]).assert().code(code);
        if code == 0 {
            cmp(&source, &dest);
        }
        (proxy.asked().split_off(before), stderr(&run))
    };
    for variable in ["http_proxy", "all_proxy"] {
        let (asked, _) = run(variable, &at_proxy, "", "http://host.invalid/d.img", 0);
        assert!(asked.len() > 1 && asked.iter().all(|asked| asked.target == "http://host.invalid/d.img"), "{asked:?}");
    }
    let (asked, _) = run("https_proxy", &at_proxy, "", &server.secure_url("d.img"), 0);
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.target.starts_with("localhost:")), "{asked:?}");
    let (asked, _) = run("http_proxy", &at_proxy, "127.0.0.0/8", &server.url("d.img"), 0);
    assert!(asked.is_empty(), "{asked:?}");
    let wrong = at_proxy.replace("hunter2", "hunter3");
    for (variable, url) in [("http_proxy", server.url("d.img")), ("https_proxy", server.secure_url("d.img"))] {
        let (_, messages) = run(variable, &wrong, "", &url, 1);
        let said = messages.contains("the proxy requires credentials (407)");
        assert!(said && !messages.contains("hunter3"), "{messages}");
    }
    let (_, messages) = run("all_proxy", "socks5://user:hunter4@127.0.0.1:1", "", &server.url("d.img"), 1);
    assert!(messages.contains("proxy socks5://127.0.0.1:1 is not supported"), "{messages}");
}
