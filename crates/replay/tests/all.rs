//! Tests of the crate from outside.

mod every_reader_survives_hostile_lines;
mod formats_are_documented;
mod logs_of_databases;
mod logs_of_stores;
mod logs_of_web_servers;
mod support;
mod traces;
