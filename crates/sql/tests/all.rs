//! Tests of scripts and workloads that need no separate process, all in one program.

mod adds_up;
mod conversation;
mod line;
mod loaded_rows;
mod mysql_last_words;
mod one_script;
mod pipeline;
mod random_values;
mod script_expressions;
mod script_faults;
mod script_hostile;
mod script_playing;
mod servers;
mod support;
mod workloads;
