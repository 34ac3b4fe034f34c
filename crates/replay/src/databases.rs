//! Stores whose commands can be replayed.

mod redis;

pub(crate) use redis::{PROTOCOL as STORE, may_write, monitor};
pub use redis::commands::{CommandPlay, CommandPlayer};
