//! Time that Java virtual machines spent on garbage collection, and waits for monitors, as they count themselves.

use std::collections::BTreeMap;

use evidence::Run;

use crate::core_time::{Seconds, readings_in};

/// Length of one second's readings.
const SECOND_S: f64 = 1.0;

/// Counters of the virtual machines of one process of the plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JvmTime {
    /// Time that the counters cover, in seconds.
    pub covered_s: f64,
    /// Number of virtual machines.
    pub processes: f64,
    /// Time of collections, by collector, in seconds.
    pub collecting_s: BTreeMap<String, f64>,
    /// Time for which all threads were stopped, in seconds; `None` if not counted.
    pub safepoint_s: Option<f64>,
    /// Number of waits for monitors; `None` if not counted.
    pub monitor_waits: Option<f64>,
    /// Number of readings, one per second.
    pub readings: f64,
}

impl JvmTime {
    /// Returns the counters of the processes of the plan in the given seconds. Names come from outside: escape them.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> BTreeMap<String, Self> {
        let mut of_names: BTreeMap<&str, Self> = BTreeMap::new();
        let mut lengths_s: BTreeMap<(&str, u64), f64> = BTreeMap::new();
        for reading in readings_in(run, seconds).filter(|reading| reading.value.is_finite()) {
            let (name, value) = (reading.subject, reading.value.max(0.0));
            if reading.metric == "covered_s" {
                lengths_s.insert((name, reading.second), value);
            }
            if !reading.metric.starts_with("jvm_") {
                continue;
            }
            let time = of_names.entry(name).or_default();
            match reading.metric {
                "jvm_processes" => {
                    time.readings += 1.0;
                    time.processes = time.processes.max(value);
                    time.covered_s += lengths_s.get(&(name, reading.second)).copied().unwrap_or(SECOND_S);
                }
                "jvm_gc_s" => *time.collecting_s.entry(reading.label.to_owned()).or_default() += value,
                "jvm_safepoint_s" => *time.safepoint_s.get_or_insert(0.0) += value,
                "jvm_contended_monitors" => *time.monitor_waits.get_or_insert(0.0) += value,
                _ => {}
            }
        }
        of_names.into_iter().map(|(name, time)| (name.to_owned(), time)).collect()
    }

    /// Returns the share of time in which collections stopped the program; `None` if it was not read. Concurrent
    /// collectors also report time in which the program ran.
    pub(crate) fn stopped(&self) -> Option<f64> {
        let all_s = Some(self.covered_s * self.processes).filter(|all_s| *all_s > 0.0)?;
        let collecting_s: f64 = self.collecting_s.values().sum();
        let stopped_s = self.safepoint_s.map_or(collecting_s, |safepoint_s| safepoint_s.min(collecting_s));
        Some((stopped_s / all_s).min(1.0))
    }

    /// Returns the waits for monitors per second; `None` if they were not counted.
    pub(crate) fn monitor_waits_per_s(&self) -> Option<f64> {
        Some(self.monitor_waits? / (self.readings * SECOND_S)).filter(|per_s| per_s.is_finite())
    }
}
