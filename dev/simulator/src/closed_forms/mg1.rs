//! One server, any service times: the mean of Pollaczek and Khinchine.

/// M/G/1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1 {
    /// Arrivals a second; fewer than the server can serve.
    pub arrivals_per_s: f64,
    /// Mean service time.
    pub service_mean_s: f64,
    /// Variance of the service time; 0 where it is constant (M/D/1).
    pub service_variance_s2: f64,
}

impl Mg1 {
    /// Mean response time: the mean of the service, and λ E\[S²\] / 2(1 − ρ) of waiting.
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
    fn by_hand() {
        // M/D/1, 10 ms at 50/s: 10 ms + 50 · 0.0001 / (2 · 0.5) s = 15 ms.
        let constant = Mg1 { arrivals_per_s: 50.0, service_mean_s: 0.010, service_variance_s2: 0.0 };
        assert!((constant.response_mean_s() - 0.015).abs() < 1e-12);
        // Exponential service is M/M/1: 1 / (100 − 50) s.
        let exponential = Mg1 { service_variance_s2: 0.0001, ..constant };
        assert!((exponential.response_mean_s() - 0.020).abs() < 1e-12);
    }
}
