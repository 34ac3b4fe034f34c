//! Rule for connections of a load that were served by few of the processes that could serve them.

use evidence::{ConnectionsByProcess, Distorted, Distortion, HeldReading, Level, ServingProcess};

use super::evidence::Evidence;
use super::words::{Finding, found};
use crate::causes::Doubt;

/// Probability below which a distribution does not count as random.
const PROBABILITY_MAX: f64 = 1e-4;
/// Min number of connections of the fullest process that matters, as a multiple of an even share.
const FULLEST_MIN: f64 = 1.5;
/// Max number of connections of the emptiest process that matters, as a multiple of an even share.
const EMPTIEST_MAX: f64 = 0.5;

impl Doubt {
    /// Few of the processes that could serve connections did so.
    pub const UNEVEN_CONNECTIONS: Self = Self {
        code: "uneven_connections",
        words: "connections sat on few of the system's processes",
        suspect: "in every reading a process holds ≥ 1.5 or ≤ 0.5 of an even share, by chance less often than 1 in 10,000",
        invalid: "never",
        looks_at: "how many connections each process holds that accepts them: after 250 ms, 1 s, 2 s, 4 s, …",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Connections by process in one reading.
#[derive(Debug, PartialEq)]
struct Shares<'a> {
    /// Processes that served or waited for connections, with their numbers of connections, largest first.
    held: Vec<(&'a ServingProcess, u32)>,
    total: u32,
}

impl<'a> Shares<'a> {
    fn of(all: &'a ConnectionsByProcess, reading: &HeldReading) -> Self {
        let mut held: Vec<(&ServingProcess, u32)> = all
            .processes
            .iter()
            .zip(&reading.connections)
            .filter_map(|(process, held)| Some((process, (*held)?)))
            .collect();
        // A process that accepts connections for others serves none.
        if held.iter().any(|(process, held)| *held > 0 && !process.listens) {
            held.retain(|(_, held)| *held > 0);
        }
        held.sort_by_key(|(process, held)| (std::cmp::Reverse(*held), process.pid));
        let total = held.iter().map(|(_, held)| held).sum();
        Self { held, total }
    }

    fn chance(&self, fewest: u32, most: u32) -> f64 {
        let places = self.held.len() as u64;
        stats::spread_probability(self.total.into(), places, fewest.into(), most.into())
    }

    /// Returns whether the most uneven distribution of this number of connections would not count as random.
    fn is_conclusive(&self) -> bool {
        self.chance(0, self.total) < PROBABILITY_MAX
    }

    fn even_share(&self) -> f64 {
        f64::from(self.total) / self.held.len().max(1) as f64
    }

    fn is_uneven(&self) -> bool {
        let (Some((_, most)), Some((_, fewest))) = (self.held.first(), self.held.last()) else {
            return false;
        };
        let even = self.even_share();
        // A negligible imbalance counts as even, for any probability.
        let most_or_even = if f64::from(*most) >= FULLEST_MIN * even { *most } else { 0 };
        let fewest_or_even = if f64::from(*fewest) <= EMPTIEST_MAX * even { *fewest } else { self.total };
        self.chance(fewest_or_even, most_or_even) < PROBABILITY_MAX
    }

    fn words(&self) -> String {
        let (processes, total) = (self.held.len(), self.total);
        let holders = self.held.iter().filter(|(_, held)| *held > 0).count();
        if holders < processes {
            let held = if holders == 1 { "holds" } else { "hold" };
            return format!(
                "{holders} of {processes} processes that can accept connections {held} all {total} connections of the load"
            );
        }
        let named = |place: Option<&(&ServingProcess, u32)>| {
            place.map_or_else(String::new, |(process, held)| {
                format!("{held} by process {} ({})", process.pid, process.name)
            })
        };
        format!(
            "of {total} connections {} are held, and {}: an even share of {processes} processes is {:.0}",
            named(self.held.first()),
            named(self.held.last()),
            self.even_share()
        )
    }
}

/// Reports connections that are unevenly distributed in every conclusive reading.
pub(super) fn uneven_connections(evidence: &Evidence<'_>) -> Option<Finding> {
    let all = evidence.environment.connections.as_ref()?;
    let shares: Vec<Shares<'_>> =
        all.readings.iter().map(|reading| Shares::of(all, reading)).filter(Shares::is_conclusive).collect();
    let newest = shares.last().filter(|_| shares.iter().all(Shares::is_uneven))?;
    let sentence = format!("{}, during the whole load", newest.words());
    let remedy = "renew connections (--connection-lifetime 5s, in a plan `connections: { lifetime: 5s }`), or begin the load once all \
                  processes accept connections";
    // The figures are correct for the system with this distribution. Response times are compared, and no figure is
    // marked invalid.
    let distorts = Distorted::ALL.map(|figure| {
        let level = if figure == Distorted::Throughput { Level::Suspect } else { Level::Valid };
        Distortion::with_unknown_size(figure, level)
    });
    Some(found(Level::Suspect, sentence, remedy).distorting(distorts.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(listens: bool, readings: &[&[Option<u32>]]) -> ConnectionsByProcess {
        let process = |pid: usize| ServingProcess { pid: pid as u32 + 1, name: "app".to_owned(), listens };
        let reading = |held: &&[Option<u32>]| HeldReading { at_ns: 0, connections: held.to_vec() };
        ConnectionsByProcess {
            processes: (0..readings[0].len()).map(process).collect(),
            readings: readings.iter().map(reading).collect(),
        }
    }

    fn uneven(all: &ConnectionsByProcess) -> Option<String> {
        let shares: Vec<Shares<'_>> = all
            .readings
            .iter()
            .map(|reading| Shares::of(all, reading))
            .filter(Shares::is_conclusive)
            .collect();
        shares.last().filter(|_| shares.iter().all(Shares::is_uneven)).map(Shares::words)
    }

    #[test]
    fn processes_that_hold_none_are_named() {
        let all = spread(true, &[&[Some(32), Some(0)]]);
        let words = "1 of 2 processes that can accept connections holds all 32 connections of the load";
        assert_eq!(uneven(&all).as_deref(), Some(words));
        let all = spread(true, &[&[Some(20), Some(0), Some(12)]]);
        let words = "2 of 3 processes that can accept connections hold all 32 connections of the load";
        assert_eq!(uneven(&all).as_deref(), Some(words));
    }

    #[test]
    fn spread_far_beyond_chance_is_named_with_the_fullest_and_the_emptiest_process() {
        let all = spread(true, &[&[Some(90), Some(4), Some(3), Some(3)]]);
        let words = "of 100 connections 90 by process 1 (app) are held, and 3 by process 4 (app): an even share of 4 processes is 25";
        assert_eq!(uneven(&all).as_deref(), Some(words));
    }

    #[test]
    fn even_and_random_spreads_are_not_named() {
        for held in [&[16, 16][..], &[20, 12], &[10, 6], &[9, 5, 2, 0], &[3, 1, 0, 4, 2, 2, 1, 3]] {
            let held: Vec<Option<u32>> = held.iter().copied().map(Some).collect();
            assert_eq!(uneven(&spread(true, &[&held])), None, "{held:?}");
        }
        // Unlikely to be random, but too small to matter.
        assert_eq!(uneven(&spread(true, &[&[Some(5_400), Some(4_600)]])), None);
    }

    #[test]
    fn one_even_reading_or_too_few_connections_report_nothing() {
        let uneven_then_even: &[&[Option<u32>]] = &[&[Some(32), Some(0)], &[Some(17), Some(15)]];
        assert_eq!(uneven(&spread(true, uneven_then_even)), None);
        assert_eq!(uneven(&spread(true, &[&[Some(4), Some(0)]])), None);
        // The second process started later.
        let late: &[&[Option<u32>]] = &[&[Some(32), None], &[Some(32), Some(0)]];
        assert!(uneven(&spread(true, late)).is_some());
    }

    #[test]
    fn process_that_accepts_for_others_is_no_worker() {
        let mut all = spread(false, &[&[Some(0), Some(16), Some(16)]]);
        all.processes[0].listens = true;
        assert_eq!(uneven(&all), None);
    }
}
