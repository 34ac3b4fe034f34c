//! Encoding of messages to the server.

use alloc::vec::Vec;

use crate::sql::Login;

/// Max length of a message; the server would close the connection over a longer one.
const MESSAGE_BYTES_MAX: usize = (1 << 30) - 1;
/// Max values of one statement, limited by their 16-bit count.
const VALUES_MAX: usize = u16::MAX as usize;
/// Bytes reserved for the parts of a message around its one long text.
const OVERHEAD_BYTES: usize = 64;
/// Bytes of COPY data in one message.
const COPY_BYTES: usize = 1 << 20;
/// Max capacity of the buffer of messages.
const CAPACITY_MAX: usize = 1 << 20;

const PROTOCOL_3_0: u32 = 3 << 16;
const TLS_CODE: u32 = 80_877_103;
const CANCEL_CODE: u32 = 80_877_102;

/// Terminate message, which ends the session.
pub(super) const TERMINATE: [u8; 5] = *b"X\0\0\0\x04";

/// Error for a message that would be longer than the server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Length of a [`NamePrefix`] in bytes.
const PREFIX_BYTES: usize = 11;

/// Prefix of the names of a session's prepared statements.
///
/// A pooler may pass a server connection from one session to another, including its prepared statements. Each session has a different
/// prefix, so that it cannot execute the statement of another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamePrefix([u8; PREFIX_BYTES]);

impl NamePrefix {
    /// Bytes of the nonce that the prefix is derived from.
    const NONCE_BYTES: usize = 5;

    /// Creates the prefix: `P_`, eight characters for the first 40 bits of the nonce, and `_`.
    pub(super) fn new(nonce: &[u8]) -> Self {
        let mut bits = [0; 8];
        let first = &nonce[..nonce.len().min(Self::NONCE_BYTES)];
        bits[8 - first.len()..].copy_from_slice(first);
        let number = u64::from_be_bytes(bits);
        let mut prefix = *b"P__________";
        for (place, character) in prefix[2..10].iter_mut().enumerate() {
            *character = b"abcdefghijklmnopqrstuvwxyz234567"[(number >> (5 * place)) as usize & 31];
        }
        Self(prefix)
    }
}

/// Buffer of messages to send.
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    /// Rows to send when the server is ready for a COPY. `None` if the caller sends them.
    pub(super) copied: Option<Vec<u8>>,
    names: NamePrefix,
}

impl Outgoing {
    /// Creates an empty buffer. Names of statements begin with `names`.
    pub(super) fn new(names: NamePrefix) -> Self {
        Self { bytes: Vec::new(), copied: None, names }
    }

    /// Uses the name prefix of `other`.
    pub(super) fn use_names_of(&mut self, other: &Self) {
        self.names = other.names;
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > CAPACITY_MAX {
            self.bytes.shrink_to(CAPACITY_MAX);
        }
    }

    pub(super) fn request_tls(&mut self) {
        self.sized(|bytes| bytes.extend_from_slice(&TLS_CODE.to_be_bytes()));
    }

    pub(super) fn startup(&mut self, login: &Login) {
        let defaults = [("application_name", "tenbin"), ("client_encoding", "UTF8")];
        let is_set = |name: &str| login.settings.iter().any(|(set, _)| set == name);
        self.sized(|bytes| {
            bytes.extend_from_slice(&PROTOCOL_3_0.to_be_bytes());
            let mut pair = |name: &str, value: &str| {
                push_text(bytes, name.as_bytes());
                push_text(bytes, value.as_bytes());
            };
            pair("user", &login.user);
            if let Some(database) = &login.database {
                pair("database", database);
            }
            defaults.iter().filter(|(name, _)| !is_set(name)).for_each(|(name, value)| pair(name, value));
            // An empty name would end the list.
            login
                .settings
                .iter()
                .filter(|(name, _)| !name.is_empty())
                .for_each(|(name, value)| pair(name, value));
            bytes.push(0);
        });
    }

    pub(super) fn password(&mut self, password: &str) {
        self.message(b'p', |bytes| push_text(bytes, password.as_bytes()));
    }

    pub(super) fn sasl_initial_response(&mut self, mechanism: &str, first: &str) {
        self.message(b'p', |bytes| {
            push_text(bytes, mechanism.as_bytes());
            bytes.extend_from_slice(&(first.len() as u32).to_be_bytes());
            bytes.extend_from_slice(first.as_bytes());
        });
    }

    pub(super) fn sasl_response(&mut self, answer: &str) {
        self.message(b'p', |bytes| bytes.extend_from_slice(answer.as_bytes()));
    }

    pub(super) fn query(&mut self, text: &[u8]) -> Result<(), TooLong> {
        fits(text.len())?;
        self.message(b'Q', |bytes| {
            bytes.extend_from_slice(text);
            bytes.push(0);
        });
        Ok(())
    }

