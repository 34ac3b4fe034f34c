//! A keeper by itself, for the tests of this crate: the program has its own, hidden command.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::keeper::main()
}
