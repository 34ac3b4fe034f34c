//! Steps that flags of a command line describe, next to the URL.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Step, StepValueError};

/// Step as defined by flags. Braces are literal.
#[derive(Clone, Copy, Debug)]
pub struct FlagStep<'a> {
    /// Method.
    pub method: &'a str,
    /// Path and query of the URL.
    pub target: &'a str,
    /// Names and values of the headers.
    pub headers: &'a [(String, String)],
    /// The body. `None` if there is none.
    pub body: Option<&'a [u8]>,
    /// Texts of the checks, each with its key in `expect`, in the order of the flags.
    pub expect: &'a [(&'static str, String)],
    /// Parses a number of bytes with a unit. The error is a message.
    pub size_bytes: fn(&str) -> Result<u64, String>,
}

/// Function that reads a step from flags. The path of an error is empty for the request, and [`super::EXPECT`] with a key for a check.
pub type ReadFlagStep = fn(&FlagStep<'_>, &mut Vec<StepValueError>) -> Arc<dyn Step>;
