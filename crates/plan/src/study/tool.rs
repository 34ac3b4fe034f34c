//! A load that an external load generator makes: its command, and the values of the load in it.

use loadtools::Tool;

use super::braced::Braced;
use super::environment::ToolCommands;
use crate::explain::tool_words;
use crate::plan::ToolAction;

/// Extra time of a tool beyond its load, to start, to end, and to write its report, in nanoseconds.
pub(crate) const TOOL_GRACE_NS: u64 = 60_000_000_000;

/// Command of an external load generator, and the values that the load gives to it.
#[derive(Clone, Debug)]
pub(crate) struct ToolText {
    pub(crate) tool: &'static Tool,
    pub(crate) words: Vec<Braced>,
    pub(crate) users: Option<u32>,
    pub(crate) requests: Option<u64>,
    pub(crate) warm_up_ns: u64,
    pub(crate) measured_ns: u64,
}

impl ToolText {
    /// Names of the values that the load gives to the command.
    pub(crate) const NAMES: [&str; 4] = ["users", "for", "seconds", "requests"];

    /// Value of the load in the command, for the warm-up or for the measurement.
    pub(crate) fn value(&self, name: &str, is_warm_up: bool) -> Option<String> {
        let for_ns = if is_warm_up { self.warm_up_ns } else { self.measured_ns };
        match name {
            "users" => self.users.map(|users| users.to_string()),
            "requests" => self.requests.map(|requests| requests.to_string()),
            "for" => Some(format!("{}s", whole_seconds(for_ns)?)),
            "seconds" => Some(whole_seconds(for_ns)?.to_string()),
            _ => None,
        }
    }

    /// Words for the load: `wrk, 20 users`.
    pub(crate) fn load_words(&self) -> String {
        tool_words(self.tool.name, self.users)
    }

    /// Command with the values of the load. Names that depend on a run stay in braces.
    pub(crate) fn shown(&self) -> String {
        let words = self.words.iter().map(|word| word.fill(|name| self.value(name, false)));
        words
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn action(&self, commands: ToolCommands) -> ToolAction {
        let ToolCommands { warm_up, measured } = commands;
        let written = self.words.iter().map(|word| word.fill(|_| None)).collect();
        ToolAction { tool: self.tool, written, users: self.users, warm_up, measured }
    }
}

/// Duration in whole seconds, which all tools understand. `None` if it has a fraction.
pub(crate) fn whole_seconds(ns: u64) -> Option<u64> {
    ns.is_multiple_of(1_000_000_000).then_some(ns / 1_000_000_000)
}
