//! Ramp-up: arrival times of the users of a closed load.

use super::Closed;

impl Closed {
    /// Returns the arrival time of user `number`, counted from 0 over all users, in nanoseconds since the load began.
    pub fn arrival_ns(&self, number: u64) -> u64 {
        (u128::from(self.ramp_up_ns) * u128::from(number) / u128::from(self.users.max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed::ThinkTime;

    #[test]
    fn users_arrive_evenly_over_the_ramp() {
        let load = Closed {
            users: 4,
            ramp_up_ns: 1_000,
            think_time: ThinkTime::None,
            pacing_ns: 0,
            throughput_per_s: None,
            seed: 0,
            schedule: None,
            is_unpaced: false,
        };
        assert_eq!([0, 1, 2, 3].map(|number| load.arrival_ns(number)), [0, 250, 500, 750]);
        assert_eq!(Closed { ramp_up_ns: 0, ..load }.arrival_ns(3), 0);
    }
}
