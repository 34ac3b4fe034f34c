//! Scripts and workloads as conversations: every test of this folder that needs no process of its own, in one program.

mod adds_up;
mod line;
mod mysql_last_words;
mod pipeline;
mod servers;
mod support;
mod talk;
mod workloads;
