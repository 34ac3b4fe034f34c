//! Distribution of requests over hash shards in one run, for lists of facts and for JSON.

use judge::ShardBalance;
use serde::Serialize;

use crate::text::visible;
use crate::units::{count, decimal};
use crate::view::View;

/// Shards that have room in a line.
const SHARDS_MAX: usize = 8;

/// Balance of a list of shards, in JSON.
#[derive(Serialize)]
pub(crate) struct BalanceObject {
    endpoint: String,
    shards: Vec<ShardObject>,
    largest_to_mean: f64,
    largest_to_mean_by_chance: f64,
}

#[derive(Serialize)]
struct ShardObject {
    name: String,
    requests: u64,
}

/// Balance of each list of shards, for JSON.
pub(crate) fn objects(view: &View<'_>) -> Vec<BalanceObject> {
    let object = |balance: &ShardBalance| BalanceObject {
        endpoint: visible(&balance.endpoint),
        shards: balance
            .shards
            .iter()
            .map(|(name, requests)| ShardObject { name: visible(name), requests: *requests })
            .collect(),
        largest_to_mean: balance.largest_to_mean,
        largest_to_mean_by_chance: balance.by_chance,
    };
    view.shards.iter().map(object).collect()
}

/// Formats each list for a list of facts: `1,001, 998, and 1,004 requests; largest ÷ mean 1.00 (chance alone: up to 1.05)`.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    view.shards.iter().map(|balance| line(balance, view)).collect()
}

fn line(balance: &ShardBalance, view: &View<'_>) -> String {
    let mut counts: Vec<String> =
        balance.shards.iter().take(SHARDS_MAX).map(|(_, requests)| count(*requests)).collect();
    let more = balance.shards.len().saturating_sub(SHARDS_MAX);
    if more > 0 {
        counts.push(format!("and {more} more"));
    }
    let name =
        if balance.endpoint.is_empty() { String::new() } else { format!("{}: ", visible(&balance.endpoint)) };
    let (ratio, chance) = (decimal(balance.largest_to_mean, 2), decimal(balance.by_chance, 2));
    format!(
        "{name}{} {}; largest ÷ mean {ratio} (chance alone, 95 %: up to {chance})",
        counts.join(" / "),
        view.noun().many
    )
}
