//! User account of a server, because database servers refuse to run as root.

use std::fs;

/// User and group ID of a server process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Account {
    /// Returns the account with this name, otherwise `nobody`. `None` if this process is not root, because then it cannot switch
    /// accounts.
    pub(crate) fn for_server(name: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let lines = fs::read_to_string("/etc/passwd").unwrap_or_default();
        Some(
            named(&lines, name)
                .or_else(|| named(&lines, "nobody"))
                .unwrap_or(Self { user: 65534, group: 65534 }),
        )
    }
}

fn named(lines: &str, name: &str) -> Option<Account> {
    let line = lines.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some(Account { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_their_whole_name() {
        let lines = "postgresql:x:1:2::/:/bin/sh\npostgres:x:101:104::/:/bin/sh\nbroken\n";
        assert_eq!(named(lines, "postgres"), Some(Account { user: 101, group: 104 }));
        assert_eq!(named(lines, "broken"), None);
        assert_eq!(named(lines, "mysql"), None);
    }
}
