//! Public servers are loaded only with the consent that they publish, and no faster than it allows.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{Home, Output, Started, number};

/// An environment variable makes the program treat this address as public.
const PUBLIC: &str = "127.0.0.9";

/// A server that serves one file. Any other request gets an empty reply.
struct Site {
    address: SocketAddr,
    /// Content of every path below `/.well-known/`.
    file: Arc<Mutex<Option<&'static str>>>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind((PUBLIC, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (file, paths) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
        let site = Self { address, file: Arc::clone(&file), paths: Arc::clone(&paths) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (file, paths) = (Arc::clone(&file), Arc::clone(&paths));
                thread::spawn(move || serve(&stream, &file, &paths));
            }
        });
        site
    }

    fn set_consent(&self, text: Option<&'static str>) {
        *self.file.lock().unwrap() = text;
    }

    /// Takes the paths that were requested since the last call.
    fn take_paths(&self) -> Vec<String> {
        std::mem::take(&mut self.paths.lock().unwrap())
    }

    fn load(&self, home: &Home, arguments: &[&str]) -> Output {
        let mut command = home.command(&[&format!("http://{}/page", self.address)]);
        command.args(arguments).env("TENBIN_TREAT_AS_PUBLIC", PUBLIC);
        Started::spawn(command).finish()
    }
}

fn serve(mut stream: &TcpStream, file: &Mutex<Option<&'static str>>, paths: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        if lines.find(String::is_empty).is_none() {
            return;
        }
        let is_asked = path.starts_with("/.well-known/");
        paths.lock().unwrap().push(path);
        let (status, text) = match *file.lock().unwrap() {
            _ if !is_asked => ("200 OK", ""),
            Some(text) => ("200 OK", text),
            None => ("404 Not Found", ""),
        };
        let length = text.len();
        if write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{text}").is_err() || is_asked
        {
            return;
        }
    }
}

#[test]
fn public_server_is_loaded_only_within_its_consent() {
    let (home, site) = (Home::new(), Site::start());
    let open = ["--allow-public", "-R", "40/s", "-d", "500ms"];

    let output = site.load(&home, &["-R", "40/s", "-d", "500ms"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("127.0.0.9 is a public address"), "{output:?}");
    assert_eq!(site.take_paths(), Vec::<String>::new());

    let output = site.load(&home, &open);
    assert_eq!(output.code, Some(1), "{output:?}");
    let asked = site.take_paths();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let path = &asked[0];
    assert!(path.starts_with("/.well-known/tenbin-") && output.stderr.contains(path.as_str()), "{output:?}");
    assert!(output.stderr.contains("status 404"), "{output:?}");

    site.set_consent(Some("max-rate: 40/s\n"));
    let output = site.load(&home, &open);
    assert!(matches!(output.code, Some(0 | 3)), "{output:?}");
    assert_eq!(number(&home.last(), "offered.sent"), 20);
    let paths = site.take_paths();
    assert_eq!(paths.iter().filter(|asked| *asked == path).count(), 1, "the token stays: {paths:?}");

    let output = site.load(&home, &["--allow-public", "-R", "50/s", "-d", "500ms"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("allows at most 40/s, and this load reaches 50/s"), "{output:?}");
    let output = site.load(&home, &["--allow-public", "-c", "1", "-d", "500ms"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("a closed load has no limit"), "{output:?}");

    site.set_consent(None);
    let output = site.load(&home, &open);
    assert!(output.stderr.contains("status 404"), "asked again before each load: {output:?}");
    let paths = site.take_paths();
    assert!(paths.iter().all(|asked| asked == path), "nothing else was sent: {paths:?}");
}

#[test]
fn consent_does_not_apply_to_link_local_addresses() {
    let home = Home::new();
    let mut command = home.command(&["http://169.254.169.254/", "--allow-public", "-R", "1/s", "-d", "1s"]);
    command.env("TENBIN_TREAT_AS_PUBLIC", "169.254.169.254");
    let output = Started::spawn(command).finish();
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("is a link-local address"), "{output:?}");
}
