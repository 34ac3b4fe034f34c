//! Stores whose commands can be replayed.

mod redis;
mod statements;

pub use redis::commands::{CommandPlay, CommandPlayer};
pub(crate) use redis::monitor;
pub use redis::monitor::monitored_words;
pub(crate) use statements::STATEMENTS;
