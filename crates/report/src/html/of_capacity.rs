//! Capacity search for the page.

use judge::{Condition, METRICS, MetricKind};

use super::bottlenecks;
use super::document::{Answer, Capacity, CapacityLimit, CapacitySearch, Fact, Level, Objective};
use super::figures::times;
use super::table;
use crate::capacity::{CapacityRow, CapacityView, LevelRow, Limit, answer, facts, table as levels_table};
use crate::durations::{Durations, key};
use crate::noun::Noun;
use crate::text::{sanitize, visible};

/// Maximum numbers of characters of a name, and of a server's error message.
const NAME_CHARACTERS_MAX: usize = 120;
const WORDS_CHARACTERS_MAX: usize = 300;

/// Maximum sustainable load of every variant.
pub(super) fn search(view: &CapacityView, noun: &Noun) -> CapacitySearch {
    CapacitySearch {
        objectives: view.slos.iter().map(objective).collect(),
        rows: view.rows.iter().map(|row| of_row(view, row, noun)).collect(),
    }
}

fn words(text: &str) -> String {
    sanitize(text, WORDS_CHARACTERS_MAX)
}

fn objective(slo: &Condition) -> Objective {
    let name = slo.figure.name();
    // The page has columns for response times only.
    let has_column = METRICS.iter().any(|metric| metric.kind == MetricKind::Response && metric.name == name);
    let limit_ms = has_column.then_some(slo.limit / 1e6);
    Objective { words: words(&slo.text), time: has_column.then(|| key(&name)), limit_ms }
}

fn of_row(view: &CapacityView, row: &CapacityRow, noun: &Noun) -> Capacity {
    let name = sanitize(&view.name(row), NAME_CHARACTERS_MAX);
    let crate::answer::Answer { text, certainty, how_sure, .. } = answer(row);
    let found = &row.found;
    let facts = facts(view, row).into_iter().map(|(name, value)| Fact::new(name, words(&value)));
    Capacity {
        answer: Answer { certainty: certainty.name(), text: format!("{name}: {}.", words(&text)), how_sure },
        name,
        system: sanitize(&row.setting.system, NAME_CHARACTERS_MAX),
        held_per_s: finite(found.held_per_s),
        failed_per_s: finite(found.failed_per_s),
        noise_per_s: found.noise_band.map(|(low, high)| [low, high]),
        levels: row.levels.rates.iter().map(level).collect(),
        table: table::of(levels_table(row, noun, visible), &[]),
        facts: facts.collect(),
        limit: row.limit.as_ref().map(limit),
    }
}

fn limit(limit: &Limit) -> CapacityLimit {
    let causes = bottlenecks::causes(&limit.causes, visible);
    CapacityLimit {
        per_s: limit.per_s,
        runs: limit.runs,
        causes,
        reason: limit.why_none().unwrap_or_default(),
    }
}

fn level(row: &LevelRow) -> Level {
    let has_any = row.passed + row.failed > 0;
    Level {
        per_s: row.per_s,
        passed: row.passed,
        failed: row.failed,
        invalid: row.invalid,
        failed_by: row.failed_by.as_deref().map_or_else(String::new, words),
        ok_per_s: finite(row.ok_per_s()),
        response_ms: has_any.then(|| times(&Durations::of(&row.tally.response.all()))),
    }
}

fn finite(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| figure.is_finite())
}
