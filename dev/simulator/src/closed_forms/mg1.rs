//! M/G/1: one server with any service time distribution. The mean follows Pollaczek and Khinchine.

/// M/G/1 queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1 {
    /// Arrivals per second; below the service rate.
    pub arrivals_per_s: f64,
    /// Mean service time, in seconds.
    pub service_mean_s: f64,
    /// Variance of the service time, in square seconds. 0 for a constant time (M/D/1).
    pub service_variance_s2: f64,
}

impl Mg1 {
    /// Returns the mean response time: the mean service time plus a mean wait of λ E\[S²\] / 2(1 − ρ).
    pub fn response_mean_s(&self) -> f64 {
        let second_moment = self.service_variance_s2 + self.service_mean_s * self.service_mean_s;
        let busy = self.arrivals_per_s * self.service_mean_s;
        self.service_mean_s + self.arrivals_per_s * second_moment / (2.0 * (1.0 - busy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mg1_matches_hand_computation() {
        // M/D/1, 10 ms at 50/s: 10 ms + 50 · 0.0001 / (2 · 0.5) s = 15 ms.
        let constant = Mg1 { arrivals_per_s: 50.0, service_mean_s: 0.010, service_variance_s2: 0.0 };
        assert!((constant.response_mean_s() - 0.015).abs() < 1e-12);
        // Exponential service gives M/M/1: 1 / (100 − 50) s.
        let exponential = Mg1 { service_variance_s2: 0.0001, ..constant };
        assert!((exponential.response_mean_s() - 0.020).abs() < 1e-12);
    }
}
