//! Scripts and workloads as conversations: every test of this folder that needs no process of its own, in one program.

mod adds_up;
mod conversation;
mod line;
mod mysql_last_words;
mod one_script;
mod pipeline;
mod script_expressions;
mod script_faults;
mod script_hostile;
mod script_playing;
mod servers;
mod support;
mod workloads;
