//! Packets of a MySQL server.

use std::sync::Arc;

use wire::Greeting;
use wire::mysql::Session;
use wire::sql::{Login, Secret, Session as _};

/// Capabilities of MySQL 8 that the tests need.
pub(crate) const MYSQL_8: u64 = 0x01ff_ffff & !TLS;
/// Capabilities of MariaDB 10.6: without bit 0, and with cached column definitions.
pub(crate) const MARIADB: u64 = (1 << 36) | MYSQL_8 & !1;
/// Capabilities of a server that ends rows with EOF packets.
pub(crate) const OLD: u64 = MYSQL_8 & !(1 << 24);
/// Capability of TLS.
pub(crate) const TLS: u64 = 1 << 11;

pub(crate) const SUCCESS: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

/// Encodes packets with these contents, numbered from `first`.
pub(crate) fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, payload) in payloads.iter().enumerate() {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        bytes.extend_from_slice(&[a, b, c, first.wrapping_add(number as u8)]);
        bytes.extend_from_slice(payload);
    }
    bytes
}

/// Greeting of a server.
pub(crate) fn greeting(capabilities: u64, version: &str, plugin: &str, seed: &[u8]) -> Vec<u8> {
    let bits = capabilities.to_le_bytes();
    let mut payload = vec![10];
    payload.extend_from_slice(version.as_bytes());
    payload.extend_from_slice(&[0, 7, 0, 0, 0]);
    payload.extend_from_slice(&seed[..8]);
    payload.extend_from_slice(&[0, bits[0], bits[1], 45, 2, 0, bits[2], bits[3], seed.len() as u8 + 1]);
    payload.extend_from_slice(&[0; 6]);
    payload.extend_from_slice(&bits[4..]);
    payload.extend_from_slice(&seed[8..]);
    payload.push(0);
    payload.extend_from_slice(plugin.as_bytes());
    payload.push(0);
    packets(0, &[&payload])
}

/// Log-in parameters with this password.
pub(crate) fn login(password: &str) -> Login {
    Login { user: "me".to_owned(), password: Some(Secret(password.to_owned())), ..Login::default() }
}

/// A session that has logged in to a server with these capabilities.
pub(crate) fn logged_in(capabilities: u64) -> Session {
    let mut session = Session::new(Arc::new(login("secret")), [5; 18]).with_local_infile();
    assert_eq!(session.greet(), Greeting::Await);
    let hello = greeting(capabilities, "8.0.36", "mysql_native_password", b"12345678901234567890");
    assert_eq!(session.greeted(&hello), Ok((hello.len(), Greeting::Send)));
    let welcome = packets(2, &[SUCCESS]);
    assert_eq!(session.greeted(&welcome), Ok((welcome.len(), Greeting::Done)));
    session
}
