//! State machine that parses the replies of one connection.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::capture::Values;
use super::checks::{KEPT_BODY_BYTES_MAX, UNDECODED_BODY};
use super::chunked::Chunked;
use super::decoding::Decompressed;
use super::fault::Fault;
use super::first_replies::{KEPT_BYTES_MAX as COMPARED_BYTES_MAX, SHORT_BYTES_MAX};
use super::framing::{self, HEAD_BYTES_MAX, Head, Length};
use super::step::{CompiledStep, Step};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::content::{CacheUse, Coding, Content};
use crate::conversation::{Closing, Progress, Rejection, Reply, Stage};

const INTERIM_MAX: u8 = 16;
/// Max bytes of an encoded body that is kept only to learn its decoded size.
pub(super) const SAMPLED_BYTES_MAX: usize = 256 * 1024;
/// Max capacity of a body's buffer after its reply, so that one huge page does not stay in memory with every connection.
const KEPT_CAPACITY_MAX: usize = 64 * 1024;

/// Value of a decoded size that is not known.
const NOT_DECODED: u32 = u32::MAX;

/// Parser of the reply that is awaited or arriving, and the values saved from earlier replies.
#[derive(Debug)]
pub(super) struct ReplyParser {
    state: State,
    /// Step of the latest request.
    pub(super) step: u16,
    /// Index of step 0 for the address of the connection.
    pub(super) first_step: u16,
    /// Reply with a body that is arriving.
    reply: Reply,
    interim: u8,
    /// Bytes of a head that did not arrive whole. After the head, the body so far, if a check or a capture needs it.
    kept: Vec<u8>,
    body_bytes: u64,
    coding: Coding,
    cache: CacheUse,
    /// Number of further encoded bodies that are decoded only for their size.
    pub(super) samples_left: u8,
    /// Whether the body that is arriving is sampled.
    is_sampled: bool,
    /// Size of the body of the latest complete reply after decoding. [`NOT_DECODED`] if it is not known.
    decoded_bytes: u32,
    /// Whether the latest head is a redirect that the step follows.
    pub(super) is_redirect: bool,
    /// Whether a short body is kept in `quoted`, to be compared with others.
    pub(super) compares: bool,
    /// Number of requests of this step that were redirected before the present one.
    pub(super) hop: u8,
    /// Start of the body of the last rejected reply, if quoting is enabled. While replies are compared: the body of the last reply, empty
    /// unless it is short.
    pub(super) quoted: Option<Box<Quoted>>,
    pub(super) values: Values,
}

/// Beginning of a body. Boxed because it is rare, and each byte is multiplied by all connections.
#[derive(Debug)]
pub(super) struct Quoted(pub(super) Box<[u8]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Head,
    Sized { left: u64 },
    Chunked(Chunked),
    UntilClose,
}

/// Max bytes of a rejected reply's body that are quoted.
pub(super) const QUOTED_BYTES_MAX: usize = 96;

const NO_REPLY: Reply =
    Reply { status: 0, rejection: None, reusable: false, idle_max_s: 0, received_bytes: 0 };

impl ReplyParser {
    pub(super) fn new(variables: u16) -> Self {
        Self {
            state: State::Idle,
            step: 0,
            first_step: 0,
            reply: NO_REPLY,
            interim: 0,
            kept: Vec::new(),
            body_bytes: 0,
            coding: Coding::Identity,
            cache: CacheUse::Unknown,
            samples_left: 0,
            is_sampled: false,
            decoded_bytes: NOT_DECODED,
            is_redirect: false,
            compares: false,
            hop: 0,
            quoted: None,
            values: Values::new(variables),
        }
    }

    /// Starts to wait for a reply.
    #[inline]
    pub(super) fn begin(&mut self, step: u16) {
        self.step = step;
        self.state = State::Head;
    }

