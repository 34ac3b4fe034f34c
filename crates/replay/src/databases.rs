//! Stores whose commands can be replayed.

mod redis;

pub use redis::commands::{CommandPlay, CommandPlayer};
pub(crate) use redis::{PROTOCOL as STORE, may_write, monitor};
