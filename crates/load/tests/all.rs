//! Loads: every test of this folder, in one program.

mod sequences;
mod values;
