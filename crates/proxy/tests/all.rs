//! Everything that is seen from outside, through sockets, in one program.

mod moves_bytes;
mod steering;
mod support;
