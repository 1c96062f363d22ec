//! NBD servers with TLS: nbdkit with certificates of an authority that only these tests trust.
use crate::support::{
    Breaking, NbdServer, Way, cmp, engines, has, haul, in_one_line, make_certificates, name, scratch, stderr,
    write_noise,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: usize = 1 << 20;

/// A folder with certificates; `None`: openssl is not installed.
fn certificates(dir: &Path, folder: &str) -> Option<PathBuf> {
    let folder = dir.join(folder);
    fs::create_dir(&folder).unwrap();
    has("openssl").then(|| make_certificates(&folder))?;
    Some(folder)
}

/// nbdkit that requires TLS.
fn nbdkit(dir: &Path, certificates: &Path, words: &[&str]) -> Option<NbdServer> {
    let folder = format!("--tls-certificates={}", name(certificates));
    NbdServer::nbdkit(dir, &[&["--tls=require", &folder], words].concat())
}

/// The address of a server with TLS: `address` without it, and the folder of the certificates.
fn secured(address: &str, certificates: &Path) -> String {
    let before = if address.contains('?') { '&' } else { '?' };
    format!("{}{before}tls-certificates={}", address.replacen("nbd", "nbds", 1), name(certificates))
}

/// The message of a copy from `address`, which must fail before the first write.
fn refused(address: &str, dest: &Path) -> String {
    let run = haul().env_remove("SSL_CERT_FILE").args(["copy", address, name(dest)]).assert().code(1);
    assert!(!dest.exists(), "{address}");
    in_one_line(stderr(&run))
}

#[test]
fn exports_are_copied_in_both_directions_by_tls() {
    let dir = scratch();
    let [source, stored, back] = ["source", "stored", "back"].map(|name| dir.path().join(name));
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    write_noise(&source, 24 * MIB + 4096, 5);
    let file = format!("file={}", name(&stored));
    for engine in engines() {
        fs::File::create(&stored).unwrap().set_len(24 * MIB as u64 + 4096).unwrap();
        let Some(server) = nbdkit(dir.path(), &folder, &["file", &file]) else { return };
        for plain in [server.address(""), server.address_by_tcp("").replace("127.0.0.1", "localhost")] {
            let address = secured(&plain, &folder);
            let options = ["copy", "-q", "--yes", "--restart", "--verify", "--engine", engine];
            haul().args(options).args([name(&source), &address]).assert().success();
            cmp(&source, &stored);
            haul().args(options).args([&address, name(&back)]).assert().success();
            cmp(&source, &back);
            fs::remove_file(&back).unwrap();
        }
    }
}

#[test]
fn the_plan_shows_the_version_of_tls_and_no_byte_crosses_the_network_unencrypted() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    fs::write(&source, "a sentence in plain text, hidden. ".repeat(4096)).unwrap();
    let file = format!("file={}", name(&source));
    let Some(server) = nbdkit(dir.path(), &folder, &["-r", "file", &file]) else { return };
    let seen = server.recorded(dir.path(), Duration::ZERO);
    let address = secured(&seen.address(""), &folder);
    let plan = haul().args(["copy", "--dry-run", "--json", &address, name(&back)]).assert().success();
    let plan: serde_json::Value = serde_json::from_slice(&plan.get_output().stdout).unwrap();
    assert_eq!(plan["source"]["export"]["tls"], "TLS 1.3");
    haul().args(["copy", "-q", &address, name(&back)]).assert().success();
    cmp(&source, &back);
    let seen = seen.bytes();
    assert!(seen.len() > 4096 * 34, "{} bytes", seen.len());
    assert!(!seen.windows(8).any(|bytes| bytes == b"sentence"), "data crossed unencrypted");
}

