//! Line protocol for tests: a log-in of several rounds, and requests of several parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use wire::{
    Cancel, Closing, Conversation, ErrorClass, Greeting, Interrupt, Next, PartEnd, PeerFault, Progress,
    Rejection, Reply, Script, Stage,
};

/// Action within a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Sends a line and awaits the answer; with the account of the part.
    Say(&'static str, Option<u16>),
    /// Like `Say`, but in doubt (a commit) until the answer arrives.
    Commit(&'static str, Option<u16>),
    /// Awaits one more answer to the line sent before; with the account of the part.
    Hear(Option<u16>),
    /// Pauses for this many nanoseconds.
    Pause(u64),
    /// Stops the load: the script cannot continue.
    Break,
}

/// Script of steps, each a list of actions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acts {
    pub(crate) steps: Vec<Vec<Act>>,
    /// Whether connections begin with a log-in.
    pub(crate) greets: bool,
    /// Bytes that are sent before a connection is closed.
    pub(crate) farewell: &'static str,
    pub(crate) cancel: Option<[u8; 16]>,
    /// Duration of a call, for a system in this process.
    pub(crate) call: Duration,
    /// Whether calls block until they are interrupted.
    pub(crate) hangs: bool,
    /// Stops the client's thread once: request counter, number of the request before which it stops, and duration.
    pub(crate) stops: Option<(Arc<AtomicU64>, u64, Duration)>,
    /// Counter of interrupts, if calls can be interrupted.
    pub(crate) interrupted: Option<Arc<AtomicUsize>>,
}

/// Creates a script of one step.
pub(crate) fn acts(list: &[Act]) -> Acts {
    Acts { steps: vec![list.to_vec()], ..Acts::default() }
}

/// Creates a script of one step, after a log-in.
pub(crate) fn greeting(list: &[Act]) -> Acts {
    Acts { greets: true, ..acts(list) }
}

impl Script for Acts {
    type Conversation = ActsConversation;

    fn open(&self, number: u32) -> ActsConversation {
        ActsConversation {
            script: self.clone(),
            number,
            step: 0,
            place: 0,
            out: Vec::new(),
            line: Vec::new(),
            received: 0,
            is_awaited: false,
            rejection: None,
            quits: false,
        }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn inspects_replies(&self, _step: u16) -> bool {
        false
    }
}

/// Client side of one connection.
#[derive(Debug)]
pub(crate) struct ActsConversation {
    script: Acts,
    number: u32,
    step: u16,
    place: usize,
    out: Vec<u8>,
    line: Vec<u8>,
    received: u64,
    is_awaited: bool,
    rejection: Option<Rejection>,
    /// Whether a rejection is one after which the script cannot continue.
    quits: bool,
}

impl ActsConversation {
    fn act(&self) -> Option<Act> {
        self.script.steps.get(usize::from(self.step))?.get(self.place).copied()
    }

    fn say(&mut self, line: &str) {
        self.out = format!("{line}\n").into_bytes();
    }

    /// Continues with the action at the present position.
    fn next(&mut self) -> Next {
        self.is_awaited = matches!(self.act(), Some(Act::Say(..) | Act::Commit(..) | Act::Hear(_)));
        match self.act() {
            Some(Act::Say(line, _) | Act::Commit(line, _)) => {
                self.say(line);
                Next::Send
            }
            Some(Act::Hear(_)) => Next::Await,
            Some(Act::Pause(ns)) => Next::Pause { ns },
            Some(Act::Break) => Next::Broken("the script makes no sense".to_owned()),
            None => {
                let (rejection, received_bytes) = (self.rejection, self.received);
                Next::Done(Reply { status: 1, rejection, reusable: true, idle_max_s: 0, received_bytes })
            }
        }
    }

    fn end_of_act(&mut self, is_refused: bool) -> (Option<PartEnd>, Next) {
        let class = if self.quits { ErrorClass::ScriptStopped } else { ErrorClass::CheckBody };
        let rejection = is_refused.then_some(Rejection { class, code: 7 });
        let part = self.part().map(|part| PartEnd { part, rejection });
        self.rejection = self.rejection.or(rejection);
        // A rejection ends the request.
        self.place = if is_refused { usize::MAX } else { self.place + 1 };
        (part, self.next())
    }
}

/// Returns an error of a peer that names the line it sent.
pub(crate) fn fault(class: ErrorClass, said: &str) -> PeerFault {
    PeerFault::new(class, 0, "the server says").with_peer_message(said)
}

impl Conversation for ActsConversation {
    fn set(&mut self, _variable: u16, _value: &[u8]) {}

