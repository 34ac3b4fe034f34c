//! Stored form of a spread over connections.

use record::{MinMedianMax, Spread};
use serde::{Deserialize, Serialize};

/// Minimum, lower median, and maximum.
type Three = [f64; 3];

/// [`Spread`] as stored in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredSpread {
    connections: u64,
    #[serde(default)]
    unserved: Option<u64>,
    requests: Three,
    response_mean_ns: Option<Three>,
    response_max_ns: Option<Three>,
}

impl StoredSpread {
    /// Converts a spread. `None` if a figure is not finite, which JSON cannot represent.
    pub(crate) fn of(spread: &Spread) -> Option<Self> {
        let kept = Self {
            connections: spread.connections,
            unserved: spread.unserved,
            requests: to_array(spread.requests),
            response_mean_ns: spread.response_mean_ns.map(to_array),
            response_max_ns: spread.response_max_ns.map(to_array),
        };
        let times = [kept.response_mean_ns, kept.response_max_ns].into_iter().flatten().flatten();
        kept.requests.into_iter().chain(times).all(f64::is_finite).then_some(kept)
    }

    pub(crate) fn into_spread(self) -> Spread {
        Spread {
            connections: self.connections,
            unserved: self.unserved,
            requests: from_array(self.requests),
            response_mean_ns: self.response_mean_ns.map(from_array),
            response_max_ns: self.response_max_ns.map(from_array),
        }
    }
}

fn to_array(MinMedianMax { min, median, max }: MinMedianMax) -> Three {
    [min, median, max]
}

fn from_array([min, median, max]: Three) -> MinMedianMax {
    MinMedianMax { min, median, max }
}
