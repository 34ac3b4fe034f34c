//! A keeper as a program of its own, for the tests of this crate. The program `tenbin` has a hidden command for it.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::keeper::main()
}
