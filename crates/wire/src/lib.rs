//! Requests into bytes and bytes into replies, without I/O.
//!
//! The crate is `no_std`: no socket, no clock, no thread. "Not yet" is an ordinary answer ([`Progress::NeedMore`]), never an
//! error, and every error says whose fault it is. It never knows about TLS or histograms.
#![no_std]

extern crate alloc;

mod blame;
mod both;
pub mod braces;
pub mod class;
mod conversation;
pub mod http1;
pub mod mysql;
pub mod postgres;
pub mod sql;
pub mod testing;

pub use blame::{PeerFault, Seen};
pub use both::{Both, BothTalks, Place};
pub use conversation::{
    Cancel, Closing, Conversation, Embedded, Greeting, Interrupt, Next, PartEnd, Progress, Refusal, Reply,
    Script, Stage,
};

use alloc::boxed::Box;
use alloc::vec::Vec;

/// A protocol that Tenbin speaks: one line in [`PROTOCOLS`], from which help, tests and fuzzing derive.
pub struct Protocol {
    /// Its short name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub sentence: &'static str,
    /// The URL schemes that choose it.
    pub schemes: &'static [&'static str],
    /// A fresh conversation of a plain request, its first request under way.
    pub open: fn() -> Box<dyn Conversation>,
    /// Replies, good and bad, with what each must come to. Every parser is fed each of them three ways.
    pub samples: fn() -> Vec<testing::Sample>,
}

/// Every protocol.
pub const PROTOCOLS: &[Protocol] = &[http1::PROTOCOL, mysql::PROTOCOL, postgres::PROTOCOL];
