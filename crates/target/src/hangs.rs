//! Hangs: connections that are accepted, but not answered from a given time on.

use std::time::Duration;

use crate::settings::{DAY, Faults};

/// Hang of a share of all connections from a given time on: their requests are read, but not answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hang {
    /// Time of the first hang after the first request; at most 24h.
    pub after: Duration,
    /// Share of hanging connections, spread evenly in order of acceptance; above 0, at most 1.
    pub share: f64,
}

impl Hang {
    /// Returns true if connection number `connection`, from 0, hangs at `age` after the first request to the target.
    pub(crate) fn applies_to(&self, connection: u64, age: Duration) -> bool {
        // Each connection adds its share. One hangs whenever the sum passes an integer.
        let passed = |count: u64| (count as f64 * self.share).floor();
        age >= self.after && passed(connection + 1) > passed(connection)
    }

    pub(crate) fn check(&self, faults: &mut Faults) {
        faults.require(self.after <= DAY, "hang", || {
            format!("after must be at most 24h, found {:?}", self.after)
        });
        faults.require(self.share > 0.0 && self.share <= 1.0, "hang", || {
            format!("share must be above 0 and at most 1, found {}", self.share)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_connections_hangs_after_the_start() {
        let of = |share: f64, since_s: u64| {
            let hang = Hang { after: Duration::from_secs(3), share };
            (0..100).filter(|&number| hang.applies_to(number, Duration::from_secs(since_s))).count()
        };
        assert_eq!([of(1.0, 2), of(1.0, 3), of(0.5, 3), of(0.25, 9), of(0.01, 9)], [0, 100, 50, 25, 1]);
    }

    #[test]
    fn hanging_connections_are_spread_evenly() {
        let hang = Hang { after: Duration::ZERO, share: 0.5 };
        let hangs: Vec<bool> = (0..4).map(|number| hang.applies_to(number, Duration::ZERO)).collect();
        assert_eq!(hangs, [false, true, false, true]);
    }

    #[test]
    fn invalid_shares_are_rejected() {
        for share in [0.0, -0.1, 1.1, f64::NAN] {
            let mut faults = Faults::default();
            Hang { after: Duration::MAX, share }.check(&mut faults);
            assert_eq!(faults.0.len(), 2, "{share}");
        }
    }
}
