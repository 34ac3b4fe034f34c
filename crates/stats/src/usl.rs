//! The universal scalability law: how throughput grows with users, stops growing, and falls.

/// What the law says of a system: X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// λ: what one user gets, per second.
    pub lambda: f64,
    /// σ: the share of the work that only one can do at a time.
    pub sigma: f64,
    /// κ: what every pair costs, as a share.
    pub kappa: f64,
    /// With so many users throughput is highest; `None`: it never falls.
    pub peak: Option<f64>,
    /// What the peak lies in with 95 %, over resampled points; `None` unless nearly all of the samples have a peak.
    pub peak_interval: Option<[f64; 2]>,
    /// What κ lies in with 95 %: with its lower end above zero throughput surely falls somewhere.
    pub kappa_interval: [f64; 2],
    /// Whether the peak, or the half of a level that is only neared, lies beyond the most users that were tried.
    pub is_extrapolated: bool,
}

/// The law through points (users, throughput per second), several per number of users if there are; `None` unless there
/// are six different numbers of users, all of them and all throughputs above zero. `seed` is that of the resampling.
pub fn fit(_points: &[(f64, f64)], _seed: u64) -> Option<Usl> {
    None
}
