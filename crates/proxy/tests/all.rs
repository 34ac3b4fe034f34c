//! Tests of the proxy from outside, through sockets, all in one program.

mod moves_bytes;
mod steering;
mod support;
