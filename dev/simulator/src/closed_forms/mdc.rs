//! M/D/c: several servers with constant service time. The waiting time follows Franx.

use super::first_at_or_below;

/// State probability below which terms are dropped.
const NEGLIGIBLE: f64 = 1e-13;
/// Maximum number of states, for queues near saturation.
const STATES_MAX: usize = 20_000;

/// M/D/c queue with the stationary distribution of the number of requests in it.
#[derive(Clone, Debug)]
pub struct Mdc {
    servers: usize,
    arrivals_per_s: f64,
    service_s: f64,
    /// Probability that at most this many requests wait, by number.
    waiting_at_most: Vec<f64>,
}

impl Mdc {
    /// Creates a queue of `servers` servers with service time `service_s`. `None` if the queue would grow without bound, or nearly
    /// so.
    pub fn new(servers: u32, arrivals_per_s: f64, service_s: f64) -> Option<Self> {
        let servers = servers.max(1) as usize;
        let busy = arrivals_per_s * service_s / servers as f64;
        if !(busy > 0.0 && busy < 0.999) {
            return None;
        }
        let states = states(servers, arrivals_per_s * service_s);
        let mut below: f64 = states.iter().take(servers).sum();
        let waiting_at_most = states.iter().skip(servers).map(|share| {
            below += share;
            below
        });
        let waiting_at_most = waiting_at_most.collect();
        Some(Self { servers, arrivals_per_s, service_s, waiting_at_most })
    }

    /// Returns the share of requests whose response time exceeds `than_s`.
    pub fn response_tail(&self, than_s: f64) -> f64 {
        if than_s < self.service_s { 1.0 } else { self.wait_tail(than_s - self.service_s) }
    }

    /// Returns the response time at a quantile.
    pub fn response_quantile_s(&self, quantile: f64) -> f64 {
        first_at_or_below(1.0 - quantile, self.service_s, |than_s| self.response_tail(than_s))
    }

    /// Returns the mean response time: the service time plus, by Little's law, the mean number of waiting requests divided by the
    /// arrival rate.
    pub fn response_mean_s(&self) -> f64 {
        let waiting: f64 = self.waiting_at_most.iter().map(|at_most| 1.0 - at_most).sum();
        self.service_s + waiting / self.arrivals_per_s
    }

    /// Returns the share of requests that wait longer than `than_s`. Considers the state at a time before the arrival such that the
    /// wait ends an integer number k of service times later. By then, k·c of the requests that waited or have arrived since have
    /// started.
    fn wait_tail(&self, than_s: f64) -> f64 {
        let services = (than_s / self.service_s).floor() + 1.0;
        let arrivals_mean = self.arrivals_per_s * (services * self.service_s - than_s);
        let ahead_max = services as usize * self.servers - 1;
        let mut came_share = (-arrivals_mean).exp();
        let mut in_time = 0.0;
        for came in 0..=ahead_max {
            in_time += came_share * self.at_most(ahead_max - came);
            came_share *= arrivals_mean / (came + 1) as f64;
        }
        (1.0 - in_time).max(0.0)
    }

    fn at_most(&self, waiting: usize) -> f64 {
        self.waiting_at_most.get(waiting).copied().unwrap_or(1.0)
    }
}

/// Returns the highest rate at which the response time at `quantile` is at most `limit_s`: the expected result of a capacity
/// search. `None` if the service time alone exceeds the limit.
pub fn capacity_per_s(servers: u32, service_s: f64, quantile: f64, limit_s: f64) -> Option<f64> {
    if limit_s <= service_s {
        return None;
    }
    let most_per_s = f64::from(servers) / service_s;
    let (mut low, mut high) = (0.0, 0.999 * most_per_s);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        let holds = Mdc::new(servers, middle, service_s)
            .is_some_and(|queue| queue.response_tail(limit_s) <= 1.0 - quantile);
        if holds { low = middle } else { high = middle }
    }
    Some(low)
}

/// Computes the stationary probabilities of the number of requests in the system. After one service time, exactly the requests now
/// in service have left, and the number is that of the waiting requests plus new arrivals. This Markov chain is iterated to its
/// stationary state.
fn states(servers: usize, arrivals_mean: f64) -> Vec<f64> {
    let came = poisson(arrivals_mean);
    let mut now = vec![1.0];
    for _ in 0..200_000 {
        let mut next = vec![0.0; (now.len().saturating_sub(servers) + came.len()).min(STATES_MAX)];
        for (number, share) in now.iter().enumerate() {
            let stay = number.saturating_sub(servers);
            for (arrivals, chance) in came.iter().enumerate() {
                if let Some(state) = next.get_mut(stay + arrivals) {
                    *state += share * chance;
                }
            }
        }
        while next.last().is_some_and(|share| *share < NEGLIGIBLE) {
            next.pop();
        }
        let change: f64 =
            next.iter().enumerate().map(|(at, share)| (share - now.get(at).unwrap_or(&0.0)).abs()).sum();
        now = next;
        if change < 1e-11 {
            break;
        }
    }
    now
}

fn poisson(mean: f64) -> Vec<f64> {
    let mut shares = vec![(-mean).exp()];
    while shares.last().is_some_and(|share| *share > NEGLIGIBLE) || (shares.len() as f64) < mean {
        let next = shares[shares.len() - 1] * mean / shares.len() as f64;
        shares.push(next);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_forms::Mg1;

    #[test]
    fn one_server_has_the_pollaczek_khinchine_mean() {
        for busy in [0.3, 0.5, 0.8, 0.95] {
            let queue = Mdc::new(1, busy * 100.0, 0.010).unwrap();
            let known = Mg1 { arrivals_per_s: busy * 100.0, service_mean_s: 0.010, service_variance_s2: 0.0 };
            let ratio = queue.response_mean_s() / known.response_mean_s();
            assert!((ratio - 1.0).abs() < 1e-5, "{busy}: {ratio}");
        }
    }

    #[test]
    fn one_server_matches_hand_computation() {
        // No wait with probability 1 − ρ. Within one service time, P(wait ≤ t) = (1 − ρ) exp(λt).
        let queue = Mdc::new(1, 50.0, 0.010).unwrap();
        assert!((queue.response_tail(0.010) - 0.5).abs() < 1e-9);
        let at_most_5_ms = 0.5 * (50.0f64 * 0.005).exp();
        assert!((queue.response_tail(0.015) - (1.0 - at_most_5_ms)).abs() < 1e-9);
    }

    #[test]
    fn quantile_equals_the_limit_at_the_capacity() {
        let capacity = capacity_per_s(4, 0.010, 0.99, 0.030).unwrap();
        let quantile_s = Mdc::new(4, capacity, 0.010).unwrap().response_quantile_s(0.99);
        assert!((quantile_s - 0.030).abs() < 1e-5, "{capacity}: {quantile_s}");
        assert!((300.0..400.0).contains(&capacity), "{capacity}");
        assert_eq!(capacity_per_s(4, 0.010, 0.99, 0.010), None, "no time to wait");
        assert!(Mdc::new(4, 400.0, 0.010).is_none(), "it grows for ever");
    }
}
