//! What the server tells of its settings: the few that are kept.

use alloc::string::String;

use super::report::keep_text;

/// The settings that are kept when the server tells of them.
pub const SETTINGS_KEPT: [&str; 6] = [
    "server_version",
    "in_hot_standby",
    "default_transaction_read_only",
    "server_encoding",
    "client_encoding",
    "standard_conforming_strings",
];

/// Their values, as they last were.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: [String; SETTINGS_KEPT.len()],
}

impl Settings {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let place = SETTINGS_KEPT.iter().position(|kept| *kept == name)?;
        Some(self.values[place].as_str()).filter(|value| !value.is_empty())
    }

    /// Takes in a name and a value, each with its end; `None` if they are not that.
    pub(super) fn take(&mut self, content: &[u8]) -> Option<()> {
        let (name, rest) = content.split_at_checked(memchr::memchr(0, content)?)?;
        let [0, value @ .., 0] = rest else { return None };
        if memchr::memchr(0, value).is_some() {
            return None;
        }
        if let Some(place) = SETTINGS_KEPT.iter().position(|kept| kept.as_bytes() == name) {
            keep_text(&mut self.values[place], value);
        }
        Some(())
    }
}
