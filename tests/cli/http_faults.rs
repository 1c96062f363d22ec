//! Web servers that fail: each fault is either made up for, or ends the copy with the byte where it was found.
use crate::support::{
    Asked, FaultyServer, Reply, cmp, engines, in_one_line, name, noise, scratch, web_haul, write_noise,
};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const MIB: usize = 1 << 20;
const LEN: usize = 9 * MIB + 333;

/// How a copy from such a server goes: its status, the report, and what was requested.
fn run(options: &[&str], answer: impl Fn(&Asked, &[u8]) -> Reply + Send + Sync + 'static) -> (i32, String, Vec<Asked>) {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, LEN, 8);
    let server = FaultyServer::start(move |asked| answer(asked, &bytes));
    let output =
        web_haul().args(["copy", "-v"]).args(options).args([&server.url("d.img"), name(&dest)]).output().unwrap();
    let code = output.status.code().unwrap_or(-1);
    if code == 0 && !options.contains(&"--dry-run") {
        cmp(&source, &dest);
    }
    (code, in_one_line([output.stdout, output.stderr].concat()), server.asked())
}

/// The fault happens `times` times to requests of the copy.
fn sometimes(
    times: usize,
    fault: impl Fn(&Asked, Reply) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Asked, &[u8]) -> Reply + Send + Sync + 'static {
    let left = AtomicUsize::new(times);
    move |asked, bytes| {
        let right = Reply::ranged(asked, bytes);
        let is_left = || left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        if asked.is_of_copy() && is_left() { fault(asked, right) } else { right }
    }
}

