//! A protocol with replies in any order, fed with samples and pieces like the real protocols.

use wire::testing::{End, Sample, feed_three_ways};
use wire::{
    Channel, Closing, ErrorClass, Event, Next, Open, PROTOCOLS, PeerFault, Protocol, Rejection, Reply, Stage,
    Ticket, Values,
};

use crate::pieces::{compare, feed};

/// A test protocol: each line in either direction is the ticket number of an exchange.
#[derive(Default)]
struct Lines {
    in_flight: Vec<Ticket>,
    out: Vec<u8>,
    line: Vec<u8>,
    /// Whether events name an unknown ticket, which is forbidden for channels.
    invents_tickets: bool,
}

const UNKNOWN: &str = "the line names no exchange";

impl Channel for Lines {
    fn room(&self) -> u32 {
        100 - self.in_flight.len() as u32
    }

    fn begin(&mut self, ticket: Ticket, _step: u16, _values: &Values) -> Next {
        self.in_flight.push(ticket);
        self.out.extend_from_slice(format!("{}\n", ticket.0).as_bytes());
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn sent(&mut self, count: usize) {
        self.out.drain(..count);
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Option<(usize, Event)>, PeerFault> {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.extend_from_slice(bytes);
            return Ok(None);
        };
        self.line.extend_from_slice(&bytes[..end]);
        let line = std::mem::take(&mut self.line);
        let number = std::str::from_utf8(&line).ok().and_then(|text| text.parse().ok());
        let mut ticket = number.map(Ticket).filter(|ticket| self.in_flight.contains(ticket));
        self.in_flight.retain(|known| Some(*known) != ticket);
        if self.invents_tickets {
            ticket = Some(Ticket(77));
        }
        let ticket = ticket.ok_or_else(|| PeerFault::new(ErrorClass::ProtocolError, 0, UNKNOWN))?;
        let reply = Reply {
            status: 0,
            rejection: None,
            reusable: true,
            idle_max_s: 0,
            received_bytes: line.len() as u64 + 1,
        };
        Ok(Some((end + 1, Event::Replied { ticket, reply })))
    }

    fn peer_closed(&mut self, ticket: Ticket) -> Closing {
        let is_under_way = self.in_flight.contains(&ticket);
        self.in_flight.retain(|known| *known != ticket);
        if is_under_way && !self.line.is_empty() { Closing::Incomplete } else { Closing::Empty }
    }

    fn stage(&self, ticket: Ticket) -> Stage {
        if self.in_flight.contains(&ticket) { Stage::FirstByte } else { Stage::Idle }
    }

    fn explain(&self, _refusal: Rejection) -> String {
        String::new()
    }

    fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
    }

    fn forget(&mut self) {
        self.in_flight.clear();
    }
}

/// An entry for the list of protocols that opens this channel.
fn protocol(open: fn() -> Box<dyn Channel>) -> Protocol {
    let compile = PROTOCOLS.iter().map(|protocol| protocol.compile).next().expect("a protocol");
    Protocol {
        name: "lines",
        sentence: "",
        schemes: &[],
        alpn: &[],
        compile,
        open: Open::Channel(open),
        samples: Vec::new,
    }
}

fn lines() -> Protocol {
    protocol(|| Box::new(Lines::default()))
}

#[test]
fn samples_of_a_channel_are_fed_three_ways() {
    let replied = End::Replied { status: 0, reusable: true };
    for (bytes, end) in [
        (&b"0\n"[..], replied),
        (b"9\n", End::Fault(ErrorClass::ProtocolError, UNKNOWN)),
        (b"0", End::Incomplete),
    ] {
        let sample = Sample { name: "a line", bytes: bytes.into(), end };
        feed_three_ways(lines().open, &sample).unwrap_or_else(|what| panic!("{what}"));
    }
    let wrong = Sample { name: "a line", bytes: b"0\n".into(), end: End::Incomplete };
    assert!(feed_three_ways(lines().open, &wrong).is_err());
}

#[test]
fn concurrent_exchanges_end_in_any_order_in_any_pieces() {
    let bytes = b"2\n0\n2\n1";
    let whole = feed(&lines(), [&bytes[..]].into_iter());
    assert_eq!(whole.tickets, [2, 0, 2].map(Ticket));
    compare(&whole, &feed(&lines(), bytes.chunks(1))).unwrap_or_else(|what| panic!("{what}"));
}

#[test]
#[should_panic(expected = "Ticket(77) is not under way")]
fn event_for_unknown_ticket_panics() {
    feed(
        &protocol(|| Box::new(Lines { invents_tickets: true, ..Lines::default() })),
        [&b"0\n"[..]].into_iter(),
    );
}
