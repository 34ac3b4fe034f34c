//! What a URL leaves out: variables of the environment, and who runs this process.

use std::env;
use std::fs;

/// Where what a URL leaves out is looked up.
pub(crate) struct ClientEnvironment<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl ClientEnvironment<'static> {
    /// That of this process.
    pub(crate) fn here() -> Self {
        Self { variable: &|name| env::var(name).ok() }
    }
}

impl<'a> ClientEnvironment<'a> {
    /// One whose variables a function knows.
    #[cfg(test)]
    pub(crate) fn of(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable }
    }

    /// A variable of the environment; one that is empty is none.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Who runs this process, as the system calls them.
    pub(super) fn user(&self) -> Option<String> {
        let id = rustix::process::geteuid().as_raw().to_string();
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let is_mine = |line: &&str| line.split(':').nth(2) == Some(id.as_str());
        let named = users.lines().find(is_mine).and_then(|line| line.split(':').next()).map(str::to_owned);
        named.or_else(|| self.variable("USER"))
    }
}