#[test]
fn a_fault_that_passes_is_made_up_for_and_counted() {
    type Fault = fn(&Asked, Reply) -> Reply;
    let faults: [(&str, Fault); 9] = [
        ("500", |_, _| Reply::status(500)),
        ("503", |_, _| Reply::status(503)),
        ("429 with a pause", |_, _| Reply::status(429).with("retry-after", 1)),
        ("503 until a date", |_, _| Reply::status(503).with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")),
        ("408", |_, _| Reply::status(408)),
        ("no answer", |_, reply| Reply { cut_at: Some(0), headers: Vec::new(), status: 0, ..reply }),
        ("a cut body", |_, reply| Reply { cut_at: Some(70_000), ..reply }),
        ("a body cut at once", |_, reply| Reply { cut_at: Some(0), ..reply }),
        ("a silent body", |_, reply| Reply { cut_at: Some(100_000), stalls: true, ..reply }),
    ];
    for (what, fault) in faults {
        let (code, report, _) = run(&[], sometimes(3, fault));
        assert_eq!(code, 0, "{what}: {report}");
        assert!(report.contains("that were repeated: 3"), "{what}: {report}");
    }
    let (code, report, _) = run(&[], sometimes(2, |_, reply| Reply { chunked: true, ..reply }));
    assert_eq!((code, report.contains("repeated")), (0, false), "{report}");
}

#[test]
fn received_bytes_of_a_cut_body_are_not_requested_again() {
    for engine in engines() {
        let cut = sometimes(6, |_, reply| Reply { cut_at: Some(reply.body.len() / 2), ..reply });
        let (code, report, asked) = run(&["--engine", engine], cut);
        assert_eq!(code, 0, "{engine}: {report}");
        let ranges = asked.iter().filter(|asked| asked.is_of_copy()).filter_map(Asked::range);
        let cut_short: usize = ranges.map(|(first, last)| last + 1 - first).sum::<usize>() - LEN;
        assert!(
            cut_short <= 6 * (4 * MIB) / 2,
            "{engine}: {cut_short} bytes more than the resource has were requested"
        );
    }
}

#[test]
fn a_wrong_answer_ends_the_copy_at_its_byte() {
    type Fault = fn(&Asked, Reply) -> Reply;
    let faults: [(&str, Fault, &str); 13] = [
        ("another ETag", |_, reply| reply.with("etag", "\"two\""), "its ETag was \"one\" and is \"two\""),
        ("412", |_, _| Reply::status(412), "the resource changed on the server: it is no longer \"one\""),
        ("no ETag", |_, reply| reply.with("etag", ""), "its ETag was \"one\" and is not reported"),
        ("416", |_, _| Reply::status(416), "it has no such byte any more"),
        (
            "another length",
            |asked, reply| {
                let (first, last) = asked.range().unwrap();
                reply.with("content-range", format!("bytes {first}-{last}/{}", LEN + 1))
            },
            "its length was 9437517 bytes and is 9437518 bytes",
        ),
        (
            "another range",
            |asked, mut reply| {
                let (first, last) = asked.range().unwrap();
                reply.body.pop();
                reply.with("content-range", format!("bytes {}-{last}/{LEN}", first + 1))
            },
            "were requested",
        ),
        ("no Content-Range", |_, reply| reply.with("content-range", "?"), "invalid Content-Range"),
        (
            "a shorter Content-Length",
            |_, reply| {
                let len = reply.body.len() - 1;
                Reply { body: reply.body[..len].to_vec(), ..reply }
            },
            "announces",
        ),
        (
            "the whole of it",
            |_, _| Reply::whole(&noise(LEN, 8)),
            "sends the whole resource where a range was requested",
        ),
        ("compressed", |_, reply| reply.with("content-encoding", "gzip"), "Content-Encoding: gzip"),
        ("404", |_, _| Reply::status(404), "the server answers 404 Not Found"),
        ("403", |_, _| Reply::status(403), "the server answers 403 Forbidden"),
        (
            "more bytes than announced",
            |_, mut reply| {
                reply.body.extend([0; 9]);
                Reply { chunked: true, ..reply }
            },
            "sends more bytes than it announced",
        ),
    ];
    for (what, fault, why) in faults {
        let (code, report, _) = run(&[], sometimes(usize::MAX, fault));
        assert_eq!(code, 1, "{what}: {report}");
        assert!(report.contains(why), "{what}: {report}");
        assert!(report.contains("cannot read source http://127.0.0.1:") && report.contains(" at byte "), "{report}");
    }
}

#[test]
fn a_change_in_the_middle_is_never_a_mixture() {
    // One answer of many has another content and says so; the rest still has the old one.
    for number in [2, 4, 6] {
        let change = move |asked: &Asked, bytes: &[u8]| match asked.number == number {
            true => Reply::ranged(asked, &noise(LEN, 9)).with("etag", "\"two\""),
            false => Reply::ranged(asked, bytes),
        };
        let (code, report, asked) = run(&["--block-size", "1M"], change);
        assert_eq!(code, 1, "{report}");
        assert!(report.contains("changed on the server") && report.contains(" at byte "), "{report}");
        assert!(report.contains("Copy again from the start"), "{report}");
        let conditions = asked.iter().filter(|asked| asked.is_of_copy()).map(|asked| asked.header("if-match"));
        // On a busy machine the first answer may end the copy before the second request.
        assert!(
            conditions.clone().next().is_some() && conditions.clone().all(|etag| etag == Some("\"one\"")),
            "{asked:?}"
        );
        assert!(asked.iter().all(|asked| asked.header("accept-encoding") == Some("identity")), "{asked:?}");
    }
}

#[test]
fn a_weak_etag_gives_way_to_the_time_of_the_last_change() {
    const CHANGED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    let weak = |asked: &Asked, bytes: &[u8]| {
        let weak = format!("W/\"{}\"", asked.number);
        Reply::ranged(asked, bytes).with("etag", weak).with("last-modified", CHANGED)
    };
    let (code, report, asked) = run(&[], weak);
    assert_eq!(code, 0, "{report}");
    assert!(asked[asked.len() - 1].header("if-unmodified-since") == Some(CHANGED), "{asked:?}");
    let (_, plan, _) = run(&["--dry-run"], weak);
    assert!(plan.contains("a weak ETag: identified by length and Last-Modified Sun, 06 Nov 1994"), "{plan}");
    let (code, report, _) = run(&[], move |asked, bytes| {
        let changed = if asked.number > 3 { "Mon, 07 Nov 1994 08:49:37 GMT" } else { CHANGED };
        Reply::ranged(asked, bytes).with("etag", "W/\"1\"").with("last-modified", changed)
    });
    assert!(code == 1 && report.contains("its Last-Modified was Sun, 06 Nov 1994"), "{report}");
    let (code, report, _) = run(&[], |asked, bytes| Reply::ranged(asked, bytes).with("etag", ""));
    assert!(code == 0 && report.contains("neither a strong ETag nor Last-Modified"), "{report}");
}

#[test]
fn a_server_that_never_recovers_ends_the_copy_after_some_attempts() {
    let dir = scratch();
    let bytes = noise(LEN, 8);
    let server = FaultyServer::start(move |asked| match asked.is_of_copy() && asked.range().unwrap().0 > 0 {
        true => Reply::status(503),
        false => Reply::ranged(asked, &bytes),
    });
    let dest = dir.path().join("dest");
    let mut run = web_haul();
    let run = run.env("HAUL_HTTP_RETRIES", "2").args(["copy", &server.url("d.img"), name(&dest)]).output().unwrap();
    let report = in_one_line(run.stderr);
    assert_eq!(run.status.code(), Some(1), "{report}");
    assert!(report.contains("the server answers 503 Service Unavailable (after 3 attempts)"), "{report}");
    assert!(report.contains("--resume"), "{report}");
    let mut long = web_haul();
    let slow = FaultyServer::start(|_| Reply::status(503).with("retry-after", 86_400));
    let run = long.args(["copy", &slow.url("d.img"), name(&dest)]).assert().code(1);
    assert!(in_one_line(&run.get_output().stderr).contains("503 Service Unavailable (after one attempt)"));
}

#[test]
fn a_stream_that_is_cut_is_an_error() {
    for (chunked, cut_at, stalls) in [(false, MIB, false), (true, MIB, false), (false, 3 * MIB, true), (true, 0, false)]
    {
        let answer =
            move |_: &Asked, bytes: &[u8]| Reply { cut_at: Some(cut_at), chunked, stalls, ..Reply::whole(bytes) };
        let mut environment = Vec::new();
        if cut_at == 0 {
            // Before the first byte the request is repeated.
            environment.push(("HAUL_HTTP_RETRIES", "1"));
        }
        let dir = scratch();
        let bytes = noise(LEN, 8);
        let server = FaultyServer::start(move |asked| answer(asked, &bytes));
        let mut command = web_haul();
        command.envs(environment).args(["copy", "--json", &server.url("x"), name(&dir.path().join("dest"))]);
        let output = command.output().unwrap();
        let report = in_one_line([output.stdout, output.stderr].concat());
        assert_eq!(output.status.code(), Some(1), "{report}");
        let place = format!("at byte {cut_at}");
        assert!(
            report.contains("the connection was lost") || stalls && report.contains("sent nothing for 2 s"),
            "{report}"
        );
        assert!(
            report.contains(&place) || report.contains(&format!("\"offset_bytes\": {cut_at}")),
            "{place}: {report}"
        );
        assert!(cut_at == 0 || report.contains("The server sends no ranges"), "{report}");
    }
    let (code, report, _) = run(&[], |_, bytes| Reply { chunked: true, ..Reply::whole(bytes) });
    assert!(code == 0 && report.contains("has no Content-Length"), "{report}");
    let (code, report, _) = run(&[], |asked, bytes| match asked.number {
        0 => Reply::whole(bytes),
        _ => Reply::whole(bytes).with("etag", "\"two\""),
    });
    assert!(code != 0 && report.contains("changed on the server"), "{report}");
}

#[test]
fn redirects_are_followed_and_credentials_stay_with_their_server() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, LEN, 8);
    let mirror = FaultyServer::start(move |asked| Reply::ranged(asked, &bytes));
    let there = mirror.url("mirror?signature=5ecret");
    let answer = move |asked: &Asked| match asked.target.as_str() {
        "/a" => Reply::status(301).with("location", "/b/c"),
        "/b/c" => Reply::status(302).with("location", "../d"),
        "/d" => Reply::status(307).with("location", &there),
        "/round" => Reply::status(308).with("location", "/round"),
        "/nowhere" => Reply::status(302),
        "/file" => Reply::status(302).with("location", "file:///etc/passwd"),
        _ => Reply::status(404),
    };
    let server = FaultyServer::start(answer);
    let url = server.url("a").replace("http://", "http://user:hunter2@");
    web_haul().args(["copy", "-q", &url, name(&dest)]).assert().success();
    cmp(&source, &dest);
    assert!(server.asked().iter().all(|asked| asked.header("authorization") == Some("Basic dXNlcjpodW50ZXIy")));
    assert!(mirror.asked().iter().all(|asked| asked.header("authorization").is_none()));
    let output = web_haul().args(["copy", "--dry-run", &url, name(&dest)]).output().unwrap();
    let plan = in_one_line(output.stdout);
    assert!(plan.contains(&format!("redirected to {}", mirror.url("mirror?signature=..."))), "{plan}");
    for (path, why) in
        [("round", "more than 10 redirects"), ("nowhere", "redirects to nowhere"), ("file", "neither http nor https")]
    {
        let run = web_haul().args(["copy", &server.url(path), name(&dir.path().join("new"))]).assert().code(1);
        let messages = in_one_line(&run.get_output().stderr);
        assert!(messages.contains(why), "{messages}");
    }
}

