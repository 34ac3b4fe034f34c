//! Consent of the owner of a public server to a load, and the highest rate that it allows.
//!
//! An owner consents by a file on the server: `/.well-known/tenbin-TOKEN`, with a line such as `max-rate: 200/s`. The file is
//! requested before each run, from the address under load: over the scheme and port of the load for HTTP, over ports 443 and 80 for
//! databases. Redirects are not followed.

use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use engine::{BlockingConnection, Endpoint, Peer, TlsPeer, TlsTrust};
use load::{Load, Order, Scenarios};
use plan::{Plan, units};
use ring::rand::{SecureRandom, SystemRandom};
use wire::step::requests;

use crate::resolve;

/// Maximum length of an answer; longer ones are rejected.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
/// Timeout for connecting, and for each read.
const TIMEOUT: Duration = Duration::from_secs(5);
const TOKEN_BYTES: usize = 16;

/// Policy for public addresses.
#[derive(Clone, Debug, Default)]
pub enum PublicLoads {
    /// Public addresses may not be loaded.
    #[default]
    Refused,
    /// Public addresses may be loaded if they serve the file of this token.
    WithConsent(OwnerToken),
}

/// Token that identifies one user of Tenbin, so that a server's consent covers no other user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerToken(String);

impl OwnerToken {
    /// Reads the token from a file, or creates the file with a new token.
    ///
    /// # Errors
    ///
    /// The file cannot be read or created, or has other content.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Self::read(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::create(path),
            Err(error) => Err(error),
        }
    }

    fn read(text: &str) -> io::Result<Self> {
        let token = text.trim();
        let is_token = token.len() == 2 * TOKEN_BYTES && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        let wrong =
            || io::Error::new(io::ErrorKind::InvalidData, "it holds no token; delete it for a new one");
        is_token.then(|| Self(token.to_owned())).ok_or_else(wrong)
    }

    fn create(path: &Path) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random bytes"))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{token}")?;
        Ok(Self(token))
    }

    /// Path of the file through which an owner consents.
    fn path(&self) -> String {
        format!("/.well-known/tenbin-{}", self.0)
    }
}

/// Reason why a public server may not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConsentError {
    /// The server does not serve the file.
    #[error(
        "the owner of {host} has not agreed to this load: {url}: {reason}\n  help: if the server is yours, let it serve this path with the \
         text `max-rate: 200/s`, or the rate that it may get"
    )]
    Missing {
        /// Name of the server.
        host: String,
        /// URL of the file.
        url: String,
        /// Answer instead of the file.
        reason: String,
    },
    /// The rate of the load is above the allowed one.
    #[error(
        "the owner of {host} allows at most {max_rate}, and this load reaches {rate} requests\n  help: use a lower rate"
    )]
    TooFast {
        /// Name of the server.
        host: String,
        /// Rate in the file.
        max_rate: String,
        /// Highest rate of the load.
        rate: String,
    },
    /// The load is closed, so it has no rate.
    #[error(
        "the owner of {host} allows at most {max_rate}, and a closed load has no limit\n  help: use an open load of at most that rate: \
         --rate, or rate in a plan"
    )]
    NoRate {
        /// Name of the server.
        host: String,
        /// Rate in the file.
        max_rate: String,
    },
}

/// Peers of a plan, and their resolved addresses.
pub(crate) struct Target<'a> {
    /// Entry for each address, or a single entry for all of them.
    pub(crate) peers: Vec<plan::Peer>,
    pub(crate) resolved: &'a Peer,
    /// Whether to request the file from the server itself, instead of the web server on its host.
    pub(crate) serves_web: bool,
}

