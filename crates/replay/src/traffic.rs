//! Kinds of recorded traffic. Each kind is one constant in the module of its servers; other code asks it for a property.

use std::sync::Arc;

use wire::step::{Access, Step, Unit};
use wire::{Channels, Protocol, Secrets};

use crate::play::Outcomes;
use crate::trace::Trace;

/// A kind of recorded traffic: the properties in which the logs of servers differ.
#[derive(Debug)]
pub struct Traffic {
    /// Entries as a phrase: `SQL statements`.
    pub entries: &'static str,
    /// Entries with the server that they are for, as a phrase: `statements of PostgreSQL`.
    pub entries_of_server: &'static str,
    /// Noun for one entry: `statement`.
    pub noun: &'static str,
    /// Unit in which reports count entries.
    pub unit: Unit,
    /// Whether entries belong to sessions, each with a separate connection.
    pub has_sessions: bool,
    /// Script that replaces the entries in the plan of a load. `None` if the URL of the system defines a step.
    pub stand_in: Option<&'static str>,
    /// Whether a server with this URL scheme may replay the entries.
    pub fits_scheme: fn(&str) -> bool,
    /// Whether a server with this protocol can replay the entries.
    pub fits: fn(&Protocol) -> bool,
    /// Help for a command line with a URL scheme that does not fit.
    pub help_for_flags: &'static str,
    /// Error and help for a plan whose system is of another kind.
    pub other_kind: [&'static str; 2],
    /// Error of a plan with a system of another protocol, and its help.
    pub other_server: [&'static str; 2],
    /// Whether an entry may write. Accepts its text or its fingerprint.
    pub(crate) may_write: fn(&str) -> bool,
    /// Creates channels that send the entries to a system with protocol-specific steps. The error is a message.
    pub play: fn(&ReplayTarget<'_>) -> Result<Box<dyn Channels>, String>,
}

/// Recorded traffic, and the system that gets it.
#[derive(Clone, Debug)]
pub struct ReplayTarget<'a> {
    /// Entries to send.
    pub trace: Arc<Trace>,
    /// Results by fingerprint, which connections add to.
    pub outcomes: Arc<Outcomes>,
    /// Texts of the fingerprints, by number.
    pub fingerprints: &'a [String],
    /// Protocol of the system. `None` if its load decides it.
    pub protocol: Option<&'static Protocol>,
    /// Step with properties that entries inherit, such as its headers. `None` if the plan has no step.
    pub like: Option<&'a dyn Step>,
    /// Log-in of the connections.
    pub access: &'a Access,
    /// Secrets of the plan.
    pub secrets: &'a Secrets,
}