#[test]
fn an_expired_signed_address_is_requested_again_once() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, LEN, 8);
    // An address is valid for four requests, and later ones are of the same resource or never valid.
    let run = |renews: bool| {
        let (signed, used) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let bytes = bytes.clone();
        let answer = move |asked: &Asked| {
            if asked.target == "/signed" {
                let number = signed.fetch_add(1, SeqCst) + 1;
                used.store(0, SeqCst);
                return Reply::status(302).with("location", format!("/object?signature={number}"));
            }
            let now = format!("/object?signature={}", signed.load(SeqCst));
            let is_valid = asked.target == now && used.fetch_add(1, SeqCst) < 4;
            let may_be = renews || asked.target.ends_with("=1") || asked.target.ends_with("=2");
            if is_valid && may_be { Reply::ranged(asked, &bytes) } else { Reply::status(403) }
        };
        let server = FaultyServer::start(answer);
        let _ = fs::remove_file(&dest);
        let options = ["copy", "-v", "--block-size", "1M", "--depth", "2"];
        let output = web_haul().args(options).args([&server.url("signed"), name(&dest)]).output().unwrap();
        (output.status.code(), in_one_line([output.stdout, output.stderr].concat()))
    };
    let (code, report) = run(true);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("that were repeated: "), "{report}");
    cmp(&source, &dest);
    let (code, report) = run(false);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("403 Forbidden") && report.contains("a signed address may have expired"), "{report}");
}
