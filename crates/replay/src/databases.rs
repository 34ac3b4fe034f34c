//! Stores whose commands can be replayed.

mod redis;
mod statements;

pub use redis::commands::{CommandPlay, CommandPlayer};
pub(crate) use redis::{TRAFFIC as COMMANDS, monitor};
pub(crate) use statements::STATEMENTS;