    /// Writes Parse for a named statement, or for the unnamed statement without a number.
    pub(super) fn parse(&mut self, number: Option<u16>, text: &str) -> Result<(), TooLong> {
        fits(text.len())?;
        let names = self.names;
        self.message(b'P', |bytes| {
            push_name(bytes, names, number);
            bytes.extend_from_slice(text.as_bytes());
            // The server infers the types of the values.
            bytes.extend_from_slice(&[0, 0, 0]);
        });
        Ok(())
    }

    pub(super) fn close_statement(&mut self, number: u16) {
        let names = self.names;
        self.message(b'C', |bytes| {
            bytes.push(b'S');
            push_name(bytes, names, Some(number));
        });
    }

    pub(super) fn describe_statement(&mut self, number: u16) {
        let names = self.names;
        self.message(b'D', |bytes| {
            bytes.push(b'S');
            push_name(bytes, names, Some(number));
        });
    }

    pub(super) fn describe_portal(&mut self) {
        self.bytes.extend_from_slice(b"D\0\0\0\x06P\0");
    }

    /// Writes Bind, with values and results in text form. If it returns [`TooLong`], a partial message stays in the buffer.
    #[inline]
    pub(super) fn bind(
        &mut self,
        number: Option<u16>,
        values: &mut dyn Iterator<Item = Option<&[u8]>>,
    ) -> Result<(), TooLong> {
        let (mut all_fit, names) = (Ok(()), self.names);
        self.message(b'B', |bytes| {
            let start = bytes.len();
            bytes.push(0);
            push_name(bytes, names, number);
            bytes.extend_from_slice(&[0, 0]);
            let count_at = bytes.len();
            bytes.extend_from_slice(&[0, 0]);
            let mut count = 0;
            for value in values {
                count += 1;
                if count > VALUES_MAX || bytes.len() - start + value.map_or(0, <[u8]>::len) > FITS_BYTES_MAX {
                    all_fit = Err(TooLong);
                    return;
                }
                match value {
                    None => bytes.extend_from_slice(&(-1i32).to_be_bytes()),
                    Some(value) => {
                        bytes.extend_from_slice(&(value.len() as u32).to_be_bytes());
                        bytes.extend_from_slice(value);
                    }
                }
            }
            bytes[count_at..count_at + 2].copy_from_slice(&(count as u16).to_be_bytes());
            bytes.extend_from_slice(&[0, 0]);
        });
        all_fit
    }

    #[inline]
    pub(super) fn execute(&mut self) {
        self.bytes.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
    }

    #[inline]
    pub(super) fn sync(&mut self) {
        self.bytes.extend_from_slice(b"S\0\0\0\x04");
    }

    pub(super) fn copy_data(&mut self, copied: &[u8]) {
        for piece in copied.chunks(COPY_BYTES) {
            self.message(b'd', |bytes| bytes.extend_from_slice(piece));
        }
    }

    pub(super) fn copy_done(&mut self) {
        self.message(b'c', |_| {});
    }

    pub(super) fn copy_fail(&mut self, reason: &str) {
        self.message(b'f', |bytes| push_text(bytes, reason.as_bytes()));
    }

    #[inline]
    fn message(&mut self, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(tag);
        self.sized(fill);
    }

    #[inline]
    fn sized(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        fill(&mut self.bytes);
        let length = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

const FITS_BYTES_MAX: usize = MESSAGE_BYTES_MAX - OVERHEAD_BYTES;

/// Checks that a text fits into a message.
pub(super) fn fits(text_bytes: usize) -> Result<(), TooLong> {
    if text_bytes > FITS_BYTES_MAX { Err(TooLong) } else { Ok(()) }
}

/// Writes a text with its terminating zero. The text ends before its first zero, because bytes after it would be parsed as another
/// field.
fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend(text.iter().take_while(|byte| **byte != 0));
    bytes.push(0);
}

/// Writes the name of a statement, such as `P_k3wq7zab_12`. Empty for the unnamed statement.
#[inline]
fn push_name(bytes: &mut Vec<u8>, NamePrefix(prefix): NamePrefix, number: Option<u16>) {
    if let Some(number) = number {
        bytes.extend_from_slice(&prefix);
        let mut digits = [0; 5];
        let (mut at, mut left) = (digits.len(), number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        bytes.extend_from_slice(&digits[at..]);
    }
    bytes.push(0);
}

/// Cancel request, which is sent on a separate connection.
pub(super) fn cancel([process, secret]: [[u8; 4]; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let parts = [16u32.to_be_bytes(), CANCEL_CODE.to_be_bytes(), process, secret];
    bytes.as_chunks_mut().0.copy_from_slice(&parts);
    bytes
}
