//! Addresses that the processes of a system called while requests were measured, with the traffic of their connections.

use std::collections::BTreeMap;

use evidence::{LOOK_FROM, LOOK_TO, Run};
use record::Phase;

use crate::core_time::{Seconds, readings_in};

/// Calls from a system to others, on this machine or elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependencies {
    /// Traffic by process of the plan and remote address. Both come from outside: escape them.
    pub called: BTreeMap<(String, String), Called>,
    /// Connections opened on this machine by processes other than the generator, per second. `None` if not counted.
    pub opened_per_s: Option<f64>,
}

/// Connections of one process to one address. Rates are per second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Called {
    /// Program that listens at the address. Empty if it is unknown, or runs elsewhere. Comes from outside: escape it.
    pub program: String,
    /// Mean number of connections.
    pub connections: f64,
    /// Lower bound of the mean number of connections that awaited a reply. Misses a request sent in the kernel tick of
    /// the previous reply.
    pub awaited: f64,
    /// New connections that were seen. Misses connections opened and closed between two readings.
    pub seen_opened_per_s: f64,
    /// Segments with data: sent, and received.
    pub segments_per_s: [f64; 2],
    /// Bytes: sent, and received.
    pub bytes_per_s: [f64; 2],
    /// Mean number of cores used by the processes at the address. 0 if unknown or elsewhere.
    pub cores: f64,
    /// Mean number of connections that had data to send, that waited for the peer's window, and that waited for their own buffer.
    pub sending: [f64; 3],
}

/// Max mean size of the segments of a request-reply exchange, in bytes. Larger segments carry bulk data, so they do not
/// count requests.
const QUESTION_MAX_BYTES: f64 = 1_448.0;

/// Min number of new connections per second at which the connections to an address count as short-lived.
pub(crate) const RENEWED_MIN_PER_S: f64 = 1.0;

impl Called {
    /// Returns the number of request-reply round trips per second. `None` if the connections carried bulk data in both
    /// directions.
    pub fn round_trips_per_s(&self) -> Option<f64> {
        let [sent, received] = self.segments_per_s;
        let is_bulk = |way: usize| self.bytes_per_s[way] > QUESTION_MAX_BYTES * self.segments_per_s[way];
        (!(is_bulk(0) && is_bulk(1))).then_some(sent.min(received))
    }

    /// Returns a lower bound of the mean time until a reply, in nanoseconds, by Little's law on this address. `None`
    /// without a reply, or if connections are too short-lived to be counted.
    pub fn reply_ns(&self) -> Option<f64> {
        let per_s = self.round_trips_per_s().filter(|per_s| *per_s > 0.0)?;
        if self.seen_opened_per_s >= RENEWED_MIN_PER_S {
            return None;
        }
        Some(self.awaited / per_s * 1e9)
    }

    fn add(&mut self, metric: &str, value: f64) {
        let sum = match metric {
            "connections" => &mut self.connections,
            "awaited" => &mut self.awaited,
            "opened" => &mut self.seen_opened_per_s,
            "segments_sent" => &mut self.segments_per_s[0],
            "segments_received" => &mut self.segments_per_s[1],
            "sent_bytes" => &mut self.bytes_per_s[0],
            "received_bytes" => &mut self.bytes_per_s[1],
            "cpu_s" => &mut self.cores,
            "busy_s" => &mut self.sending[0],
            "peer_window_s" => &mut self.sending[1],
            "send_buffer_s" => &mut self.sending[2],
            _ => return,
        };
        *sum += value;
    }

    /// Multiplies counts by `of_counts`, and levels by `of_levels`.
    fn scale(&mut self, of_counts: f64, of_levels: f64) {
        [&mut self.connections, &mut self.awaited].into_iter().for_each(|level| *level *= of_levels);
        let pairs = self.segments_per_s.iter_mut().chain(&mut self.bytes_per_s);
        let counts = pairs.chain(&mut self.sending).chain([&mut self.seen_opened_per_s, &mut self.cores]);
        counts.for_each(|count| *count *= of_counts);
    }

    fn add_all(&mut self, other: &Self) {
        if self.program.is_empty() {
            self.program.clone_from(&other.program);
        }
        self.connections += other.connections;
        self.awaited += other.awaited;
        self.cores += other.cores;
        self.seen_opened_per_s += other.seen_opened_per_s;
        for way in 0..2 {
            self.segments_per_s[way] += other.segments_per_s[way];
            self.bytes_per_s[way] += other.bytes_per_s[way];
        }
        (0..3).for_each(|part| self.sending[part] += other.sending[part]);
    }
}

