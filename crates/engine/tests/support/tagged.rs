//! Line protocol for tests whose links carry many exchanges, answered in any order. Each line begins with the tag of its exchange.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wire::{
    Channel, Channels, Closing, ErrorClass, Event, Greeting, Next, PeerFault, Rejection, Reply, Stage,
    Ticket, Values,
};

use super::acceptor::Acceptor;
use super::acts::fault;

/// Script whose steps each send one tagged line, over links that carry up to `room` exchanges.
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    pub(crate) room: u32,
    /// Whether the server first announces how many exchanges a link may carry.
    pub(crate) greets: bool,
}

impl Channels for Tagged {
    fn open(&self, _peer: u16, _number: u32) -> Box<dyn Channel> {
        Box::new(Link { greets: self.greets, room: self.room, ..Link::default() })
    }

    fn room(&self, _peer: u16) -> u32 {
        self.room
    }

    fn is_multiplexed(&self, _peer: u16) -> bool {
        true
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        true
    }

    fn inspects_replies(&self, _step: u16) -> bool {
        true
    }
}

#[derive(Debug, Default)]
struct Link {
    greets: bool,
    room: u32,
    /// Whether the server accepts no new exchanges.
    drains: bool,
    /// Tags in flight, with their tickets.
    asked: BTreeMap<u64, Ticket>,
    next_tag: u64,
    out: Vec<u8>,
    line: Vec<u8>,
    events: Vec<Event>,
    /// Value for variable 0 from the last reply, by ticket.
    saved: BTreeMap<Ticket, Vec<u8>>,
}

impl Link {
    fn take_line(&mut self) -> Result<(), PeerFault> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).unwrap_or_default();
        if line == "ping" {
            self.out.extend_from_slice(b"pong\n");
            return Ok(());
        }
        if let Some(last) = line.strip_prefix("bye ") {
            self.drains = true;
            let last: u64 = last.parse().map_err(|_| fault(ErrorClass::ProtocolError, &line))?;
            // The server has not processed later exchanges.
            for (_, ticket) in self.asked.split_off(&(last + 1)) {
                let fault = fault(ErrorClass::ServerShutdown, "the stream was not processed");
                self.events.push(Event::Failed { ticket, fault });
            }
            return Ok(());
        }
        let (tag, word) = line.split_once(' ').ok_or_else(|| fault(ErrorClass::ProtocolError, &line))?;
        let tag: u64 = tag.parse().map_err(|_| fault(ErrorClass::ProtocolError, &line))?;
        // Answers to abandoned exchanges are ignored.
        let Some(ticket) = self.asked.remove(&tag) else { return Ok(()) };
        if word == "reset" {
            let fault = fault(ErrorClass::LimitReached, "the stream was refused");
            self.events.push(Event::Failed { ticket, fault });
            return Ok(());
        }
        self.saved.insert(ticket, word.as_bytes().to_vec());
        let rejection = (word == "no").then_some(Rejection { class: ErrorClass::CheckBody, code: 1 });
        let reply = Reply {
            status: 1,
            rejection,
            reusable: true,
            idle_max_s: 0,
            received_bytes: line.len() as u64 + 1,
        };
        self.events.push(Event::Replied { ticket, reply });
        Ok(())
    }
}

impl Channel for Link {
    fn room(&self) -> u32 {
        if self.drains { 0 } else { self.room.saturating_sub(self.asked.len() as u32) }
    }

    fn must_drain(&self) -> bool {
        self.drains
    }

    fn greet(&mut self) -> Greeting {
        if self.greets { Greeting::Await } else { Greeting::Done }
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Ok((0, Greeting::Await));
        };
        if &bytes[..end] == b"ping" {
            self.out.extend_from_slice(b"pong\n");
            return Ok((end + 1, Greeting::Await));
        }
        if &bytes[..end] == b"bye" {
            self.drains = true;
            return Ok((end + 1, Greeting::Done));
        }
        let room = std::str::from_utf8(&bytes[..end]).ok().and_then(|room| room.parse().ok());
        self.room = room.ok_or_else(|| fault(ErrorClass::ProtocolError, "no room"))?;
        Ok((end + 1, Greeting::Done))
    }

    fn begin(&mut self, ticket: Ticket, step: u16, values: &Values) -> Next {
        assert!(self.room() > 0, "nothing begins without room");
        let tag = self.next_tag;
        self.next_tag += 1;
        self.asked.insert(tag, ticket);
        let value = String::from_utf8_lossy(values.get(0).unwrap_or(b"-")).into_owned();
        self.out.extend_from_slice(format!("{tag} {} {step} {value}\n", ticket.0).as_bytes());
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn sent(&mut self, count: usize) {
        self.out.drain(..count);
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault> {
        for byte in bytes {
            match byte {
                b'\n' => self.take_line()?,
                byte => self.line.push(*byte),
            }
        }
        let event = if self.events.is_empty() { None } else { Some(self.events.remove(0)) };
        Ok(event.map(|event| (bytes.len(), event)))
    }

    fn peer_closed(&mut self, ticket: Ticket) -> Closing {
        if self.asked.values().any(|asked| *asked == ticket) { Closing::Incomplete } else { Closing::Empty }
    }

    fn stage(&self, ticket: Ticket) -> Stage {
        if self.asked.values().any(|asked| *asked == ticket) { Stage::FirstByte } else { Stage::Idle }
    }

    fn explain(&self, rejection: Rejection) -> String {
        rejection.class.to_string()
    }

    fn saved(&mut self, ticket: Ticket, values: &mut Values) {
        if let Some(value) = self.saved.remove(&ticket) {
            values.set(0, &value);
        }
    }

    fn is_idle(&self) -> bool {
        self.asked.is_empty()
    }

    fn abandon(&mut self, ticket: Ticket) -> bool {
        self.asked.retain(|_, asked| *asked != ticket);
        true
    }

    fn forget(&mut self) {
        let (greets, room) = (self.greets, self.room);
        *self = Self { greets, room, ..Self::default() };
    }
}

/// Answers of a server to the lines received on a connection.
pub(crate) trait TaggedAnswers: Send + Sync + 'static {
    /// Takes lines to answer from `waiting`, which is in order of arrival, and returns the answers. `None` closes the connection.
    fn answer(&self, connection: usize, waiting: &mut Vec<Asked>) -> Option<String>;
}

