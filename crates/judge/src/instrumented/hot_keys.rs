//! Keys of a store on which most of its commands work, from samples of its commands.

use std::collections::BTreeMap;

use evidence::Run;
use units::Share;

use super::ranked;
use crate::bottleneck::SATURATED_MIN_SHARE;
use crate::core_time::in_measured_time;
use crate::inside::{DatabaseStatistics, KEY_COMMANDS, SAMPLED_COMMANDS, SHARED_KEY};
use crate::words::{decimal, percent};

/// Min number of samples. Commands of one sample are at most some milliseconds apart.
const SAMPLES_MIN: usize = 3;
/// Min number of commands in all samples.
const COMMANDS_MIN: f64 = 100.0;
/// Min share of commands on a hot key.
const HOT_MIN_SHARE: f64 = 0.3;
/// Min ratio between the commands on a hot key and those on the next one.
const HOT_MIN_RATIO: f64 = 3.0;

/// Returns whether a sample of commands would add information: the main thread of the store is the limit.
pub(super) fn are_of_interest(run: &Run) -> bool {
    let ran = DatabaseStatistics::of(run).and_then(|inside| inside.rate("main_thread_s"));
    ran.is_some_and(|ran| ran >= SATURATED_MIN_SHARE)
}

/// Describes the key that stands out. `None` if none does. The key comes from outside: escape it.
pub(super) fn said(runs: &[&Run]) -> Option<String> {
    let (mut samples, mut commands) = (0, 0.0);
    let mut keys: BTreeMap<String, f64> = BTreeMap::new();
    for reading in runs.iter().flat_map(|run| in_measured_time(run)).filter(|one| one.value.is_finite()) {
        match reading.metric {
            SAMPLED_COMMANDS => (samples, commands) = (samples + 1, commands + reading.value),
            // In a shared report, one label stands for all keys.
            KEY_COMMANDS if reading.label == SHARED_KEY => {}
            KEY_COMMANDS => *keys.entry(reading.label.to_owned()).or_default() += reading.value,
            _ => {}
        }
    }
    let keys = ranked(&keys);
    let (key, hot) = *keys.first()?;
    let next = keys.get(1).map_or(0.0, |(_, next)| *next);
    let share = Share::of_measured(hot, commands)?.get();
    let is_sampled = samples >= SAMPLES_MIN && commands >= COMMANDS_MIN;
    if !is_sampled || share < HOT_MIN_SHARE || hot < HOT_MIN_RATIO * next {
        return None;
    }
    Some(format!(
        "{} of {} sampled commands were on the key {key}, while the main thread of the store was saturated; a key stays on one thread \
         and on one node, so more shards would not spread these commands",
        percent(share, 0),
        decimal(commands, 0),
    ))
}

#[cfg(test)]
mod tests {
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;
    use crate::inside::DATABASE;

    fn said_of(seconds: usize, keys: &[(&str, f64)]) -> Option<String> {
        said_of_samples(seconds, 200.0, keys)
    }

    fn said_of_samples(seconds: usize, commands: f64, keys: &[(&str, f64)]) -> Option<String> {
        let second = |second| {
            let commands = reading(DATABASE, SAMPLED_COMMANDS, "", commands);
            let keys = keys.iter().map(|(key, count)| reading(DATABASE, KEY_COMMANDS, key, *count));
            (second, std::iter::once(commands).chain(keys).collect::<Vec<_>>())
        };
        let seconds: Vec<_> = (0..seconds as u64).map(second).collect();
        said(&[&OwnStore::new().kept(&new_run(), &[], &seconds, &ending())])
    }

    #[test]
    fn key_of_most_commands_is_named_with_its_share() {
        let hot = said_of(4, &[("cart:7", 124.0), ("a", 3.0)]).expect("a hot key");
        assert!(hot.starts_with("62 % of 800 sampled commands were on the key cart:7, while"), "{hot}");
    }

    #[test]
    fn no_key_is_named_unless_one_stands_out() {
        assert_eq!(said_of(4, &[("a", 2.0), ("b", 2.0)]), None, "uniform");
        assert_eq!(said_of(4, &[("a", 90.0), ("b", 80.0)]), None, "two keys");
        assert_eq!(said_of(4, &[("a", 50.0)]), None, "a quarter");
        assert_eq!(said_of(2, &[("a", 190.0)]), None, "too few samples");
        assert_eq!(said_of(4, &[]), None);
        assert_eq!(said_of_samples(4, 20.0, &[("a", 19.0)]), None, "80 commands");
        assert_eq!(said_of(4, &[("key", 90.0), ("key", 80.0)]), None, "two keys of a shared report");
    }
}
