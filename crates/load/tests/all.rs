//! Tests of loads, all in one program.

mod sequences;
mod values;
