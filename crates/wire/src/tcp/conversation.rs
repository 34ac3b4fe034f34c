//! The conversation of one raw TCP connection: its message, and the progress of its reply.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{CompiledStep, Receive};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::content::Content;
use crate::conversation::{Closing, Conversation, Next, Progress, Rejection, Reply, Stage};

/// Error message for unsolicited bytes from the peer.
pub(super) const UNSOLICITED: &str = "bytes arrived after the end of the reply";

/// The conversation of a raw TCP connection.
#[derive(Debug)]
pub struct TcpConversation {
    steps: Arc<[CompiledStep]>,
    /// Number of the latest step.
    step: usize,
    values: Box<[Vec<u8>]>,
    /// Filled message of a step with variables.
    filled: Vec<u8>,
    /// The awaited reply. `None` if there is none.
    awaited: Option<Awaited>,
    /// Size of the latest reply.
    content_bytes: u64,
}

/// Progress of a reply.
#[derive(Debug, Default)]
struct Awaited {
    received_bytes: u64,
    /// Last bytes that may be the beginning of the delimiter; fewer than its length.
    tail: Vec<u8>,
}

impl TcpConversation {
    pub(super) fn new(steps: Arc<[CompiledStep]>, variables: u16) -> Self {
        let values = (0..variables).map(|_| Vec::new()).collect();
        Self { steps, step: 0, values, filled: Vec::new(), awaited: None, content_bytes: 0 }
    }

    fn prepared(&self) -> Option<&CompiledStep> {
        self.steps.get(self.step)
    }
}

impl Conversation for TcpConversation {
    fn set(&mut self, variable: u16, value: &[u8]) {
        if let Some(kept) = self.values.get_mut(usize::from(variable)) {
            kept.clear();
            kept.extend_from_slice(value);
        }
    }

    fn begin(&mut self, step: u16) -> Next {
        self.step = step.into();
        self.awaited = Some(Awaited::default());
        self.filled.clear();
        if let Some(prepared) = self.steps.get(self.step).filter(|step| step.message.constant().is_none()) {
            let value = |number| self.values.get(usize::from(number)).map_or(&[][..], Vec::as_slice);
            prepared.message.fill(value, &mut self.filled);
        }
        if self.outgoing().is_empty() { Next::Await } else { Next::Send }
    }

    fn outgoing(&self) -> &[u8] {
        self.prepared().map_or(&[], |prepared| prepared.message.constant().unwrap_or(&self.filled))
    }

    fn write_bytes_max(&self) -> usize {
        let written = self.prepared().and_then(|prepared| prepared.exchange.write_bytes);
        written.map_or(usize::MAX, |bytes| bytes.max(1) as usize)
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let (Some(awaited), Some(prepared)) = (&mut self.awaited, self.steps.get(self.step)) else {
            if bytes.is_empty() {
                return Ok(Progress::NeedMore);
            }
            return Err(PeerFault::new(ErrorClass::ExcessBytes, 0, UNSOLICITED).with_first_bytes(bytes));
        };
        let Some(used) = awaited.end(&prepared.exchange.receive, bytes) else {
            awaited.received_bytes += bytes.len() as u64;
            return Ok(Progress::NeedMore);
        };
        let received_bytes = awaited.received_bytes + used as u64;
        self.awaited = None;
        self.content_bytes = received_bytes;
        Ok(Progress::Replied {
            used,
            reply: Reply { status: 0, rejection: None, reusable: true, idle_max_s: 0, received_bytes },
        })
    }

    fn content(&self) -> Content {
        Content { size_bytes: Some(self.content_bytes), ..Content::default() }
    }

    fn peer_closed(&mut self) -> Closing {
        match self.awaited.take() {
            Some(Awaited { received_bytes: 1.., .. }) => Closing::Incomplete,
            Some(_) | None => Closing::Empty,
        }
    }

    fn stage(&self) -> Stage {
        match &self.awaited {
            None => Stage::Idle,
            Some(Awaited { received_bytes: 0, .. }) => Stage::FirstByte,
            Some(_) => Stage::Body,
        }
    }

    fn explain(&self, _refusal: Rejection) -> String {
        String::new()
    }

    fn forget(&mut self) {
        self.awaited = None;
    }
}

impl Awaited {
    /// Number of these bytes up to the end of the reply. `None` if the reply does not end within them.
    fn end(&mut self, receive: &Receive, bytes: &[u8]) -> Option<usize> {
        match receive {
            Receive::Bytes(all) => {
                let left = all.saturating_sub(self.received_bytes);
                (bytes.len() as u64 >= left).then_some(left as usize)
            }
            Receive::Until(delimiter) => self.end_of(delimiter, bytes),
        }
    }

    /// Finds the end of the delimiter, which may begin in the kept bytes of earlier pieces.
    fn end_of(&mut self, delimiter: &[u8], bytes: &[u8]) -> Option<usize> {
        let tail_bytes = self.tail.len();
        let overlap = bytes.len().min(delimiter.len().saturating_sub(1));
        self.tail.extend_from_slice(&bytes[..overlap]);
        let across = memchr::memmem::find(&self.tail, delimiter).map(|at| at + delimiter.len() - tail_bytes);
        let end = across.or_else(|| memchr::memmem::find(bytes, delimiter).map(|at| at + delimiter.len()));
        if end.is_none() {
            // A short piece is appended to the kept bytes; a longer one replaces them.
            if bytes.len() > overlap {
                self.tail.clear();
                self.tail.extend_from_slice(&bytes[bytes.len() - overlap..]);
            }
            let kept = delimiter.len().saturating_sub(1);
            self.tail.drain(..self.tail.len().saturating_sub(kept));
        }
        end
    }
}
