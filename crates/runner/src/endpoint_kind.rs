//! Kinds of endpoints: how runs find the addresses of each, ask it over a first connection, and compile its steps.
//!
//! [`crate::databases::kind_at`] finds the kind of an endpoint. A kind of system is one entry; no other code asks which it is.

use std::time::Duration;

use engine::{Peer, ProbeResult};
use evidence::{Failure, NewRun};
use plan::Plan;
use wire::Channels;

use crate::consent::PublicLoads;
use crate::database_check::DatabaseFacts;
use crate::prepare::{Prepared, Refusal, addresses};
use crate::protocol::{self, Steps};
use crate::recording;
use crate::replay::{self, Traffic};

/// Checks the data that a load left at an endpoint. Returns a note for the run, or a failure. `None` if there is nothing to check.
type CheckAfter = fn(&plan::Endpoint) -> Option<Result<String, Failure>>;

/// Addresses of an endpoint, and the duration of their name resolution.
type ResolvedPeer = (Peer, Option<Duration>);

/// Channels of an endpoint, or the reason why there are none.
type Compiled = Result<Box<dyn Channels>, Refusal>;

/// A kind of endpoint.
pub(crate) struct EndpointKind {
    /// Finds its addresses, and the duration of their name resolution.
    pub(crate) addresses: fn(&plan::Endpoint, &PublicLoads) -> Result<ResolvedPeer, Refusal>,
    /// Connects once, so that an unusable system fails the run before the load.
    pub(crate) ask: fn(&FirstConnection<'_>) -> Result<ConnectionFacts, Refusal>,
    /// Compiles the steps at an endpoint.
    pub(crate) compile: fn(&StepsAt<'_>) -> Compiled,
    /// Compiles the steps at an endpoint to channels that only show the requests that they would send.
    pub(crate) compile_to_text: fn(&StepsAt<'_>) -> Compiled,
    /// Compiles recorded traffic instead of the steps.
    pub(crate) compile_traffic: fn(&Plan, &plan::Endpoint, &Traffic) -> Compiled,
    /// Records the facts that an endpoint reported. Returns them as text. `None` if it reports none.
    pub(crate) record_facts: fn(&Plan, &Prepared, &mut NewRun) -> Option<String>,
    /// Records how connections reach the endpoint. Returns it as text.
    pub(crate) record_connection: fn(&Plan, &Prepared, &mut NewRun) -> Vec<String>,
    /// Checks the system after the load. Returns a note for the run. `None` if there is nothing to note.
    pub(crate) check_after: Option<CheckAfter>,
    /// Help if the endpoint cannot accept more connections. `None` if only this machine limits connections.
    pub(crate) room_help: Option<&'static str>,
    /// Name of the protocol if Tenbin has no instant server for it, which would measure the ceiling of the generator. `None` if it has one.
    pub(crate) has_no_instant_server: fn(&plan::Endpoint) -> Option<&'static str>,
}

/// The first connection to a peer.
pub(crate) struct FirstConnection<'a> {
    pub(crate) endpoint: &'a plan::Endpoint,
    pub(crate) peer: &'a Peer,
    /// Number of the peer within the load.
    pub(crate) place: u16,
    pub(crate) steps: &'a Steps,
    /// Connections that the load holds.
    pub(crate) wanted: u32,
    pub(crate) timeout: Duration,
}

/// Facts from a first connection.
pub(crate) struct ConnectionFacts {
    pub(crate) probed: ProbeResult,
    /// Facts that a database reported; `None` from other systems.
    pub(crate) facts: Option<DatabaseFacts>,
    /// Scale that was read from the tables. `None` if it was not requested.
    pub(crate) scale: Option<i64>,
    pub(crate) room: ConnectionRoom,
}

/// Number of further connections that systems allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConnectionRoom {
    /// Limited only by this machine.
    Unlimited,
    /// The server does not report the number.
    Unknown,
    /// Number of free connections, as reported by the server.
    Left(u64),
}

impl ConnectionRoom {
    /// ConnectionRoom of two systems: the lower number that they report.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Left(one), Self::Left(other)) => Self::Left(one.min(other)),
            (one, other) => one.max(other),
        }
    }
}

/// The steps of a plan at one endpoint, or at one of its shards.
#[derive(Clone, Copy)]
pub(crate) struct StepsAt<'a> {
    pub(crate) plan: &'a Plan,
    /// Number of the endpoint.
    pub(crate) number: u16,
    pub(crate) shard: usize,
    /// Scale that was read from the tables. `None` if it was not read.
    pub(crate) scale: Option<i64>,
}

impl<'a> StepsAt<'a> {
    pub(crate) fn endpoint(self) -> &'a plan::Endpoint {
        &self.plan.endpoints[usize::from(self.number)]
    }
}

/// Systems that accept requests.
pub(crate) static REQUESTS: EndpointKind = EndpointKind {
    addresses: |endpoint, public| addresses(endpoint.peers(), false, public),
    ask: |first| {
        let probed = engine::probe(first.peer, &mut *first.steps.open(first.place), first.timeout)?;
        Ok(ConnectionFacts { probed, facts: None, scale: None, room: ConnectionRoom::Unlimited })
    },
    compile: protocol::requests,
    compile_to_text: protocol::requests,
    compile_traffic: replay::entries,
    record_facts: |_, _, _| None,
    record_connection: recording::record_connection,
    check_after: None,
    room_help: None,
    has_no_instant_server: |endpoint| Some(endpoint.protocol()?.own_steps()?.noun),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_reported_room_counts() {
        use ConnectionRoom::{Left, Unknown, Unlimited};
        for (one, other, expected) in [
            (Unlimited, Unlimited, Unlimited),
            (Unlimited, Unknown, Unknown),
            (Unlimited, Left(3), Left(3)),
            (Unknown, Left(3), Left(3)),
            (Left(5), Left(3), Left(3)),
        ] {
            assert_eq!((one.and(other), other.and(one)), (expected, expected));
        }
    }
}