#[test]
fn a_write_that_is_encrypted_but_does_not_fit_the_socket_is_sent_to_its_end() {
    let dir = scratch();
    let (source, stored) = (dir.path().join("source"), dir.path().join("stored"));
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    // Less than what is encrypted at a time, and more than the socket holds.
    write_noise(&source, 248 << 10, 6);
    fs::File::create(&stored).unwrap().set_len(248 << 10).unwrap();
    let file = format!("file={}", name(&stored));
    let Some(server) = nbdkit(dir.path(), &folder, &["file", &file]) else { return };
    let slow = server.recorded(dir.path(), Duration::from_millis(50));
    let address = secured(&slow.address(""), &folder);
    for engine in engines() {
        let options = ["copy", "-q", "--yes", "--restart", "--block-size", "248K", "--depth", "1", "--engine", engine];
        let mut command = haul();
        command.timeout(Duration::from_secs(120)).args(options).args([name(&source), &address]).assert().success();
        cmp(&source, &stored);
    }
}

#[test]
fn a_server_whose_certificate_does_not_verify_is_refused_with_advice() {
    let dir = scratch();
    let back = dir.path().join("back");
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    let other = certificates(dir.path(), "other").expect("openssl is there");
    let Some(server) = nbdkit(dir.path(), &folder, &["memory", "1M"]) else { return };
    let address = secured(&server.address(""), &folder);
    let messages = refused(&secured(&server.address(""), &other), &back);
    assert!(messages.contains("does not verify") && messages.contains("tls-certificates=FOLDER"), "{messages}");
    let messages = refused(&format!("{address}&tls-hostname=other.example"), &back);
    assert!(messages.contains("other.example does not verify"), "{messages}");
    // Without a folder the roots of the system count.
    let messages = refused(&server.address("").replacen("nbd", "nbds", 1), &back);
    assert!(messages.contains("does not verify") || messages.contains("no root certificates"), "{messages}");
    let messages = refused(&secured(&server.address(""), &dir.path().join("missing")), &back);
    assert!(messages.contains("ca-cert.pem") && messages.contains("Check the certificate files"), "{messages}");
    let trusted = folder.join("ca-cert.pem");
    let by_system = server.address("").replacen("nbd", "nbds", 1);
    haul().env("SSL_CERT_FILE", &trusted).args(["copy", "-q", &by_system, name(&back)]).assert().success();
}

#[test]
fn tls_is_used_exactly_where_the_address_asks_for_it() {
    let dir = scratch();
    let back = dir.path().join("back");
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    let Some(required) = nbdkit(dir.path(), &folder, &["memory", "1M"]) else { return };
    let messages = refused(&required.address(""), &back);
    assert!(messages.contains("requires TLS") && messages.contains("nbds:"), "{messages}");
    let plain = NbdServer::nbdkit(dir.path(), &["memory", "1M"]).expect("nbdkit is there");
    let messages = refused(&secured(&plain.address(""), &folder), &back);
    assert!(messages.contains("does not offer TLS"), "{messages}");
}

#[test]
fn a_server_that_verifies_its_clients_gets_the_certificate_in_the_folder() {
    let dir = scratch();
    let back = dir.path().join("back");
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    let Some(server) = nbdkit(dir.path(), &folder, &["--tls-verify-peer", "memory", "1M"]) else { return };
    haul().args(["copy", "-q", &secured(&server.address(""), &folder), name(&back)]).assert().success();
    fs::remove_file(&back).unwrap();
    let without = dir.path().join("without");
    fs::create_dir(&without).unwrap();
    fs::copy(folder.join("ca-cert.pem"), without.join("ca-cert.pem")).unwrap();
    let messages = refused(&secured(&server.address(""), &without), &back);
    assert!(messages.contains("NBD server"), "{messages}");
}

#[test]
fn a_source_with_tls_whose_connections_break_is_read_on_when_they_are_back() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    let Some(folder) = certificates(dir.path(), "certificates") else { return };
    write_noise(&source, 12 * MIB, 3);
    let file = format!("file={}", name(&source));
    // With more threads nbdkit 1.32 fails an assertion when a connection breaks.
    let Some(server) = nbdkit(dir.path(), &folder, &["-t", "1", "-r", "file", &file]) else { return };
    let after = |number| (number % 2 == 1).then_some(1_500_001);
    let breaking = Breaking::new(dir.path(), &server, Way::FromServer, after);
    let address = secured(&breaking.address(""), &folder);
    let messages = stderr(&haul().args(["copy", "-v", &address, name(&back)]).assert().success());
    assert!(messages.contains("that were lost and restored"), "{messages}");
    cmp(&source, &back);
}
