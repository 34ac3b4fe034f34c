//! Handshake packets of server and client.

use alloc::string::String;
use alloc::vec::Vec;

use super::capabilities::Capabilities;
use super::fault::Fault;
use super::fields::Fields;
use super::outgoing::put_length_prefixed;
use super::plugin::Plugin;

/// Version of the handshake; the only one in use.
const VERSION: u8 = 10;
/// Prefix of MariaDB's version, for replicas that reject major versions of two digits.
const OLD_PREFIX: &str = "5.5.5-";
/// `utf8mb4_general_ci`, which every server has.
const COLLATION: u8 = 45;
/// Max packet size that the client announces. Servers hardly use it.
const PACKET_BYTES_MAX: u32 = 1 << 30;
const VERSION_BYTES_MAX: usize = 128;

/// Handshake packet of a server.
#[derive(Debug)]
pub(super) struct ServerGreeting {
    pub(super) version: String,
    pub(super) connection_id: u32,
    pub(super) capabilities: Capabilities,
    pub(super) plugin: Option<Plugin>,
    pub(super) seed: Vec<u8>,
}

impl ServerGreeting {
    pub(super) fn of(payload: &[u8]) -> Result<Self, Fault> {
        match payload.first() {
            Some(&VERSION) => Self::read(payload).ok_or(Fault::BadGreeting),
            Some(9) => Err(Fault::TooOld),
            _ => Err(Fault::NotMysql),
        }
    }

    fn read(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields::of(payload);
        fields.byte()?;
        let version = fields.null_terminated()?;
        let version = String::from_utf8_lossy(&version[..version.len().min(VERSION_BYTES_MAX)]);
        let version = String::from(version.strip_prefix(OLD_PREFIX).unwrap_or(&version));
        let connection_id = fields.u32_le()?;
        let mut seed = fields.bytes(8)?.to_vec();
        fields.byte()?;
        let lowest = fields.u16_le()?;
        if fields.is_at_end() {
            let capabilities = Capabilities(u64::from(lowest));
            return Some(Self { version, connection_id, capabilities, plugin: None, seed });
        }
        let (_collation, _status, low) = (fields.byte()?, fields.u16_le()?, fields.u16_le()?);
        let seed_bytes = usize::from(fields.byte()?);
        let _filler = fields.bytes(6)?;
        let high = fields.u32_le()?;
        let mut capabilities = Capabilities(u64::from(lowest) | u64::from(low) << 16);
        if !capabilities.has(Capabilities::MYSQL) {
            capabilities = Capabilities(capabilities.0 | u64::from(high) << 32);
        }
        let rest_bytes = seed_bytes.saturating_sub(8).max(13).min(fields.rest().len());
        let rest = fields.bytes(rest_bytes)?;
        seed.extend_from_slice(rest.strip_suffix(&[0]).unwrap_or(rest));
        // Old servers omit the zero after the name.
        let name = fields.null_terminated().unwrap_or_else(|| fields.rest());
        Some(Self { version, connection_id, capabilities, plugin: Plugin::named(name), seed })
    }
}

/// Handshake response of the client.
#[derive(Debug)]
pub(super) struct ClientGreeting<'a> {
    pub(super) capabilities: Capabilities,
    pub(super) user: &'a str,
    pub(super) database: Option<&'a str>,
    pub(super) plugin: Plugin,
    pub(super) answer: &'a [u8],
}

/// Writes the TLS request, which is the beginning of the packet of [`write`].
pub(super) fn write_tls_request(out: &mut Vec<u8>, capabilities: Capabilities) {
    out.extend_from_slice(&capabilities.lower());
    out.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    out.push(COLLATION);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&capabilities.upper());
}

/// Writes the handshake response, with the user and the response to the challenge.
pub(super) fn write(out: &mut Vec<u8>, greeting: &ClientGreeting<'_>) {
    let capabilities = greeting.capabilities;
    write_tls_request(out, capabilities);
    put_zero_terminated(out, greeting.user);
    if capabilities.has(Capabilities::LONG_PLUGIN_ANSWER) {
        put_length_prefixed(out, greeting.answer);
    } else {
        // If the capability is missing, only scrambles of up to 64 bytes are sent.
        out.push(greeting.answer.len() as u8);
        out.extend_from_slice(greeting.answer);
    }
    if let Some(database) = greeting.database
        && capabilities.has(Capabilities::CONNECT_WITH_DB)
    {
        put_zero_terminated(out, database);
    }
    if capabilities.has(Capabilities::PLUGIN_AUTH) {
        put_zero_terminated(out, greeting.plugin.name());
    }
    if capabilities.has(Capabilities::CONNECT_ATTRIBUTES) {
        let mut attributes = Vec::new();
        for text in ["_client_name", "tenbin", "program_name", "tenbin"] {
            put_length_prefixed(&mut attributes, text.as_bytes());
        }
        put_length_prefixed(out, &attributes);
    }
}

/// Writes a text up to its first zero, because bytes after a zero would be parsed as another field.
fn put_zero_terminated(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().take_while(|byte| *byte != 0));
    out.push(0);
}
