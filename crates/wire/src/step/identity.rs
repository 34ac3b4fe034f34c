//! Bytes that distinguish a step from others in the hash of a plan.

use alloc::format;
use alloc::vec::Vec;

use super::Step;

/// Returns the bytes for a step that does not implement [`Step::identity`]: its message, in a request whose method is the name of its
/// protocol, and its fingerprint. Hashes of plans stay comparable with those of versions that had no protocol-specific steps.
pub fn identity(step: &dyn Step, method: &str, host: &str, keep_alive: bool) -> Vec<u8> {
    let message = step.message();
    let (version, length) = (env!("CARGO_PKG_VERSION"), message.len());
    let close = if keep_alive { "" } else { "Connection: close\r\n" };
    let head = format!(
        "{method} / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: tenbin/{version}\r\nAccept: */*\r\nContent-Length: {length}\r\n{close}\r\n"
    );
    [head.as_bytes(), message, step.fingerprint().as_bytes()].concat()
}
