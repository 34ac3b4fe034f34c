//! Requests that are known only while they are sent, such as requests of a log: their shapes are compiled, and values fill them in.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::Step;
use crate::channel::Footprint;
use crate::conversation::{Conversation, Script};
use crate::secrets::Secrets;

/// Parts of requests that are compiled once. Targets, bodies, and values of headers are variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestShape<'a> {
    /// Method, such as GET.
    pub method: &'a str,
    /// Names of headers. They replace default headers with equal names.
    pub headers: Vec<&'a str>,
    /// Whether the request has a body.
    pub has_body: bool,
}

impl RequestShape<'_> {
    /// Number of the variable with the target.
    pub const TARGET: u16 = 0;
    /// Number of the variable with the body.
    pub const BODY: u16 = 1;
    /// Number of the variable with the value of the first header. Further headers follow in order.
    pub const HEADERS: u16 = 2;
}

/// Function that compiles requests. Step n has shape n, and everything else as the given step. The error is a message.
pub type CompileShapes =
    fn(&[RequestShape<'_>], &dyn Step, &Secrets) -> Result<Box<dyn ShapedRequests>, String>;

/// Compiled requests, for any number of connections.
pub trait ShapedRequests: fmt::Debug + Send + Sync {
    /// See [`Script::open`].
    fn open(&self, number: u32) -> Box<dyn Conversation>;

    /// See [`Script::footprint`].
    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint;
}

impl<S: Script<Conversation: 'static> + fmt::Debug> ShapedRequests for S {
    fn open(&self, number: u32) -> Box<dyn Conversation> {
        Box::new(Script::open(self, number))
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        Script::footprint(self, longest_bytes)
    }
}