    fn greet(&mut self) -> Greeting {
        if !self.script.greets {
            return Greeting::Done;
        }
        let hello = format!("hello {}", self.number);
        self.say(&hello);
        Greeting::Send
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return Ok((bytes.len(), Greeting::Await));
        };
        self.line.extend_from_slice(&bytes[..end]);
        let line = std::mem::take(&mut self.line);
        let greeting = match line.as_slice() {
            b"welcome" => Greeting::Done,
            b"secure" => Greeting::Secure,
            b"wait" => Greeting::Await,
            b"more" => {
                self.say("here is more");
                Greeting::Send
            }
            b"never" => return Err(fault(ErrorClass::LoginRefused, "nobody knows you")),
            other => return Err(fault(ErrorClass::ProtocolError, &String::from_utf8_lossy(other))),
        };
        Ok((end + 1, greeting))
    }

    fn secured(&mut self) -> Greeting {
        self.say("hello in secret");
        Greeting::Send
    }

    fn begin(&mut self, step: u16) -> Next {
        (self.step, self.place, self.rejection, self.received) = (step, 0, None, 0);
        if let Some((count, number, lasting)) = &self.script.stops
            && count.fetch_add(1, Ordering::AcqRel) + 1 == *number
        {
            std::thread::sleep(*lasting);
        }
        self.next()
    }

    fn resume(&mut self) -> Next {
        self.place += 1;
        self.next()
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        if !self.is_awaited {
            return if bytes.is_empty() {
                Ok(Progress::NeedMore)
            } else {
                Err(fault(ErrorClass::ExcessBytes, "more"))
            };
        }
        if bytes.is_empty() {
            return self.call();
        }
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return Ok(Progress::NeedMore);
        };
        self.line.extend_from_slice(&bytes[..end]);
        let line = std::mem::take(&mut self.line);
        self.received += line.len() as u64 + 1;
        let is_refused = match line.as_slice() {
            b"ok" => false,
            b"no" => true,
            b"quit" => {
                self.quits = true;
                true
            }
            other => return Err(fault(ErrorClass::ProtocolError, &String::from_utf8_lossy(other))),
        };
        let (part, next) = self.end_of_act(is_refused);
        Ok(Progress::PartReplied { used: end + 1, part, next })
    }

    fn peer_closed(&mut self) -> Closing {
        if self.line.is_empty() { Closing::Empty } else { Closing::Incomplete }
    }

    fn stage(&self) -> Stage {
        match self.act() {
            _ if !self.is_awaited => Stage::Idle,
            Some(Act::Commit(..)) => Stage::InDoubt,
            _ if self.line.is_empty() => Stage::FirstByte,
            _ => Stage::Body,
        }
    }

    fn part(&self) -> Option<u16> {
        match self.act()? {
            Act::Say(_, part) | Act::Commit(_, part) | Act::Hear(part) => part,
            Act::Pause(_) | Act::Break => None,
        }
    }

    fn explain(&self, rejection: Rejection) -> String {
        format!("no, for reason {}", rejection.code)
    }

    fn farewell(&self) -> &[u8] {
        self.script.farewell.as_bytes()
    }

    fn cancel(&self) -> Option<Cancel> {
        self.script.cancel.map(Cancel::Bytes)
    }

    fn forget(&mut self) {
        (self.is_awaited, self.line) = (false, Vec::new());
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let interrupted = self.script.interrupted.clone()?;
        Some(Box::new(move || {
            interrupted.fetch_add(1, Ordering::AcqRel);
        }))
    }
}

impl ActsConversation {
    /// Makes a call within this process, which replaces sending and receiving.
    fn call(&mut self) -> Result<Progress, PeerFault> {
        match &self.script.interrupted {
            Some(interrupted) if self.script.hangs => {
                let seen = interrupted.load(Ordering::Acquire);
                // Bounded, in case no interrupt comes.
                for _ in 0..1000 {
                    if interrupted.load(Ordering::Acquire) != seen {
                        return Err(fault(ErrorClass::Canceled, "interrupted"));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            _ => std::thread::sleep(self.script.call),
        }
        let is_refused = matches!(self.act(), Some(Act::Say("no", _) | Act::Commit("no", _)));
        let (part, next) = self.end_of_act(is_refused);
        Ok(Progress::PartReplied { used: 0, part, next })
    }
}
