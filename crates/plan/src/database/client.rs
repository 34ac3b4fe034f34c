//! Defaults for what a URL omits: environment variables, and the user of this process.

use std::env;
use std::fs;

/// Source of the values that a URL omits.
pub(crate) struct ClientEnvironment<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl ClientEnvironment<'static> {
    /// Reads the environment of this process.
    pub(crate) fn from_process() -> Self {
        Self { variable: &|name| env::var(name).ok() }
    }
}

impl<'a> ClientEnvironment<'a> {
    /// Reads environment variables through a function.
    #[cfg(test)]
    pub(crate) fn of(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable }
    }

    /// Value of an environment variable. `None` if it is unset or empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// User name of this process, as the operating system knows it.
    pub(super) fn user(&self) -> Option<String> {
        let id = rustix::process::geteuid().as_raw().to_string();
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let is_own_entry = |line: &&str| line.split(':').nth(2) == Some(id.as_str());
        let named =
            users.lines().find(is_own_entry).and_then(|line| line.split(':').next()).map(str::to_owned);
        named.or_else(|| self.variable("USER"))
    }
}
