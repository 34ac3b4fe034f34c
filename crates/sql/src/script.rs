//! Scripts of SQL transactions in pgbench's language: reading them, drawing their values, going through them.
//!
//! A [`Deck`] holds the scripts of a run, a [`Player`] goes through them as one client. Neither does any I/O: whoever drives a
//! player sends what it returns. It needs `std` for one reason: logarithms and powers come from the system's
//! mathematical library, as pgbench's do, so that equal seeds draw equal numbers.

mod build;
mod command;
mod deck;
mod distribution;
mod expression;
mod fault;
mod gathering;
mod kind;
mod machine;
mod meta;
mod number_text;
mod pieces;
mod place;
mod player;
mod random;
mod reads;
mod scan;
mod seeds;
mod statement;
mod value;
mod variables;

pub use deck::{Allow, Deck, Language, Script, variable_name};
pub use distribution::Distribution;
pub use fault::{Broken, Fault};
pub use player::{Act, Backslashes, Literal, Player, Values};
pub use reads::{AUTOMATIC, Given, Read, ReadForm, reads};
pub use seeds::Seeds;
pub use statement::{Gather, Placeholders, Statement, StatementKind};
