//! SQL transaction scripts in pgbench's language: parser, random values, and execution.
//!
//! A [`ScriptSet`] holds the scripts of a run, and a [`Player`] executes them as one client. Neither does any I/O: the caller sends what
//! a player returns. The module needs `std` only for logarithms and powers, which come from the system's math library as in
//! pgbench, so that equal seeds draw equal numbers.

mod build;
mod command;
mod distribution;
mod expression;
mod fault;
mod gathering;
mod kind;
mod machine;
mod meta;
mod number_text;
mod outline;
mod pieces;
mod place;
mod player;
mod random;
mod reads;
mod scan;
mod script_set;
mod seeds;
mod statement;
mod value;
mod variables;

pub(crate) use outline::{OutlineEntry, outline};

pub use distribution::Distribution;
pub use fault::{Broken, Fault};
pub use player::{Backslashes, Literal, Player, PlayerAction, Values};
pub use reads::{DefinedVariables, PREDEFINED_VARIABLES, Read, ReadForm, reads};
pub use script_set::{Allow, Language, Script, ScriptSet, variable_name};
pub use seeds::Seeds;
pub use statement::{Gather, LoadedRows, Placeholders, Statement, StatementKind};
