//! `tenbin keep`: runs one process of a system, and ends it when Tenbin exits. Tenbin starts this command itself.

use clap::Args;

/// Name of the system that it holds, for people who list processes. Tenbin sends its instructions over a socket.
#[derive(Args, Debug)]
pub(crate) struct KeepFlags {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _name: Vec<String>,
}
