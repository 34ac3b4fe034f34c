//! Protocols without I/O: turns requests into bytes, and bytes into replies.
//!
//! The crate is `no_std`: no socket, no clock, no thread. Incomplete input is an ordinary result ([`Progress::NeedMore`]), never an error,
//! and each error states which side caused it. TLS and histograms are in other crates.
#![no_std]

extern crate alloc;

mod blame;
pub mod braces;
mod channel;
mod channel_binding;
mod cluster_nodes;
mod content;
mod conversation;
pub mod http1;
pub mod masking;
pub mod memcached;
mod mix;
pub mod mongodb;
pub mod multipart;
pub mod mysql;
pub mod postgres;
mod protocol;
pub mod redis;
mod scram;
mod secrets;
mod serial;
mod shards;
pub mod sql;
pub mod step;
pub mod tcp;
pub mod testing;
mod values;
mod words;

pub use blame::{FirstBytes, PeerFault, Violation};
pub use channel::{Channel, Channels, Event, Footprint, PeerStep, Redirect, Ticket};
pub use cluster_nodes::ClusterNodes;
pub use content::{CacheUse, Coding, Content};
pub use conversation::{
    Cancel, Closing, Conversation, FirstReplies, Greeting, Interrupt, Next, PartEnd, Progress, Rejection,
    Reply, Script, Stage,
};
pub use mix::Mix;
pub use outcome::ErrorClass;
pub use protocol::{
    Compile, Open, OpenSession, PROTOCOLS, Protocol, Scheme, StepError, find_scheme, schemes,
};
pub use secrets::{REDACTED, Secrets};
pub use serial::{InProcess, Serial};
pub use shards::{SHARD_HASHES, ShardCount, ShardHash, ShardMap, ShardRule, Shards};
pub use values::Values;
