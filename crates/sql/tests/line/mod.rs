//! Conversation over a real connection, one call at a time.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sql::SqlConversation;
use wire::{Conversation as _, Greeting, Next, Progress, Reply};

/// Timeout of a reply, after which the test fails.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct TestClient {
    pub(crate) conversation: SqlConversation,
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl TestClient {
    pub(crate) fn open(conversation: SqlConversation, port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut line = Self { conversation, stream, bytes: Vec::new() };
        let mut greeting = line.conversation.greet();
        loop {
            match greeting {
                Greeting::Send => {
                    line.stream.write_all(line.conversation.outgoing()).unwrap();
                    greeting = Greeting::Await;
                }
                Greeting::Await => {
                    line.read();
                    let (used, next) = line.conversation.greeted(&line.bytes).unwrap();
                    line.bytes.drain(..used);
                    greeting = next;
                }
                Greeting::Secure => panic!("nobody asked for TLS"),
                Greeting::Done => return line,
            }
        }
    }

    fn read(&mut self) {
        if self.bytes.is_empty() {
            let mut bytes = [0; 65_536];
            let len = self.stream.read(&mut bytes).unwrap();
            assert!(len > 0, "the server closed the connection");
            self.bytes.extend_from_slice(&bytes[..len]);
        }
    }

    /// Sends the next request, and processes its reply. Returns what comes next.
    pub(crate) fn go(&mut self, next: &Next) -> Next {
        if *next == Next::Send {
            self.stream.write_all(self.conversation.outgoing()).unwrap();
        }
        loop {
            self.read();
            match self.conversation.received(&self.bytes).unwrap() {
                Progress::NeedMore => self.bytes.clear(),
                Progress::Replied { used, reply } => {
                    self.bytes.drain(..used);
                    return Next::Done(reply);
                }
                Progress::PartReplied { used, next, .. } => {
                    self.bytes.drain(..used);
                    return next;
                }
                Progress::Redirected { .. } => panic!("a database names no other peer"),
            }
        }
    }

    /// Runs a transaction to its end, from its beginning or from its current state.
    pub(crate) fn finish(&mut self, mut next: Next) -> Reply {
        for _ in 0..10_000 {
            match next {
                Next::Done(reply) => return reply,
                Next::Send | Next::Await => next = self.go(&next),
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not end");
    }

    pub(crate) fn transact(&mut self) -> Reply {
        let next = self.conversation.begin(0);
        self.finish(next)
    }
}
