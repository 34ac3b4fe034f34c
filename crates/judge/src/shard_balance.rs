//! Shard balance: evenness of a hash's distribution of requests over servers.

use evidence::{EvidenceError, Run};
use record::Phase;

/// Key of the lists of shards in the stored plan of a run.
pub const SHARDS_OF_PLAN: &str = "shards";
/// Probability that equally frequent keys are less even than [`ShardBalance::by_chance`].
const ERROR_RATE: f64 = 0.05;

/// A list of servers that a hash selects from. Runs store one object for each list: `endpoint`, `steps`, `addresses`, `in_use`.
struct ShardList {
    /// Name of the endpoint; empty for the system itself.
    endpoint: String,
    /// Numbers of the steps that use the list.
    steps: Vec<u16>,
    /// Number of servers. They are the last parts of each step.
    addresses: usize,
    /// Number of servers, from the first on, that received requests.
    in_use: usize,
}

/// Requests of the measured time by shard.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardBalance {
    /// Name of the endpoint; empty for the system itself.
    pub endpoint: String,
    /// Host and port of each shard in use, with the number of requests that ended there.
    pub shards: Vec<(String, u64)>,
    /// Ratio of the most requests of a shard to the mean over the shards; 1 is even.
    pub largest_to_mean: f64,
    /// Ratio that random placement exceeds with a probability of 5 %, if each request goes to any shard with equal
    /// probability. Frequent keys, or shards with unequal ranges, exceed it.
    pub by_chance: f64,
}

impl ShardBalance {
    /// Returns the balance of each list with a hash. Lists with a single shard, or without requests, have none.
    ///
    /// # Errors
    ///
    /// Stored seconds that cannot be decoded.
    pub fn of_run(run: &Run) -> Result<Vec<Self>, EvidenceError> {
        let stored = run.new.plan_json[SHARDS_OF_PLAN].as_array().map_or(&[][..], Vec::as_slice);
        let lists = stored.iter().filter_map(|list| {
            let number = |key: &str| usize::try_from(list[key].as_u64()?).ok();
            let steps = list["steps"].as_array()?.iter();
            Some(ShardList {
                endpoint: list["endpoint"].as_str()?.to_owned(),
                steps: steps.filter_map(|step| u16::try_from(step.as_u64()?).ok()).collect(),
                addresses: number("addresses")?,
                in_use: number("in_use")?,
            })
        });
        let balances = lists.map(|list| Self::from_counts(run, list)).collect::<Result<Vec<_>, _>>()?;
        Ok(balances.into_iter().flatten().collect())
    }

    fn from_counts(run: &Run, list: ShardList) -> Result<Option<Self>, EvidenceError> {
        let mut shards: Vec<(String, u64)> = Vec::new();
        for step in &list.steps {
            let parts: Vec<(u16, &str)> = run.new.parts_of(*step).collect();
            let first = parts.len().saturating_sub(list.addresses);
            for (place, (number, name)) in parts[first..].iter().take(list.in_use).enumerate() {
                let ended = run.total(*number, Phase::Measured)?.counts.ended();
                match shards.get_mut(place) {
                    Some((_, count)) => *count += ended,
                    None => shards.push(((*name).to_owned(), ended)),
                }
            }
        }
        Ok(Self::from_shards(list.endpoint, shards))
    }

    /// Returns the largest ratio ÷ the ratio by chance. Above 1, the shards are less even than random placement.
    pub fn excess(&self) -> f64 {
        self.largest_to_mean / self.by_chance
    }

    /// Sums the requests of several runs, shard by shard in the order of the list. `None` if the number of shards
    /// differs, or `balances` is empty.
    pub fn added_up(balances: &[&Self]) -> Option<Self> {
        let (first, others) = balances.split_first()?;
        let mut shards = first.shards.clone();
        for other in others {
            if other.shards.len() != shards.len() {
                return None;
            }
            for ((_, sum), (_, count)) in shards.iter_mut().zip(&other.shards) {
                *sum = sum.saturating_add(*count);
            }
        }
        Self::from_shards(first.endpoint.clone(), shards)
    }

    /// Computes the balance. `None` if there is a single shard, or no request.
    fn from_shards(endpoint: String, shards: Vec<(String, u64)>) -> Option<Self> {
        let all = shards.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let largest = shards.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let by_chance = stats::largest_count_by_chance(all, shards.len() as u64, ERROR_RATE)?;
        let mean = all as f64 / shards.len() as f64;
        let (largest_to_mean, by_chance) = (largest as f64 / mean, by_chance as f64 / mean);
        Some(Self { endpoint, shards, largest_to_mean, by_chance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balance(counts: &[u64]) -> Option<ShardBalance> {
        let shards = counts.iter().enumerate().map(|(number, count)| (format!("host:{number}"), *count));
        ShardBalance::from_shards("shop".to_owned(), shards.collect())
    }

    #[test]
    fn requests_of_runs_are_added_shard_by_shard() {
        let runs: Vec<ShardBalance> = [[60, 40], [90, 110]].iter().filter_map(|run| balance(run)).collect();
        let together = ShardBalance::added_up(&runs.iter().collect::<Vec<_>>());
        assert_eq!(together, balance(&[150, 150]));
        assert_eq!(together.map(|of| of.largest_to_mean), Some(1.0));
    }

    #[test]
    fn runs_with_other_numbers_of_shards_have_no_common_balance() {
        let runs: Vec<ShardBalance> =
            [&[60, 40][..], &[9, 9, 9]].iter().filter_map(|run| balance(run)).collect();
        assert_eq!(runs.len(), 2);
        assert_eq!(ShardBalance::added_up(&runs.iter().collect::<Vec<_>>()), None);
        assert_eq!(ShardBalance::added_up(&[]), None);
        assert_eq!(balance(&[7]), None, "a single shard");
        assert_eq!(balance(&[0, 0]), None, "no request");
    }
}
