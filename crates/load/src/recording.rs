//! Recorded arrivals, which are replayed exactly.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::{self, Vec};
use core::ops::Range;

/// Recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Send time, in nanoseconds since the load began.
    pub at_ns: u64,
    /// Number of the recorded user or session, from 0. `None` if the recording has none.
    pub session: Option<u32>,
}

/// Arrivals in time order. Clones share one list of 16 bytes per arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording(Arc<[Arrival]>);

impl Recording {
    /// Sorts the arrivals by time. Simultaneous arrivals keep their order.
    pub fn new(mut arrivals: Vec<Arrival>) -> Self {
        arrivals.sort_by_key(|arrival| arrival.at_ns);
        Self(arrivals.into())
    }

    /// Returns the arrivals in time order.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.0
    }

    /// Returns the largest number of arrivals in any second.
    pub fn peak_per_s(&self) -> f64 {
        let mut first = 0;
        let within_second = self.0.iter().enumerate().map(|(last, arrival)| {
            while arrival.at_ns - self.0[first].at_ns >= crate::SECOND_NS {
                first += 1;
            }
            last + 1 - first
        });
        within_second.max().unwrap_or(0) as f64
    }

    /// Returns the memory of the list, in bytes.
    pub fn kept_bytes(&self) -> u64 {
        size_of_val(&*self.0) as u64
    }

    /// Returns the send times of each user: the arrivals of the session with the user's number, 8 bytes each. Ignores arrivals of other
    /// sessions, and arrivals without a session.
    pub(crate) fn by_user(&self, users: Range<u64>) -> impl Iterator<Item = vec::IntoIter<u64>> + use<> {
        let mut instants: Vec<Vec<u64>> = users.clone().map(|_| Vec::new()).collect();
        for arrival in &*self.0 {
            let user = arrival.session.and_then(|session| u64::from(session).checked_sub(users.start));
            if let Some(own) = user.and_then(|user| instants.get_mut(user as usize)) {
                own.push(arrival.at_ns);
            }
        }
        instants.into_iter().map(|own| Box::<[u64]>::from(own).into_vec().into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(arrivals: &[(u64, Option<u32>)]) -> Recording {
        Recording::new(
            arrivals.iter().map(|(at_ns, session)| Arrival { at_ns: *at_ns, session: *session }).collect(),
        )
    }

    #[test]
    fn sorts_by_time_and_keeps_simultaneous_arrivals_in_order() {
        let sorted = recording(&[(5, Some(1)), (3, None), (5, Some(0))]);
        assert_eq!(
            sorted.arrivals().iter().map(|one| one.session).collect::<Vec<_>>(),
            [None, Some(1), Some(0)]
        );
        assert_eq!(sorted.kept_bytes(), 3 * 16);
    }

    #[test]
    fn peak_counts_the_densest_second() {
        let second = crate::SECOND_NS;
        assert_eq!(
            recording(&[(0, None), (second, None), (second + 1, None), (2 * second, None)]).peak_per_s(),
            2.0
        );
        assert_eq!(recording(&[]).peak_per_s(), 0.0);
    }

    #[test]
    fn each_user_gets_the_arrivals_of_its_session_only() {
        let all = recording(&[(1, Some(2)), (2, Some(3)), (3, None), (4, Some(2)), (5, Some(9))]);
        let by_user: Vec<Vec<u64>> = all.by_user(2..5).map(Iterator::collect).collect();
        assert_eq!(by_user, [alloc::vec![1, 4], alloc::vec![2], alloc::vec![]]);
    }
}
