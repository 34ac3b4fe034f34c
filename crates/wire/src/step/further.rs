//! Keys of protocols with several keys per step: a request with headers, a body, and checks in addition to its path.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use outcome::ErrorClass;
use regex::bytes::Regex;

use super::{BeginScenario, CompileShapes, Key, ReadFlagStep};
use crate::conversation::Conversation;

/// Keys in addition to the key that defines a step, and keys of scenarios for all of their steps.
#[derive(Debug)]
pub struct ExtraKeys {
    /// Noun for one step in sentences: `an HTTP request`.
    pub one: &'static str,
    /// Keys of the step itself.
    pub step: &'static [Key],
    /// Keys that define the body. A step has at most one of them.
    pub bodies: &'static [&'static str],
    /// Keys of a scenario, which apply to all of its steps.
    pub scenario: &'static [Key],
    /// Keys of `expect`.
    pub expect: &'static [Key],
    /// Keys of each value of `save`.
    pub save: &'static [Key],
    /// Reads a step from flags of a command line.
    pub read_flags: ReadFlagStep,
    /// Begins to read the steps of a scenario.
    pub begin: BeginScenario,
    /// Words for the state of a user in the hidden variable with this name ([`super::Step::session`]).
    pub session_words: fn(&str) -> &'static str,
    /// Whether a hidden variable with this name is emptied before each iteration.
    pub is_per_iteration: fn(&str) -> bool,
    /// Value of the header Authorization for `name:password`, without braces.
    pub authorization: fn(&[u8]) -> String,
    /// Encoded forms of a value in all places of a step, to find secrets in texts.
    pub encoded_forms: fn(&[u8]) -> Vec<Vec<u8>>,
    /// Compiles requests from shapes alone.
    pub compile_shapes: CompileShapes,
    /// Opens a conversation for tests that feed arbitrary replies to it. Step 0 saves values of its reply: the parts that both
    /// expressions match, and the value at the path. Step 1 sends them. `None` if the path is invalid.
    pub sample_session: SampleSession,
    /// Recognizes the answer of a server without TLS to a TLS handshake, from its first bytes. Returns the class of the error, and the
    /// actual protocol.
    pub recognize_plaintext: fn(&[u8]) -> Option<(ErrorClass, String)>,
}

/// Function that opens the conversation of a user with a session, for tests.
pub type SampleSession = fn(path: &str, expressions: &[Regex; 2]) -> Option<Box<dyn Conversation>>;

impl ExtraKeys {
    /// Whether a step has this key in addition to its main key.
    pub fn has(&self, name: &str) -> bool {
        self.step.iter().any(|key| key.name == name)
    }
}