/// Requests the consent of every public server of a load, and compares the load with the allowed rate.
pub(crate) fn check(plan: &Plan, targets: &[Target<'_>], token: &OwnerToken) -> Result<(), ConsentError> {
    for target in targets {
        for (number, endpoint) in target.resolved.endpoints.iter().enumerate() {
            // The endpoints are one server with several addresses, or one server for each address.
            let peer = target.peers.get(number).or(target.peers.first());
            let (Some(peer), Endpoint::Tcp(address)) = (peer, endpoint) else { continue };
            if !resolve::is_public(address.ip()) {
                continue;
            }
            let max_rate_per_s = match target.serves_web {
                true => ask(peer, *address, target.resolved.at(number).tls, token)?,
                false => ask_web_server(peer, *address, token)?,
            };
            compare(plan, &peer.host, max_rate_per_s)?;
        }
    }
    Ok(())
}

/// Compares a load with the allowed rate. A closed load may send no more requests in total than the rate allows per second, because the
/// speed of its answers is unknown.
fn compare(plan: &Plan, host: &str, max_rate_per_s: f64) -> Result<(), ConsentError> {
    let (host, max_rate) = (host.to_owned(), units::show_rate(max_rate_per_s));
    match &plan.load {
        Load::Open(open) => {
            let rate_per_s = open.schedule.peak_per_s() * requests_of_an_iteration(&plan.scenarios);
            let rate = units::show_rate(rate_per_s);
            if rate_per_s <= max_rate_per_s {
                Ok(())
            } else {
                Err(ConsentError::TooFast { host, max_rate, rate })
            }
        }
        Load::Closed(_) if plan.stop.requests.is_some_and(|count| count as f64 <= max_rate_per_s) => Ok(()),
        Load::Closed(_) => Err(ConsentError::NoRate { host, max_rate }),
    }
}

/// Mean number of requests of an iteration, for rates that count iterations.
fn requests_of_an_iteration(scenarios: &Scenarios) -> f64 {
    let requests = |order: &Order| match order {
        Order::InTurn(visits) => visits.len() as f64,
        Order::Mix(_) => 1.0,
    };
    let shares: f64 = scenarios.list.iter().map(|scenario| scenario.share).sum();
    let weighed: f64 = scenarios.list.iter().map(|scenario| scenario.share * requests(&scenario.order)).sum();
    if shares > 0.0 { weighed / shares } else { 1.0 }
}

/// Requests the file from the web server on the host of a database.
fn ask_web_server(peer: &plan::Peer, address: SocketAddr, token: &OwnerToken) -> Result<f64, ConsentError> {
    let at = |port| (plan::Peer { port, ..peer.clone() }, SocketAddr::new(address.ip(), port));
    let (secure_peer, secure_address) = at(443);
    if let Ok(tls) = TlsPeer::new(&peer.host, &TlsTrust::System)
        && let tls = tls.with_alpn(wire::step::requests().alpn)
        && let Ok(max_rate_per_s) = ask(&secure_peer, secure_address, Some(tls), token)
    {
        return Ok(max_rate_per_s);
    }
    let (peer, address) = at(80);
    ask(&peer, address, None, token)
}

/// Requests the file, and returns its rate.
fn ask(
    peer: &plan::Peer,
    address: SocketAddr,
    tls: Option<TlsPeer>,
    token: &OwnerToken,
) -> Result<f64, ConsentError> {
    let mut schemes = requests().schemes.iter().filter(|scheme| scheme.is_secure == tls.is_some());
    let (scheme, path) = (schemes.next().map_or("", |scheme| scheme.name), token.path());
    let host = if peer.host.contains(':') { format!("[{}]", peer.host) } else { peer.host.clone() };
    let authority = format!("{host}:{}", peer.port);
    let missing = |reason| ConsentError::Missing {
        host: peer.host.clone(),
        url: format!("{scheme}://{authority}{path}"),
        reason,
    };
    // A reply to HTTP/1.0 has no chunks, and ends with its connection.
    let request = format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\nUser-Agent: tenbin\r\n\r\n");
    let answer = fetch(&Peer::of(Endpoint::Tcp(address), tls), request.as_bytes()).map_err(missing)?;
    max_rate_per_s(&answer).map_err(missing)
}

fn fetch(peer: &Peer, request: &[u8]) -> Result<Vec<u8>, String> {
    let mut line = BlockingConnection::open(peer, TIMEOUT).map_err(|error| error.to_string())?;
    line.write_all(request).map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        match line.read(&mut part) {
            Ok(0) => return Ok(answer),
            Ok(count) => answer.extend_from_slice(&part[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                return Err(format!("no whole answer within {TIMEOUT:?}"));
            }
            Err(error) => return Err(error.to_string()),
        }
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(format!("the answer has more than {ANSWER_BYTES_MAX} bytes"));
        }
        if line.age() > 2 * TIMEOUT {
            return Err("the answer takes too long".to_owned());
        }
    }
}

/// Rate in an answer with status 200 and a line `max-rate: RATE` in its body.
fn max_rate_per_s(answer: &[u8]) -> Result<f64, String> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or("the answer is none of HTTP")?;
    let mut status_line = head.lines().next().unwrap_or_default().split(' ');
    let has_version = status_line.next().is_some_and(|version| version.starts_with("HTTP/1."));
    match status_line.next() {
        Some("200") if has_version => {}
        Some(status) if has_version => return Err(format!("status {}", status.escape_debug())),
        _ => return Err("the answer is none of HTTP".to_owned()),
    }
    let rate = body.lines().find_map(|line| line.trim().strip_prefix("max-rate:"));
    let rate = rate.ok_or("the text has no line such as `max-rate: 200/s`")?.trim();
    if !rate.contains('/') {
        return Err(format!("max-rate has no unit: {}; write one such as 200/s", rate.escape_debug()));
    }
    units::rate_per_s(rate).map_err(|error| error.escape_debug().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_stable_unique_and_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/owner-token");
        let token = OwnerToken::from_file(&path).unwrap();
        assert_eq!(OwnerToken::from_file(&path).unwrap(), token);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(token.path().len(), "/.well-known/tenbin-".len() + 32);
        let other = OwnerToken::from_file(&folder.path().join("other")).unwrap();
        assert_ne!(other, token);
        fs::write(&path, "../../admin").unwrap();
        assert_eq!(OwnerToken::from_file(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn reads_rate_only_from_a_valid_consent_file() {
        let answer = |status: &str, body: &str| format!("HTTP/1.1 {status}\r\nServer: a\r\n\r\n{body}");
        let rate = |status, body| max_rate_per_s(answer(status, body).as_bytes());
        assert_eq!(rate("200 OK", "max-rate: 200/s\n"), Ok(200.0));
        assert_eq!(rate("200 OK", "# for us\r\n  max-rate:  600/min \r\n"), Ok(10.0));
        assert_eq!(rate("404 Not Found", "max-rate: 200/s"), Err("status 404".to_owned()));
        assert_eq!(rate("302 Found", "max-rate: 200/s"), Err("status 302".to_owned()));
        assert!(rate("200 OK", "<html>max-rate: 200/s").is_err(), "not at the beginning of a line");
        assert!(rate("200 OK", "max-rate: 200").unwrap_err().contains("no unit"));
        assert!(rate("200 OK", "max-rate: -1/s").is_err());
        assert!(rate("200 OK", "max-rate: nan/s").is_err());
        assert!(rate("200 OK", "").is_err());
        for hostile in ["", "\r\n\r\n", "SSH-2.0 200\r\n\r\nmax-rate: 1/s", "HTTP/1.1 \u{1b}[2J\r\n\r\n"] {
            let error = max_rate_per_s(hostile.as_bytes()).unwrap_err();
            assert!(!error.contains('\u{1b}'), "{error:?}");
        }
    }
}
