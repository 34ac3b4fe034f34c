//! Messages to the server.

use alloc::vec::Vec;

use crate::sql::Login;

/// What the server takes at most in one message; it would end the connection over a longer one.
const MESSAGE_BYTES_MAX: usize = (1 << 30) - 1;
/// Values of one statement that can be counted.
const VALUES_MAX: usize = u16::MAX as usize;
/// What the rest of a message takes besides its one long text.
const AROUND_BYTES: usize = 64;
/// Bytes of a copy that go into one message.
const COPY_BYTES: usize = 1 << 20;
/// Memory for messages is given back above this size.
const CAPACITY_MAX: usize = 1 << 20;

const PROTOCOL_3_0: u32 = 3 << 16;
const TLS_CODE: u32 = 80_877_103;
const CANCEL_CODE: u32 = 80_877_102;

/// Says good-bye.
pub(super) const TERMINATE: [u8; 5] = *b"X\0\0\0\x04";

/// A message would be longer than the server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Bytes of the text with which the names of a session's statements begin.
const PREFIX_BYTES: usize = 11;

/// The text with which the names of a session's statements begin.
///
/// A pooler may hand a server connection from one session to another, and a statement that was prepared there stays. With names
/// of its own, a session cannot execute the statement of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamePrefix([u8; PREFIX_BYTES]);

impl NamePrefix {
    /// Bytes of a nonce that a prefix is made from.
    const NONCE_BYTES: usize = 5;

    /// `P_`, eight characters for the first 40 bits of the nonce, and `_`.
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

/// Messages that are to be sent.
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    names: NamePrefix,
}

impl Outgoing {
    /// No message yet. Names of statements begin with `names`.
    pub(super) fn new(names: NamePrefix) -> Self {
        Self { bytes: Vec::new(), names }
    }

    /// Names statements as `other` does.
    pub(super) fn take_names_of(&mut self, other: &Self) {
        self.names = other.names;
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > CAPACITY_MAX {
            self.bytes.shrink_to(CAPACITY_MAX);
        }
    }

    pub(super) fn wish_for_tls(&mut self) {
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
            // A name of no length would end the list.
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

    pub(super) fn sasl_begin(&mut self, mechanism: &str, first: &str) {
        self.message(b'p', |bytes| {
            push_text(bytes, mechanism.as_bytes());
            bytes.extend_from_slice(&(first.len() as u32).to_be_bytes());
            bytes.extend_from_slice(first.as_bytes());
        });
    }

    pub(super) fn sasl_go_on(&mut self, answer: &str) {
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

    /// A statement with a number gets a name; without one it is the unnamed statement.
    pub(super) fn parse(&mut self, number: Option<u16>, text: &str) -> Result<(), TooLong> {
        fits(text.len())?;
        let names = self.names;
        self.message(b'P', |bytes| {
            push_name(bytes, names, number);
            bytes.extend_from_slice(text.as_bytes());
            // The server finds the types of the values by itself.
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

    /// Values and results are texts. What was written stays there if it is too long.
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

    pub(super) fn copy_bytes(&mut self, copied: &[u8]) {
        for piece in copied.chunks(COPY_BYTES) {
            self.message(b'd', |bytes| bytes.extend_from_slice(piece));
        }
    }

    pub(super) fn copy_end(&mut self) {
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

const FITS_BYTES_MAX: usize = MESSAGE_BYTES_MAX - AROUND_BYTES;

/// Whether a text can be sent.
pub(super) fn fits(text_bytes: usize) -> Result<(), TooLong> {
    if text_bytes > FITS_BYTES_MAX { Err(TooLong) } else { Ok(()) }
}

/// A text with its end; it ends before a zero, which would let its rest pass for something else.
fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend(text.iter().take_while(|byte| **byte != 0));
    bytes.push(0);
}

/// The name of a statement, such as `P_k3wq7zab_12`; none for the unnamed statement.
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

/// What ends the statement of another connection, sent over a connection of its own.
pub(super) fn cancel([process, secret]: [[u8; 4]; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let parts = [16u32.to_be_bytes(), CANCEL_CODE.to_be_bytes(), process, secret];
    bytes.as_chunks_mut().0.copy_from_slice(&parts);
    bytes
}
