//! Distributes sessions over fewer connections than were open at the same time. Transactions stay whole.
//!
//! A connection takes the transactions of its sessions in the order of the log. If two of them overlapped in the log, the second one waits
//! for the first. State of a session, such as a `SET`, stays on the connection.

use crate::trace::{Item, Trace};

/// Role of a statement in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Begins a transaction.
    Begins,
    /// Ends a transaction.
    Ends,
    /// Any other statement.
    Other,
}

/// Sessions that share connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedSessions {
    /// Number of separate connections that the sessions had in the log.
    pub own: usize,
    /// Number of connections that they share.
    pub connections: usize,
    /// Number of transactions, or of single statements, that wait for a transaction of another session.
    pub waiting: u64,
    /// Longest such wait by the times of the log, in nanoseconds.
    pub wait_max_ns: u64,
}

impl Role {
    /// Role of the statements with a fingerprint.
    pub(crate) fn of(fingerprint: &str) -> Self {
        let mut words = fingerprint.split([' ', ';']);
        match (words.next(), words.next()) {
            (Some("begin" | "multi" | "watch"), _) | (Some("start"), Some("transaction")) => Self::Begins,
            (Some("commit" | "end" | "abort" | "exec" | "discard" | "unwatch"), _) => Self::Ends,
            (Some("rollback"), second) if second != Some("to") && !words.any(|word| word == "to") => {
                Self::Ends
            }
            _ => Self::Other,
        }
    }
}

impl Trace {
    /// Distributes the sessions of all slots over up to `connections` slots. `fingerprints` are the texts of the statements, by number.
    /// `None` if `connections` is at least the number of slots.
    pub fn share<'a>(
        &mut self,
        connections: usize,
        fingerprints: impl IntoIterator<Item = &'a str>,
    ) -> Option<SharedSessions> {
        let (own, connections) = (self.slots.len(), connections.max(1));
        if own <= connections {
            return None;
        }
        let roles: Vec<Role> = fingerprints.into_iter().map(Role::of).collect();
        let mut transactions: Vec<Vec<Vec<Item>>> = vec![Vec::new(); connections];
        for (number, items) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            transactions[number % connections].extend(split(items, &roles));
        }
        let mut shared = SharedSessions { own, connections, ..SharedSessions::default() };
        self.slots = transactions.into_iter().map(|list| merge_transactions(list, &mut shared)).collect();
        Some(shared)
    }
}

/// Splits the statements of a slot into transactions and single statements outside of transactions.
fn split(items: Vec<Item>, roles: &[Role]) -> Vec<Vec<Item>> {
    let (mut transactions, mut is_open) = (vec![Vec::new()], false);
    for mut item in items {
        match roles.get(usize::from(item.fingerprint)) {
            Some(Role::Begins) => is_open = true,
            Some(Role::Ends) => is_open = false,
            Some(Role::Other) | None => {}
        }
        // The end of a session rolls back an open transaction. Another session then uses the connection.
        let is_last = item.is_last;
        item.is_last &= is_open;
        is_open &= !is_last;
        if let Some(transaction) = transactions.last_mut() {
            transaction.push(item);
        }
        if !is_open {
            transactions.push(Vec::new());
        }
    }
    transactions.retain(|transaction| !transaction.is_empty());
    transactions
}

/// Statements of one connection, with times that never decrease.
fn merge_transactions(mut transactions: Vec<Vec<Item>>, shared: &mut SharedSessions) -> Vec<Item> {
    transactions.sort_by_key(|transaction| transaction.first().map(|item| item.at_ns));
    let (mut items, mut before_ns) = (Vec::new(), 0);
    for transaction in transactions {
        let wait_ns = transaction.first().map_or(0, |first| before_ns.max(first.at_ns) - first.at_ns);
        shared.waiting += u64::from(wait_ns > 0);
        shared.wait_max_ns = shared.wait_max_ns.max(wait_ns);
        for mut item in transaction {
            before_ns = before_ns.max(item.at_ns);
            item.at_ns = before_ns;
            items.push(item);
        }
    }
    if let Some(last) = items.last_mut() {
        last.is_last = true;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::LoggedResult;
    use crate::trace::Form;

    const FINGERPRINTS: [&str; 3] = ["select ?", "begin", "commit"];

    /// Statements of a session: time, fingerprint, and number of the text.
    fn session(statements: &[(u64, u16, u32)]) -> Vec<Item> {
        let item = |(place, (at_ns, fingerprint, text)): (usize, &(u64, u16, u32))| Item {
            at_ns: *at_ns,
            text: *text,
            form: Form::Query,
            fingerprint: *fingerprint,
            is_last: place + 1 == statements.len(),
            result: LoggedResult::Unknown,
            rows: None,
        };
        statements.iter().enumerate().map(item).collect()
    }

    #[test]
    fn transactions_stay_whole_and_wait_for_each_other() {
        let first = session(&[(0, 1, 10), (50, 0, 11), (100, 2, 12), (300, 0, 13)]);
        let second = session(&[(20, 1, 20), (60, 0, 21), (90, 2, 22), (200, 0, 23)]);
        let mut trace = Trace { slots: vec![first, second], ..Trace::default() };
        let shared = trace.share(1, FINGERPRINTS).expect("they share");
        assert_eq!((shared.own, shared.connections, shared.waiting, shared.wait_max_ns), (2, 1, 1, 80));
        let sent: Vec<(u64, u32)> = trace.slots[0].iter().map(|item| (item.at_ns, item.text)).collect();
        let whole = [(0, 10), (50, 11), (100, 12), (100, 20), (100, 21), (100, 22), (200, 23), (300, 13)];
        assert_eq!(sent, whole);
        let ends: Vec<bool> = trace.slots[0].iter().map(|item| item.is_last).collect();
        assert_eq!(ends, [false, false, false, false, false, false, false, true]);
    }

    #[test]
    fn session_that_ends_within_a_transaction_still_closes_its_connection() {
        let first = session(&[(0, 1, 10), (10, 0, 11)]);
        let second = session(&[(5, 0, 20), (400, 0, 21)]);
        let mut trace = Trace { slots: vec![first, second], ..Trace::default() };
        trace.share(1, FINGERPRINTS).expect("they share");
        let closing: Vec<u32> =
            trace.slots[0].iter().filter(|item| item.is_last).map(|item| item.text).collect();
        assert_eq!(closing, [11, 21]);
    }

    #[test]
    fn sessions_stay_unchanged_with_enough_connections() {
        let mut trace = Trace { slots: vec![session(&[(0, 0, 1)])], ..Trace::default() };
        let before = trace.clone();
        assert_eq!(trace.share(1, FINGERPRINTS), None);
        assert!(trace == before);
    }

    #[test]
    fn roles_of_statements() {
        for (text, role) in [
            ("begin", Role::Begins),
            ("start transaction read only", Role::Begins),
            ("start replica", Role::Other),
            ("commit and chain", Role::Ends),
            ("rollback", Role::Ends),
            ("rollback to savepoint a", Role::Other),
            ("rollback to a", Role::Other),
            ("select ?", Role::Other),
            ("multi", Role::Begins),
            ("exec", Role::Ends),
        ] {
            assert_eq!(Role::of(text), role, "{text}");
        }
    }
}
