//! Keeper as a separate program, for the tests of this crate. The program `tenbin` has a hidden command for it.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::keeper::main()
}
