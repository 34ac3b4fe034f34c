//! Holds looks back while they wait for the processes of the system to be read again.

use super::process_values::is_increase;
use super::{Look, Reading};

/// Queue of looks with incomplete values.
#[derive(Debug, Default)]
pub struct Completion {
    waiting: Vec<Look>,
}

impl Completion {
    /// Adds `looks`, and returns all complete looks, oldest first. Increases are divided among looks in proportion to the time that
    /// each covers; other values are copied to each look.
    pub fn complete(&mut self, looks: Vec<Look>) -> Vec<Look> {
        let mut complete = Vec::with_capacity(looks.len());
        for mut look in looks {
            if look.waits {
                self.waiting.push(look);
                continue;
            }
            let shared = std::mem::take(&mut look.shared);
            let first = complete.len();
            complete.append(&mut self.waiting);
            complete.push(look);
            share(shared, &mut complete[first..]);
        }
        complete
    }

    /// Returns the waiting looks as they are, if no later look will complete them.
    pub fn rest(&mut self) -> Vec<Look> {
        std::mem::take(&mut self.waiting)
    }
}

fn share(shared: Vec<Reading>, looks: &mut [Look]) {
    let all_s: f64 = looks.iter().map(|look| look.over.as_secs_f64()).sum();
    let count = looks.len() as f64;
    for look in looks {
        let part = if all_s > 0.0 { look.over.as_secs_f64() / all_s } else { 1.0 / count };
        look.readings.extend(shared.iter().map(|reading| {
            let part = if is_increase(reading.metric) { part } else { 1.0 };
            Reading { value: reading.value * part, ..reading.clone() }
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn look(over_ms: u64, waits: bool, shared: &[(&'static str, f64)]) -> Look {
        let reading =
            |&(metric, value)| Reading { subject: "system".to_owned(), metric, label: String::new(), value };
        let shared = shared.iter().map(reading).collect();
        let over = Duration::from_millis(over_ms);
        Look { waits, shared, ..Look::of(Instant::now(), over, Vec::new()) }
    }

    fn values(looks: &[Look], metric: &str) -> Vec<f64> {
        let of = |look: &Look| {
            look.readings.iter().filter(|reading| reading.metric == metric).map(|reading| reading.value).sum()
        };
        looks.iter().map(of).collect()
    }

    #[test]
    fn increases_are_divided_by_time_without_loss() {
        let mut completion = Completion::default();
        assert_eq!(completion.complete(vec![look(1_000, false, &[])]).len(), 1);
        assert!(completion.complete(vec![look(1_000, true, &[])]).is_empty());
        let all = [("cpu_user_s", 5.0), ("covered_s", 2.5), ("rss_bytes", 7.0)];
        let complete = completion.complete(vec![look(1_000, true, &[]), look(500, false, &all)]);
        assert_eq!(values(&complete, "cpu_user_s"), [2.0, 2.0, 1.0]);
        assert_eq!(values(&complete, "covered_s"), [1.0, 1.0, 0.5]);
        assert_eq!(values(&complete, "rss_bytes"), [7.0; 3]);
        assert!(completion.rest().is_empty());
    }

    #[test]
    fn waiting_looks_without_successor_are_returned_by_rest() {
        let mut completion = Completion::default();
        let looks = vec![look(1_000, false, &[]), look(1_000, true, &[])];
        assert_eq!(completion.complete(looks).len(), 1);
        assert_eq!(completion.rest().len(), 1);
    }
}
