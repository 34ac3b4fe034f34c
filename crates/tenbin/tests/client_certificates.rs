//! Servers that request a client certificate, and loads that present one.

use std::fs;

use harness::quiet::assert_measured;

use crate::support::{Home, number};
use crate::tls::{Authority, Identity, TlsServer};

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Server that trusts an authority, and the files that its clients need.
struct Scene {
    home: Home,
    authority: Authority,
    server: TlsServer,
    client: Identity,
}

impl Scene {
    fn new(version: &'static rustls::SupportedProtocolVersion, is_optional: bool) -> Self {
        let authority = Authority::new("an authority for both sides");
        let identity = authority.sign(&["127.0.0.1"], |_| ());
        let server = TlsServer::requiring_client_certificate(
            &identity,
            version,
            &authority,
            is_optional,
            REPLY.to_vec(),
        );
        let client = authority.sign(&["client.test"], |_| ());
        Self { home: Home::new(), authority, server, client }
    }

    fn url(&self) -> String {
        format!("https://{}/", self.server.address())
    }

    /// Arguments of a load, with these flags of a certificate.
    fn arguments(&self, flags: &[&str]) -> Vec<String> {
        let cacert = path(&self.authority.path());
        let load = ["--cacert", cacert.as_str(), "-n", "20", "-c", "2", "--no-keepalive"];
        [&[self.url().as_str()][..], &load, flags].concat().iter().map(|&text| text.to_owned()).collect()
    }
}

fn path(path: &std::path::Path) -> String {
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn client_certificate_is_presented_on_every_connection() {
    assert_measured(|| {
        for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
            let scene = Scene::new(version, false);
            let (cert, key) = (scene.client.file(), scene.client.key_file());
            let flags = ["--cert", &path(cert.path()), "--key", &path(key.path())];
            let run = scene.home.json(&scene.arguments(&flags));
            assert_eq!(number(&run, "outcomes.ok"), 20, "{}", run["errors"]);
            let both = scene.client.file_of_both();
            let run = scene.home.json(&scene.arguments(&["--cert", &path(both.path())]));
            assert_eq!(number(&run, "outcomes.ok"), 20, "{}", run["errors"]);
            assert_not_kept(&scene.home, &fs::read_to_string(key.path()).expect("a key"));
        }
    });
}

/// Asserts that no file of the store contains a line of the private key.
fn assert_not_kept(home: &Home, key: &str) {
    let line = key.lines().nth(1).expect("a line of the key").as_bytes();
    for entry in fs::read_dir(home.path()).expect("a folder") {
        let bytes = fs::read(entry.expect("an entry").path()).unwrap_or_default();
        assert!(!bytes.windows(line.len()).any(|window| window == line), "the key is stored");
    }
}

#[test]
fn missing_or_foreign_certificate_is_reported_before_the_load() {
    for version in [&rustls::version::TLS13, &rustls::version::TLS12] {
        let scene = Scene::new(version, false);
        let output = scene.home.run(&scene.arguments(&[]));
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.contains("--cert FILE --key FILE"), "{output:?}");
        let foreign = Authority::new("somebody else").sign(&["client.test"], |_| ()).file_of_both();
        let output = scene.home.run(&scene.arguments(&["--cert", &path(foreign.path())]));
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        assert!(output.stderr.contains("present a client certificate that the server accepts"), "{output:?}");
    }
}

#[test]
fn server_that_requests_an_optional_certificate_is_loaded_and_noted() {
    let scene = Scene::new(&rustls::version::TLS13, true);
    let output = scene.home.run(&scene.arguments(&[]));
    assert_eq!(output.code, Some(0), "{output:?}");
    let words: String = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("asked for a client certificate, and was shown none"), "{output:?}");
}

#[test]
fn unusable_certificate_files_are_reported() {
    let scene = Scene::new(&rustls::version::TLS13, false);
    let (cert, key) = (scene.client.file(), scene.client.key_file());
    let other = scene.authority.sign(&["other.test"], |_| ()).key_file();
    let encrypted = tempfile::NamedTempFile::new().expect("a file");
    let text = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    fs::write(encrypted.path(), text).expect("written");
    let [cert, key, other, encrypted] = [cert.path(), key.path(), other.path(), encrypted.path()].map(path);
    for (flags, said) in [
        (&["--cert", &cert][..], format!("error: {cert} has no private key")),
        (&["--key", &key], "error: --key: it requires a client certificate".to_owned()),
        (&["--cert", &key], format!("error: {key} has no PEM certificate")),
        (&["--cert", "none.pem"], "error: none.pem has no PEM certificate".to_owned()),
        (&["--cert", &cert, "--key", &other], format!("error: the private key in {other} does not match")),
        (
            &["--cert", &cert, "--key", &encrypted],
            format!("error: the private key in {encrypted} is encrypted"),
        ),
    ] {
        let output = scene.home.run(&scene.arguments(flags));
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output:?}");
        assert!(
            output.stderr.starts_with(&said) && output.stderr.contains("\n  help: "),
            "{said}: {output:?}"
        );
    }
    assert_eq!(scene.server.connections(), 0);
}

#[test]
fn plans_and_two_urls_present_the_certificate() {
    let (scene, second) =
        (Scene::new(&rustls::version::TLS13, false), Scene::new(&rustls::version::TLS13, false));
    let both = scene.client.file_of_both();
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, requests: 5 }}\nurl: {}\ncacert: {}\ncert: {}\n",
        scene.url().trim_end_matches('/'),
        path(&scene.authority.path()),
        path(both.path())
    );
    fs::write(scene.home.path().join("plan.yaml"), plan).expect("written");
    let study = scene.home.json(&["plan.yaml"]);
    assert_eq!(number(&study["runs"][0], "outcomes.ok"), 5, "{study}");

    // The second server trusts another authority: its clients are rejected, and its certificate is not verified.
    let flags = ["-k", "--cert", &path(both.path()), "-n", "5", "-c", "1", "--blocks", "2", "--warm-up", "0"];
    let output =
        scene.home.run(&[&[scene.url().as_str(), &second.url(), "--format", "json"][..], &flags].concat());
    let study = output.json();
    let runs = study["runs"].as_array().expect("a list");
    let ok = |name: &str| -> u64 {
        let of_it = runs.iter().filter(|run| run["place"]["system"] == name);
        of_it.map(|run| number(run, "outcomes.ok")).sum()
    };
    assert!(ok(&scene.server.address().to_string()) > 0, "{output:?}");
    assert_eq!(ok(&second.server.address().to_string()), 0, "{output:?}");
}
