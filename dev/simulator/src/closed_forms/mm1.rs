//! M/M/1: one server with exponential service times, which makes response times exponential.

/// M/M/1 queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1 {
    /// Arrivals per second; below the service rate.
    pub arrivals_per_s: f64,
    /// Service rate of a busy server, in requests per second.
    pub services_per_s: f64,
}

impl Mm1 {
    /// Returns the mean response time.
    pub fn response_mean_s(&self) -> f64 {
        1.0 / (self.services_per_s - self.arrivals_per_s)
    }

    /// Returns the response time at a quantile.
    pub fn response_quantile_s(&self, quantile: f64) -> f64 {
        -(1.0 - quantile).ln() * self.response_mean_s()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mm1_matches_hand_computation() {
        // 1 / (200 − 100) s; ln 100 = 4.60517.
        let half = Mm1 { arrivals_per_s: 100.0, services_per_s: 200.0 };
        assert!((half.response_mean_s() - 0.010).abs() < 1e-12);
        assert!((half.response_quantile_s(0.99) - 0.046_051_7).abs() < 1e-7);
        // At 80 %: mean 1/40 s, and p99 4.60517 times as long.
        let most = Mm1 { arrivals_per_s: 160.0, services_per_s: 200.0 };
        assert!((most.response_quantile_s(0.99) - 0.115_129_3).abs() < 1e-7);
    }
}