    /// Processes bytes of the reply to this step's request, up to its end.
    pub(super) fn received(&mut self, step: &CompiledStep, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            let (taken, is_complete) = match self.state {
                State::Idle if rest.is_empty() => return Ok(Progress::NeedMore),
                State::Idle => return Err(Fault::unsolicited(rest)),
                State::Head if rest.is_empty() => return Ok(Progress::NeedMore),
                State::Head => self.take_head(step, rest)?,
                _ => self.take_body(step, rest)?,
            };
            used += taken;
            self.reply.received_bytes += taken as u64;
            // A complete head is followed by its body, which may be empty. An interim head is followed by the next head.
            match self.state {
                State::Sized { left: 0 } | State::Chunked(Chunked::Done) => {
                    return Ok(Progress::Replied { used, reply: self.end_reply(step) });
                }
                _ if is_complete => {}
                _ => return Ok(Progress::NeedMore),
            }
        }
    }

    pub(super) fn peer_closed(&mut self, step: &CompiledStep) -> Closing {
        let closing = match self.state {
            State::Idle => Closing::Empty,
            State::Head if self.kept.is_empty() && self.interim == 0 => Closing::Empty,
            State::UntilClose => Closing::Replied(self.end_reply(step)),
            _ => Closing::Incomplete,
        };
        self.forget();
        closing
    }

    pub(super) fn stage(&self) -> Stage {
        match self.state {
            State::Idle => Stage::Idle,
            State::Head if self.kept.is_empty() && self.interim == 0 => Stage::FirstByte,
            State::Head => Stage::Head,
            _ => Stage::Body,
        }
    }

    pub(super) fn forget(&mut self) {
        // The buffer of a body is reused for the next one. Few heads arrive in pieces, so their buffer is freed.
        let capacity_max = if self.state == State::Head { 0 } else { KEPT_CAPACITY_MAX };
        self.kept.clear();
        self.kept.shrink_to(capacity_max);
        self.state = State::Idle;
        self.reply = NO_REPLY;
        self.interim = 0;
    }

    /// Processes bytes of a head. Returns how many belong to it, and whether it is complete.
    fn take_head(&mut self, step: &CompiledStep, bytes: &[u8]) -> Result<(usize, bool), PeerFault> {
        if self.kept.is_empty() {
            // Almost always the head arrives whole, and is parsed without a copy.
            if let Some((used, head)) = framing::read(bytes, step, &mut self.values)? {
                return self.begin_body(step, head).map(|()| (used, true));
            }
            self.kept.extend_from_slice(bytes);
            return Ok((bytes.len(), false));
        }
        self.take_rest_of_head(step, bytes)
    }

    #[cold]
    fn take_rest_of_head(&mut self, step: &CompiledStep, bytes: &[u8]) -> Result<(usize, bool), PeerFault> {
        let before = self.kept.len();
        let room = HEAD_BYTES_MAX.saturating_sub(before) + 1;
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        // Parses again only if a blank line or an error is in the new bytes, or the head has its max size.
        let new = before.saturating_sub(3);
        if !has_blank_line(&self.kept[new..]) && self.kept.len() < HEAD_BYTES_MAX && !self.is_not_http() {
            return Ok((bytes.len(), false));
        }
        let carried = core::mem::take(&mut self.kept);
        match framing::read(&carried, step, &mut self.values)? {
            Some((used, head)) => self.begin_body(step, head).map(|()| (used - before, true)),
            None => {
                self.kept = carried;
                Ok((bytes.len(), false))
            }
        }
    }

    /// Whether the first bytes are not HTTP, so that waiting for a blank line would hide the error.
    fn is_not_http(&self) -> bool {
        let start = b"HTTP/1.";
        let seen = self.kept.len().min(start.len());
        // Empty lines before a head are allowed; the full parser handles them.
        !matches!(self.kept[0], b'\r' | b'\n') && self.kept[..seen] != start[..seen]
    }

    #[inline]
    fn begin_body(&mut self, step: &CompiledStep, head: Head) -> Result<(), PeerFault> {
        self.body_bytes = 0;
        match head.status {
            101 => return Err(Fault::Upgrade.plain()),
            100..200 => {
                self.interim += 1;
                return if self.interim > INTERIM_MAX { Err(Fault::TooManyInterim.plain()) } else { Ok(()) };
            }
            _ => {}
        }
        self.reply.status = head.status;
        (self.reply.reusable, self.reply.idle_max_s) = (head.keeps_alive, head.idle_max_s);
        (self.coding, self.is_redirect) = (head.coding, head.is_redirect);
        self.cache = head.cache;
        self.is_sampled = self.samples_left > 0 && head.coding != Coding::Identity && !head.is_redirect;
        self.reply.rejection = if head.is_redirect {
            None
        } else if !step.step.checks.status.contains(head.status) {
            Some(Rejection { class: ErrorClass::Status, code: u32::from(head.status) })
        } else {
            head.failed_check.map(|code| Rejection { class: ErrorClass::CheckHeader, code })
        };
        self.state = match head.length {
            Length::Known(left) => State::Sized { left },
            Length::Chunked => State::Chunked(Chunked::START),
            Length::UntilClose => State::UntilClose,
        };
        Ok(())
    }

    /// Processes bytes of a body. Returns how many belong to it, and whether it is complete.
    fn take_body(&mut self, step: &CompiledStep, bytes: &[u8]) -> Result<(usize, bool), PeerFault> {
        let keeps = (step.keeps_body || self.compares || self.is_sampled) && !self.is_redirect;
        let kept_bytes_max = match () {
            () if step.keeps_body => KEPT_BODY_BYTES_MAX,
            () if self.is_sampled => SAMPLED_BYTES_MAX,
            () => COMPARED_BYTES_MAX,
        };
        let Self { kept, body_bytes, .. } = self;
        let mut keep = |data: &[u8]| {
            *body_bytes += data.len() as u64;
            if keeps {
                let room = kept_bytes_max.saturating_sub(kept.len());
                kept.extend_from_slice(&data[..data.len().min(room)]);
            }
        };
        match &mut self.state {
            State::Sized { left } => {
                let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                keep(&bytes[..here]);
                *left -= here as u64;
                Ok((here, *left == 0))
            }
            State::Chunked(chunked) => {
                let used = chunked.take(bytes, keep)?;
                Ok((used, *chunked == Chunked::Done))
            }
            State::UntilClose => {
                keep(bytes);
                Ok((bytes.len(), false))
            }
            State::Idle | State::Head => Ok((0, false)),
        }
    }

    fn end_reply(&mut self, step: &CompiledStep) -> Reply {
        if self.reply.rejection.is_none() && step.checks_body && !self.is_redirect {
            self.reply.rejection = self.check_body(&step.step);
        }
        let reply = self.reply;
        if reply.rejection.is_some() && step.quotes_body {
            self.quote(step.quoted_bytes_max);
        }
        if self.compares {
            self.keep_short_body();
        }
        let decoded = if self.is_sampled { self.decode() } else { None };
        self.decoded_bytes = decoded.unwrap_or(NOT_DECODED);
        self.forget();
        reply
    }

    /// Content of the latest complete reply, until the next one begins.
    pub(super) fn content(&self) -> Content {
        Content {
            size_bytes: Some(self.body_bytes),
            decoded_bytes: (self.decoded_bytes != NOT_DECODED).then(|| self.decoded_bytes.into()),
            rows: None,
            coding: self.coding,
            cache: self.cache,
        }
    }

    /// Size of the body after decoding. `None` if it is too long, or cannot be decoded.
    #[cold]
    fn decode(&mut self) -> Option<u32> {
        (self.is_sampled, self.samples_left) = (false, self.samples_left - 1);
        let is_kept = self.kept.len() as u64 == self.body_bytes;
        let unpacked = self.coding.decode_body(&self.kept, KEPT_BODY_BYTES_MAX).filter(|_| is_kept)?;
        unpacked.is_whole.then_some(unpacked.bytes.len() as u32)
    }

    #[cold]
    fn keep_short_body(&mut self) {
        if self.body_bytes > COMPARED_BYTES_MAX as u64 {
            self.quoted = None;
        } else {
            self.quote(SHORT_BYTES_MAX + 1);
        }
    }

    #[cold]
    fn quote(&mut self, bytes_max: usize) {
        let unpacked = self.coding.decode_body(&self.kept, bytes_max);
        let shown = unpacked.as_ref().map_or(&self.kept, |unpacked| &unpacked.bytes);
        self.quoted = Some(Box::new(Quoted(shown[..shown.len().min(bytes_max)].into())));
    }

    // Not inlined, so that the code for loads without body checks stays small.
    #[inline(never)]
    fn check_body(&mut self, step: &Step) -> Option<Rejection> {
        let Step { checks, captures, .. } = step;
        let (unpacked, coded) = match self.coding {
            Coding::Identity => (None, 0),
            coding => decode_body(coding, &self.kept, step),
        };
        let body = unpacked.as_ref().map_or(&self.kept, |unpacked| &unpacked.bytes);
        if checks.needs_body()
            && let Some(code) = checks.first_failed_body(body, &self.values.list)
        {
            return Some(Rejection { class: ErrorClass::CheckBody, code: code | coded });
        }
        if checks.size.is_some_and(|size| !(size.min_bytes..=size.max_bytes).contains(&self.body_bytes)) {
            return Some(Rejection { class: ErrorClass::CheckSize, code: checks.size_number() });
        }
        let is_whole = self.kept.len() as u64 == self.body_bytes
            && unpacked.as_ref().is_none_or(|unpacked| unpacked.is_whole);
        let code = self.values.keep_from_body(captures, body, is_whole).err()?;
        Some(Rejection { class: ErrorClass::Capture, code: code | coded })
    }
}

/// Decodes the body for checks and captures. Returns [`UNDECODED_BODY`] if the body could not be decoded.
#[cold]
fn decode_body(coding: Coding, kept: &[u8], step: &Step) -> (Option<Decompressed>, u32) {
    let is_captured = step.captures.iter().any(|capture| capture.from.is_in_body());
    if !step.checks.needs_body() && !is_captured {
        return (None, 0);
    }
    let unpacked = coding.decode_body(kept, KEPT_BODY_BYTES_MAX);
    let mark = if unpacked.is_none() { UNDECODED_BODY } else { 0 };
    (unpacked, mark)
}

fn has_blank_line(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).any(|at| matches!(bytes[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}