impl Dependencies {
    /// Sums up the calls in the given seconds; empty if none were seen.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> Self {
        let mut called: BTreeMap<(String, String), (f64, Called)> = BTreeMap::new();
        let (mut covered_s, mut opened) = (0.0, None);
        for reading in readings_in(run, seconds).filter(|reading| reading.value.is_finite()) {
            let value = reading.value;
            match (reading.subject, reading.metric) {
                ("machine", LOOK_FROM) => covered_s -= value,
                ("machine", LOOK_TO) => covered_s += value,
                ("machine", "tcp_opened") => opened = Some(opened.unwrap_or(0.0) + value),
                (process, metric) => {
                    let Some(metric) = metric.strip_prefix("dependency_") else { continue };
                    if metric == "program" {
                        continue;
                    }
                    let key = (process.to_owned(), reading.label.to_owned());
                    let (looks, sums) = called.entry(key).or_default();
                    *looks += f64::from(u8::from(metric == "connections"));
                    sums.add(metric, value);
                }
            }
        }
        if covered_s <= 0.0 {
            return Self::default();
        }
        let programs = programs(run);
        let over = |(key, (looks, mut sums)): ((String, String), (f64, Called))| {
            sums.scale(1.0 / covered_s, 1.0 / looks.max(1.0));
            sums.program = programs.get(&key.1).copied().unwrap_or_default().to_owned();
            (key, sums)
        };
        Self {
            called: called.into_iter().map(over).collect(),
            opened_per_s: opened.map(|opened| (opened / covered_s - opened_by_generator(run)).max(0.0)),
        }
    }

    /// Returns the cores used by all called servers on this machine. Processes that call one server share it.
    pub fn cores(&self) -> f64 {
        let by_address: BTreeMap<&String, f64> =
            self.called.iter().map(|((_, address), called)| (address, called.cores)).collect();
        by_address.into_values().sum()
    }

    /// Averages several runs. An address that a run did not call counts as 0 there.
    pub(crate) fn mean<'a>(of: impl Iterator<Item = &'a Self>) -> Self {
        let (mut mean, mut runs, mut opened) = (Self::default(), 0.0, Vec::new());
        for one in of {
            runs += 1.0;
            one.called.iter().for_each(|(key, called)| {
                mean.called.entry(key.clone()).or_default().add_all(called);
            });
            opened.extend(one.opened_per_s);
        }
        mean.called.values_mut().for_each(|called| called.scale(1.0 / runs, 1.0 / runs));
        let is_counted = !opened.is_empty();
        mean.opened_per_s = is_counted.then(|| opened.iter().sum::<f64>() / opened.len() as f64);
        mean
    }

    /// Returns the connections per second that a process opened to an address: its share of all opened connections, by
    /// those that were seen. `None` if they were not counted, or none was seen.
    pub fn opened_per_s(&self, key: &(String, String)) -> Option<f64> {
        let seen: f64 = self.called.values().map(|called| called.seen_opened_per_s).sum();
        let here = self.called.get(key)?.seen_opened_per_s;
        Some(self.opened_per_s? * here / seen).filter(|per_s| per_s.is_finite() && here > 0.0)
    }
}

/// Returns the programs that listen at addresses. A run reads each only once, perhaps during its warm-up.
fn programs(run: &Run) -> BTreeMap<String, &str> {
    let labels = run.readings().filter(|reading| reading.metric == "dependency_program");
    let pairs = labels.filter_map(|reading| reading.label.split_once(' '));
    pairs.map(|(address, program)| (address.to_owned(), program)).collect()
}

/// Returns the connections that the generator opened while requests were measured, per second.
fn opened_by_generator(run: &Run) -> f64 {
    let opened = run.whole(Phase::Measured).map_or(0, |tally| tally.connections);
    let length_s = run.window().map_or(0.0, |window| window.ns as f64 / 1e9);
    if length_s > 0.0 { opened as f64 / length_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use evidence::{NewRun, Reading};
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;

    const DB: &str = "127.0.0.1:5432";

    fn second(number: u64, calls: f64, awaited: f64) -> (u64, Vec<Reading>) {
        let of = |metric: &str, value: f64| reading("app", metric, DB, value);
        let readings = vec![
            reading("machine", LOOK_FROM, "", number as f64),
            reading("machine", LOOK_TO, "", number as f64 + 1.0),
            reading("machine", "tcp_opened", "", 7.0),
            of("dependency_connections", 4.0),
            of("dependency_opened", 0.5),
            of("dependency_awaited", awaited),
            of("dependency_segments_sent", calls),
            of("dependency_segments_received", 2.0 * calls),
            of("dependency_sent_bytes", 100.0 * calls),
            of("dependency_received_bytes", 20_000.0 * calls),
            of("dependency_busy_s", 0.5),
        ];
        (number, readings)
    }

    #[test]
    fn traffic_of_measured_seconds_is_summed_by_address() {
        let mut warm_up = second(0, 1_000.0, 4.0);
        warm_up.1.push(reading("app", "dependency_program", &format!("{DB} my server"), 1.0));
        let new = NewRun { warm_up_ns: 1_000_000_000, ..new_run() };
        let seconds = [warm_up, second(1, 30.0, 1.0), second(2, 10.0, 3.0)];
        let run = OwnStore::new().kept(&new, &[], &seconds, &ending());
        let found = Dependencies::during(&run, Seconds::Measured);
        let key = ("app".to_owned(), DB.to_owned());
        let called = &found.called[&key];
        assert_eq!((called.program.as_str(), called.connections, called.awaited), ("my server", 4.0, 2.0));
        assert_eq!(called.round_trips_per_s(), Some(20.0), "large answers to small questions are no bulk");
        assert_eq!(called.reply_ns(), Some(0.1e9));
        assert_eq!((called.bytes_per_s, called.sending[0]), ([2_000.0, 400_000.0], 0.5));
        assert_eq!(found.opened_per_s(&key), found.opened_per_s, "it is the only address");
        let mean = Dependencies::mean([&found, &Dependencies::default()].into_iter());
        assert_eq!((mean.called[&key].awaited, mean.opened_per_s), (1.0, found.opened_per_s));
    }

    #[test]
    fn bulk_data_is_no_row_of_questions() {
        let bulk = |bytes| Called {
            segments_per_s: [50.0, 40.0],
            bytes_per_s: [50.0 * bytes, 40.0 * bytes],
            ..Called::default()
        };
        assert_eq!(bulk(16_384.0).round_trips_per_s(), None);
        assert_eq!(bulk(200.0).round_trips_per_s(), Some(40.0));
    }

    #[test]
    fn run_without_readings_has_no_dependencies() {
        let run = OwnStore::new().kept(&new_run(), &[], &[], &ending());
        assert_eq!(Dependencies::during(&run, Seconds::Measured), Dependencies::default());
    }
}
