//! The sum of what a family of processes used, while its members come and go.
//!
//! When a process ends and its parent asks for it, the kernel adds what it used to the parent's count for its children:
//! nothing is lost, it moves. So the sum over all that live grows by what was used, once what merely moved is taken off:
//! the amounts that those who ended were last seen with.

/// What changed since the look before, over the whole family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// What members used themselves.
    pub(crate) own: u64,
    /// What members took over from children that ended. Includes children that came and went between two looks.
    pub(crate) taken_over: u64,
    /// What members that are gone were last seen with. It was counted then.
    pub(crate) gone: u64,
}

/// One kind of use: user time, bytes written, …
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    /// Of those who were gone in the look before, what was not assigned to another process so far.
    in_passing: u64,
}

impl Ledger {
    /// What was used since the look before.
    ///
    /// Members are read parents first. So a member that ends while it is looked for is gone in this look, and its parent has
    /// it in this look or in the next. What was not taken over by then never will be: its parent did not care for it
    /// (SIGCHLD was ignored), and what it used after its last look is lost.
    pub(crate) fn settle(&mut self, change: Change) -> u64 {
        let late = change.taken_over.min(self.in_passing);
        let moved = change.gone.min(change.taken_over - late);
        self.in_passing = change.gone - moved;
        change.own.saturating_add(change.taken_over - late - moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(changes: &[(u64, u64, u64)]) -> Vec<u64> {
        let mut ledger = Ledger::default();
        let change = |&(own, taken_over, gone)| Change { own, taken_over, gone };
        changes.iter().map(change).map(|change| ledger.settle(change)).collect()
    }

    #[test]
    fn a_member_that_ends_is_counted_once() {
        // It was seen with 500 and used 30 more before it ended.
        assert_eq!(used(&[(7, 530, 500), (7, 0, 0)]), [37, 7]);
        // The same, and its parent asked for it only after it had been read.
        assert_eq!(used(&[(7, 0, 500), (7, 530, 0)]), [7, 37]);
    }

    #[test]
    fn a_child_that_no_look_saw_is_counted() {
        assert_eq!(used(&[(0, 40, 0)]), [40]);
    }

    #[test]
    fn a_member_that_nobody_asks_for_takes_nothing_from_others_for_long() {
        assert_eq!(used(&[(5, 0, 500), (5, 0, 0), (5, 40, 0)]), [5, 5, 45]);
    }

    #[test]
    fn parent_and_child_may_end_between_the_same_looks() {
        // Parent seen with 100, child with 50; then 10 more were used, and the grandparent has all 160.
        assert_eq!(used(&[(0, 160, 150)]), [10]);
    }

    #[test]
    fn no_amount_overflows() {
        assert_eq!(used(&[(u64::MAX, u64::MAX, 0), (u64::MAX, u64::MAX, u64::MAX)]), [u64::MAX, u64::MAX]);
    }
}
