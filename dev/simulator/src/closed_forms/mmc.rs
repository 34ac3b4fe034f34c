//! M/M/c: several servers with exponential service times (Erlang C).

use super::first_at_or_below;

/// M/M/c queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    /// Number of servers; at least 1.
    pub servers: u32,
    /// Arrivals per second; below the total service rate.
    pub arrivals_per_s: f64,
    /// Service rate of one busy server, in requests per second.
    pub services_per_s: f64,
}

impl Mmc {
    /// Returns the share of requests that wait: Erlang C, computed from Erlang B by its recursion.
    pub fn waits_share(&self) -> f64 {
        let offered = self.arrivals_per_s / self.services_per_s;
        let servers = f64::from(self.servers);
        let blocked = (1..=self.servers)
            .fold(1.0, |blocked, server| offered * blocked / (f64::from(server) + offered * blocked));
        servers * blocked / (servers - offered * (1.0 - blocked))
    }

    /// Returns the mean response time.
    pub fn response_mean_s(&self) -> f64 {
        self.waits_share() / self.spare_per_s() + 1.0 / self.services_per_s
    }

    /// Returns the share of requests whose response time exceeds `than_s`.
    pub fn response_tail(&self, than_s: f64) -> f64 {
        let (waits, spare, served) = (self.waits_share(), self.spare_per_s(), self.services_per_s);
        let not_served = (-served * than_s).exp();
        // Waits of waiting requests are exponential, so wait plus service is a sum of two exponentials.
        let of_both = if (spare - served).abs() < 1e-9 * served {
            (1.0 + served * than_s) * not_served
        } else {
            (spare * not_served - served * (-spare * than_s).exp()) / (spare - served)
        };
        (1.0 - waits) * not_served + waits * of_both
    }

    /// Returns the response time at a quantile.
    pub fn response_quantile_s(&self, quantile: f64) -> f64 {
        first_at_or_below(1.0 - quantile, 1.0 / self.services_per_s, |than_s| self.response_tail(than_s))
    }

    fn spare_per_s(&self) -> f64 {
        f64::from(self.servers) * self.services_per_s - self.arrivals_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_forms::Mm1;

    #[test]
    fn mmc_matches_hand_computation() {
        // Two servers, one erlang: B = 1/5, C = 2·(1/5) / (2 − 4/5) = 1/3; mean (1/3)/100 + 1/100 s.
        let two = Mmc { servers: 2, arrivals_per_s: 100.0, services_per_s: 100.0 };
        assert!((two.waits_share() - 1.0 / 3.0).abs() < 1e-12);
        assert!((two.response_mean_s() - 0.04 / 3.0).abs() < 1e-12);
        // Four servers, three erlangs: B = 27/131, C = 4·(27/131) / (4 − 3·104/131) = 27/53.
        let four = Mmc { servers: 4, arrivals_per_s: 300.0, services_per_s: 100.0 };
        assert!((four.waits_share() - 27.0 / 53.0).abs() < 1e-12);
    }

    #[test]
    fn one_server_equals_mm1() {
        let simple = Mm1 { arrivals_per_s: 80.0, services_per_s: 100.0 };
        let one = Mmc { servers: 1, arrivals_per_s: 80.0, services_per_s: 100.0 };
        assert!((one.response_mean_s() - simple.response_mean_s()).abs() < 1e-12);
        for quantile in [0.5, 0.9, 0.99, 0.999] {
            let ratio = one.response_quantile_s(quantile) / simple.response_quantile_s(quantile);
            assert!((ratio - 1.0).abs() < 1e-6, "{quantile}: {ratio}");
        }
    }

    #[test]
    fn tail_is_continuous_at_equal_rates() {
        // Two servers whose spare rate equals the rate of one server.
        let at = |arrivals_per_s| Mmc { servers: 2, arrivals_per_s, services_per_s: 100.0 };
        let (equal, near) = (at(100.0).response_tail(0.02), at(100.001).response_tail(0.02));
        assert!((equal / near - 1.0).abs() < 1e-4, "{equal} {near}");
    }
}
