//! Renewal of connections at their max lifetime, between two exchanges.

use super::Worker;
use crate::link::{Link, Retired, State};

impl Worker<'_> {
    /// Marks the socket of a link as expired after a reply, if it has reached its max lifetime.
    #[inline]
    pub(super) fn retire_expired(&mut self, number: u32, at_ns: u64) -> &Link {
        let has_expired = self.has_expired(number, at_ns);
        let link = &mut self.links[number as usize];
        if has_expired {
            link.retired = link.retired.max(Retired::Expired);
        }
        link
    }

    #[inline]
    fn has_expired(&self, number: u32, at_ns: u64) -> bool {
        let link = &self.links[number as usize];
        match self.job.peer(link.peer).lifetime_ns {
            None => false,
            Some(lifetime_ns) => {
                matches!(link.state, State::Up { .. }) && {
                    let of_all = self.first_numbers[usize::from(link.peer)] + link.number;
                    let place = (of_all, self.job.connections_to(link.peer).0);
                    is_over(lifetime_ns, place, link.dialed_ns, at_ns)
                }
            }
        }
    }
}

/// Returns whether a socket opened at `dialed_ns` is due for renewal by `at_ns`. `number` and `count` are the number of the connection and
/// the number of connections.
///
/// Each connection is renewed at fixed times, one lifetime apart. Renewals are therefore spread evenly over a lifetime, even if all
/// connections were opened at once. First sockets live shorter.
fn is_over(lifetime_ns: u64, (number, count): (u32, u32), dialed_ns: u64, at_ns: u64) -> bool {
    let lifetime = u128::from(lifetime_ns.max(1));
    let count = u128::from(count.max(1));
    let first = lifetime * (2 * u128::from(number) + 1) / (2 * count);
    let renewals = |ns: u64| (u128::from(ns) + lifetime).saturating_sub(first) / lifetime;
    renewals(at_ns) > renewals(dialed_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFETIME_NS: u64 = 1_000;

    /// Returns the renewal times of a connection that is checked every nanosecond.
    fn renewals(place: (u32, u32), until_ns: u64) -> Vec<u64> {
        let mut dialed_ns = 0;
        let renewed = (0..until_ns).filter(|at_ns| {
            let is_over = is_over(LIFETIME_NS, place, dialed_ns, *at_ns);
            if is_over {
                dialed_ns = *at_ns;
            }
            is_over
        });
        renewed.collect()
    }

    #[test]
    fn renewals_are_one_lifetime_apart_and_evenly_spread() {
        let all: Vec<Vec<u64>> = (0..4).map(|number| renewals((number, 4), 3_000)).collect();
        assert_eq!(all[0], [125, 1_125, 2_125]);
        assert_eq!(all[1], [375, 1_375, 2_375]);
        assert_eq!(all[3], [875, 1_875, 2_875]);
    }

    #[test]
    fn reopened_socket_keeps_the_renewal_times_of_its_connection() {
        let is_over = |dialed_ns, at_ns| is_over(LIFETIME_NS, (0, 4), dialed_ns, at_ns);
        assert!(!is_over(1_100, 1_124) && is_over(1_100, 1_125));
        assert!(!is_over(1_125, 2_124) && is_over(1_125, 2_125));
    }
}
