//! Fake MongoDB server for tests: answers a few commands with fixed documents, and is the primary of a replica set or not.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Timeout of all waits.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum length of a client message in tests.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Number of bytes of a message before the elements of its document.
const HEAD_BYTES: usize = 25;
const DOUBLE: u8 = 1;
const STRING: u8 = 2;
const DOCUMENT: u8 = 3;
const ARRAY: u8 = 4;
const BOOLEAN: u8 = 8;
const INT32: u8 = 16;
const INT64: u8 = 18;
/// ID of the cursor that a `find` leaves open.
const CURSOR: i64 = 77;

/// Server with fixed replies. Dropping it stops accepting connections.
///
/// - `hello` reports whether the server is the primary of the set.
/// - `insert` is answered with `n: 1`, or with an error if the server is not the primary.
/// - `find` returns one document and a cursor, and `getMore` two more documents.
/// - `fail` returns the error with the given code.
/// - Other commands succeed.
#[derive(Debug)]
pub struct FakeMongo {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    is_primary: AtomicBool,
    is_over: AtomicBool,
    calls: Mutex<BTreeMap<String, u64>>,
}

impl FakeMongo {
    /// Starts a server as the primary or a secondary of the set `rs0`.
    ///
    /// # Errors
    ///
    /// If no port is available.
    pub fn start(is_primary: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            is_primary: AtomicBool::new(is_primary),
            is_over: AtomicBool::new(false),
            calls: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let state = Arc::clone(&shared);
                // A disconnected client is not an error.
                thread::spawn(move || drop(serve(stream, &state)));
            }
        });
        Ok(Self { address, state })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL `mongodb://address/db`.
    pub fn url(&self) -> String {
        format!("mongodb://{}/db", self.address)
    }

    /// Makes the server the primary, or steps it down. Connections stay open.
    pub fn set_primary(&self, is_primary: bool) {
        self.state.is_primary.store(is_primary, Ordering::SeqCst);
    }

    /// Returns the number of commands with this name that succeeded.
    pub fn calls(&self, command: &str) -> u64 {
        let calls = self.state.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(command).copied().unwrap_or(0)
    }
}

impl Drop for FakeMongo {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, state: &State) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let bytes = u32::from_le_bytes(length) as usize;
        if !(HEAD_BYTES..=MESSAGE_BYTES_MAX).contains(&bytes) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut message = vec![0; bytes];
        message[..4].copy_from_slice(&length);
        stream.read_exact(&mut message[4..])?;
        let first = message.get(HEAD_BYTES + 1..).unwrap_or_default();
        let end = first.iter().position(|byte| *byte == 0).unwrap_or(first.len());
        let name = String::from_utf8_lossy(&first[..end]).into_owned();
        let value = first.get(end + 1..end + 5).unwrap_or(&[0; 4]);
        let code = i32::from_le_bytes([value[0], value[1], value[2], value[3]]);
        let document = answer(&name, code, state);
        let numbers = [document.len() as u32 + 21, 0];
        let mut reply: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        // Request ID, operation code, no flags, and a section of kind 0.
        reply.extend_from_slice(&message[4..8]);
        reply.extend_from_slice(&message[12..16]);
        reply.extend_from_slice(&[0; 5]);
        reply.extend_from_slice(&document);
        stream.write_all(&reply)?;
    }
}

/// Returns the reply document for a command.
fn answer(name: &str, code: i32, state: &State) -> Vec<u8> {
    let is_primary = state.is_primary.load(Ordering::SeqCst);
    let ok = element(DOUBLE, "ok", &1f64.to_le_bytes());
    let number = |name: &str, number: i32| element(INT32, name, &number.to_le_bytes());
    let failed = |code: i32, message: &str| {
        document(&[element(DOUBLE, "ok", &[0; 8]), text("errmsg", message), number("code", code)])
    };
    let cursor = |batch: &str, ids: &[i32], id: i64| {
        let one = |(place, id): (usize, &i32)| {
            element(DOCUMENT, &place.to_string(), &document(&[number("_id", *id), text("name", "Ann")]))
        };
        let items: Vec<Vec<u8>> = ids.iter().enumerate().map(one).collect();
        let id = element(INT64, "id", &id.to_le_bytes());
        element(
            DOCUMENT,
            "cursor",
            &document(&[element(ARRAY, batch, &document(&items)), id, text("ns", "db.c")]),
        )
    };
    let reply = match name {
        "hello" => document(&[
            element(BOOLEAN, "isWritablePrimary", &[u8::from(is_primary)]),
            text("setName", "rs0"),
            ok,
        ]),
        "insert" if !is_primary => return failed(10107, "not primary"),
        "insert" => document(&[number("n", 1), ok]),
        "find" => document(&[cursor("firstBatch", &[1], CURSOR), ok]),
        "getMore" => document(&[cursor("nextBatch", &[2, 3], 0), ok]),
        "fail" => return failed(code, "as asked"),
        _ => document(&[ok]),
    };
    let mut calls = state.calls.lock().unwrap_or_else(PoisonError::into_inner);
    *calls.entry(name.to_owned()).or_default() += 1;
    reply
}

fn document(elements: &[Vec<u8>]) -> Vec<u8> {
    let elements = elements.concat();
    [&(elements.len() as u32 + 5).to_le_bytes()[..], &elements, &[0]].concat()
}

fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind][..], name.as_bytes(), &[0], value].concat()
}

fn text(name: &str, value: &str) -> Vec<u8> {
    let length = (value.len() as u32 + 1).to_le_bytes();
    element(STRING, name, &[&length[..], value.as_bytes(), &[0]].concat())
}
