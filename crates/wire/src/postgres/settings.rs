//! Server parameters that are reported by ParameterStatus; only a few are kept.

use alloc::string::String;

use super::report::keep_text;

/// Names of the server parameters that are kept.
pub const SETTINGS_KEPT: [&str; 6] = [
    "server_version",
    "in_hot_standby",
    "default_transaction_read_only",
    "server_encoding",
    "client_encoding",
    "standard_conforming_strings",
];

/// Latest values of the kept parameters.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: [String; SETTINGS_KEPT.len()],
}

impl Settings {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let place = SETTINGS_KEPT.iter().position(|kept| *kept == name)?;
        Some(self.values[place].as_str()).filter(|value| !value.is_empty())
    }

    /// Parses a name and a value, each with its terminating zero. `None` if they are malformed.
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
