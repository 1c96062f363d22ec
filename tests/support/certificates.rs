//! Certificates of a new authority, under the names that nbdkit and qemu-nbd look for.
use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes `ca-cert.pem`, the certificate of an authority, and two that it signed: `server-cert.pem` for localhost and
/// `client-cert.pem`, with `server-key.pem` and `client-key.pem`. Needs openssl.
pub fn make_certificates(dir: &Path) {
    let openssl = |arguments: &[&str]| {
        let output = Command::new("openssl").current_dir(dir).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["req", "-x509", "-days", "30", "-subj", "/CN=haul test", "-keyout", "ca-key.pem", "-out"];
    openssl(&[&authority[..], &["ca-cert.pem"], &key[..]].concat());
    fs::write(dir.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    for who in ["server", "client"] {
        let [certificate, private, request] = ["cert.pem", "key.pem", "request"].map(|what| format!("{who}-{what}"));
        openssl(&[&["req", "-subj", "/CN=localhost", "-keyout", &private, "-out", &request], &key[..]].concat());
        let sign = ["x509", "-req", "-days", "30", "-in", &request, "-CA", "ca-cert.pem", "-CAkey", "ca-key.pem"];
        openssl(&[&sign[..], &["-CAcreateserial", "-extfile", "names", "-out", &certificate]].concat());
    }
}
