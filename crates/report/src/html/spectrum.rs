//! Latency spectrum of a row: all percentiles up to the highest one that its samples support.

use record::{Histogram, PRINTED, Percentile, Tally};
use serde::Serialize;

use super::rounded::Rounded;

/// Percentiles from 0 up, as long as there are ten samples beyond each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Spectrum {
    pub(crate) n: u64,
    /// Response times: pairs of a share from 0 to 1, and milliseconds. Both increase.
    pub(crate) response: Vec<(f64, Rounded)>,
    /// Service times, as pairs like the response times.
    pub(crate) service: Vec<(f64, Rounded)>,
}

/// Number of points per nine.
const STEPS: u32 = 16;
/// Nines of the last percentile: 99.999 %.
const NINES: u32 = 5;

/// Spectrum of all requests that a row counted. `None` if no request ended.
pub(crate) fn of(tally: &Tally) -> Option<Spectrum> {
    let (response, service) = (tally.response.all(), tally.service.all());
    let shares = shares();
    (!response.is_empty()).then(|| Spectrum {
        n: response.count(),
        response: points(&response, &shares),
        service: points(&service, &shares),
    })
}

/// Percentiles in logarithmic steps towards 100 %, and those that tables show.
fn shares() -> Vec<Percentile> {
    let steps = (0..=NINES * STEPS).filter_map(|step| {
        let beyond = 10f64.powf(-f64::from(step) / f64::from(STEPS));
        Percentile::from_ppm(((1.0 - beyond) * 1e6).round() as u32)
    });
    let mut shares: Vec<Percentile> = steps.chain(PRINTED.iter().copied()).collect();
    shares.sort_unstable();
    shares.dedup();
    shares
}

fn points(durations: &Histogram, shares: &[Percentile]) -> Vec<(f64, Rounded)> {
    let milliseconds = |value_ns: u64| Rounded::of(value_ns as f64 / 1e6);
    let least = durations.min_ns().map(|min_ns| (0.0, milliseconds(min_ns)));
    let others = shares.iter().filter(|percentile| percentile.ppm() > 0).filter_map(|percentile| {
        Some((f64::from(percentile.ppm()) / 1e6, milliseconds(durations.printable_at(*percentile)?)))
    });
    least.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_durations(count: u64) -> Tally {
        let mut tally = Tally::default();
        for place in 1..=count {
            tally.response.ok.record(place * 1_000_000);
            tally.service.ok.record(place * 500_000);
        }
        tally
    }

    #[test]
    fn empty_tally_has_no_spectrum() {
        assert_eq!(of(&Tally::default()), None);
    }

    #[test]
    fn spectrum_ends_ten_samples_before_the_maximum() {
        let spectrum = of(&of_durations(1_000)).unwrap();
        assert_eq!(spectrum.n, 1_000);
        assert_eq!(spectrum.response.first(), Some(&(0.0, Rounded::of(1.0))));
        let (share, last) = spectrum.response.last().unwrap();
        assert_eq!(*share, 0.99);
        let last = last.get().unwrap();
        assert!((990.0..=991.0).contains(&last), "{last}");
        assert_eq!(spectrum.service.len(), spectrum.response.len());
        assert_eq!(of(&of_durations(9)).unwrap().response.len(), 1, "nothing but the least");
    }

    #[test]
    fn spectrum_increases_and_has_percentiles_of_tables() {
        let spectrum = of(&of_durations(2_000_000)).unwrap();
        let shares: Vec<f64> = spectrum.response.iter().map(|(share, _)| *share).collect();
        assert!(shares.is_sorted_by(|a, b| a < b));
        assert!((60..=100).contains(&shares.len()), "{}", shares.len());
        assert_eq!(shares.last(), Some(&0.99999));
        for share in [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999] {
            assert!(shares.contains(&share), "{share}");
        }
        assert!(spectrum.response.is_sorted_by(|(_, a), (_, b)| a.get() <= b.get()));
    }

    #[test]
    fn counts_requests_of_every_outcome() {
        let mut tally = of_durations(10);
        tally.response.rejected.record(1);
        tally.response.other.record(2);
        assert_eq!(of(&tally).unwrap().n, 12);
    }
}
