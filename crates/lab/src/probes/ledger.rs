//! Total resource usage of a process tree with members that come and go.
//!
//! When a process ends and its parent reaps it, the kernel adds its usage to the parent's counters for children. So usage moves, but is
//! never lost. The sum over all living processes therefore grows by the usage since the last look, after subtracting the last known usage
//! of members that ended.

/// Change over the whole tree since the previous look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Usage of the members themselves.
    pub(crate) own: u64,
    /// Usage that members inherited from ended children, including children that lived only between two looks.
    pub(crate) taken_over: u64,
    /// Last known usage of members that are gone. It has been counted already.
    pub(crate) gone: u64,
}

/// Ledger for one kind of usage, such as user time or bytes written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ledger {
    /// Part of the usage of members gone in the previous look that no parent has inherited so far.
    in_passing: u64,
}

impl Ledger {
    /// Returns the usage since the previous look.
    ///
    /// Members are read parents first. A member that ends meanwhile is gone in this look, and its parent inherits it in this look
    /// or in the next. Usage that is not inherited by then is lost for good: the parent did not wait (SIGCHLD ignored), and usage
    /// after the last look of the member is unknown.
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
    fn ended_member_is_counted_once() {
        // The member was seen with 500 and used 30 more before it ended.
        assert_eq!(used(&[(7, 530, 500), (7, 0, 0)]), [37, 7]);
        // As above, but the parent reaped the child only after the parent had been read.
        assert_eq!(used(&[(7, 0, 500), (7, 530, 0)]), [7, 37]);
    }

    #[test]
    fn child_between_two_looks_is_counted() {
        assert_eq!(used(&[(0, 40, 0)]), [40]);
    }

    #[test]
    fn member_that_is_never_reaped_hides_usage_of_others_for_one_look_only() {
        assert_eq!(used(&[(5, 0, 500), (5, 0, 0), (5, 40, 0)]), [5, 5, 45]);
    }

    #[test]
    fn parent_and_child_ending_between_the_same_looks_are_counted_once() {
        // The parent was seen with 100 and the child with 50. Then 10 more were used, and the grandparent inherited all 160.
        assert_eq!(used(&[(0, 160, 150)]), [10]);
    }

    #[test]
    fn amounts_saturate() {
        assert_eq!(used(&[(u64::MAX, u64::MAX, 0), (u64::MAX, u64::MAX, u64::MAX)]), [u64::MAX, u64::MAX]);
    }
}