impl<F> TaggedAnswers for F
where
    F: Fn(usize, &mut Vec<Asked>) -> Option<String> + Send + Sync + 'static,
{
    fn answer(&self, connection: usize, waiting: &mut Vec<Asked>) -> Option<String> {
        self(connection, waiting)
    }
}

/// Tag of an answer to a ping, which is not an exchange.
pub(crate) const PONG: u64 = u64::MAX;

/// Received line.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) tag: u64,
    pub(crate) user: u32,
    pub(crate) step: u16,
    pub(crate) value: String,
}

/// Running server of this protocol. Dropping it stops it.
pub(crate) struct TaggedServer {
    pub(crate) address: SocketAddr,
    /// Lines received, each with the number of its connection.
    pub(crate) asked: Arc<Mutex<Vec<(usize, Asked)>>>,
    pub(crate) most_in_flight: Arc<AtomicUsize>,
    _acceptor: Acceptor,
}

impl TaggedServer {
    /// Starts a server that calls `answers` every millisecond.
    pub(crate) fn start(greeting: &'static str, answers: impl TaggedAnswers) -> Self {
        let (asked, most_in_flight) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let (all, most) = (Arc::clone(&asked), Arc::clone(&most_in_flight));
        let in_flight = AtomicUsize::new(0);
        let acceptor = Acceptor::start(move |connection, socket, over| {
            let serving = Serving { all: &all, in_flight: &in_flight, most: &most, over };
            let _ = serving.serve(connection, socket, greeting, &answers);
        });
        Self { address: acceptor.address, asked, most_in_flight, _acceptor: acceptor }
    }
}

struct Serving<'a> {
    all: &'a Mutex<Vec<(usize, Asked)>>,
    in_flight: &'a AtomicUsize,
    most: &'a AtomicUsize,
    over: &'a AtomicBool,
}

impl Serving<'_> {
    /// Serves a connection. Returns `None` at its end.
    fn serve(
        &self,
        connection: usize,
        socket: &TcpStream,
        greeting: &str,
        answers: &dyn TaggedAnswers,
    ) -> Option<()> {
        socket.set_read_timeout(Some(Duration::from_millis(1))).ok()?;
        socket.set_nodelay(true).ok()?;
        let (mut reader, mut writer) = (BufReader::new(socket), socket);
        writer.write_all(greeting.as_bytes()).ok()?;
        let (mut waiting, mut line) = (Vec::new(), String::new());
        let ended = loop {
            if self.over.load(Ordering::Acquire) {
                break None;
            }
            match reader.read_line(&mut line) {
                Ok(0) => break None,
                Ok(_) if line.ends_with('\n') => {
                    let asked = read(&line);
                    line.clear();
                    self.all.lock().expect("no thread died").push((connection, asked.clone()));
                    waiting.push(asked);
                    let now = self.in_flight.fetch_add(1, Ordering::AcqRel) + 1;
                    self.most.fetch_max(now, Ordering::AcqRel);
                }
                Ok(_) => {}
                Err(_) => {
                    let before = waiting.len();
                    let Some(said) = answers.answer(connection, &mut waiting) else { break None };
                    self.in_flight.fetch_sub(before - waiting.len(), Ordering::AcqRel);
                    if writer.write_all(said.as_bytes()).is_err() {
                        break None;
                    }
                }
            }
        };
        self.in_flight.fetch_sub(waiting.len(), Ordering::AcqRel);
        let _ = socket.shutdown(std::net::Shutdown::Both);
        ended
    }
}

fn read(line: &str) -> Asked {
    if line == "pong\n" {
        return Asked { tag: PONG, user: u32::MAX, step: 0, value: String::new() };
    }
    let mut words = line.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let number = |word: &str| word.parse::<u64>().expect("a number");
    let (tag, user, step) = (number(word()), number(word()), number(word()));
    Asked { tag, user: user as u32, step: step as u16, value: word().to_owned() }
}
