//! What a search has found, in a sentence for each variant.

use std::collections::BTreeMap;

use plan::Study as Plan;
use plan::units::show_rate;
use stats::{Judged, Search, SearchEnd};
use store::{Store, StoreError, Study};
use verdict::Setting;

use super::Capacity;

/// What is known of the capacity of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityAnswer {
    /// The system and its setting.
    pub name: String,
    /// The answer in words, with what it rests on: a line each.
    pub lines: Vec<String>,
    /// Whether some runs could be believed: the answer says something of the system.
    pub is_believed: bool,
    /// Whether the load of some run began.
    pub could_run: bool,
}

/// What a search has found by now, for each variant; nothing if the study is none.
pub fn capacity_answers(plan: &Plan, kept: &Study, store: &Store) -> Result<Vec<CapacityAnswer>, StoreError> {
    let Some(capacity) = Capacity::of(plan, store, kept) else { return Ok(Vec::new()) };
    capacity.settings().map(|(_, setting)| capacity.answer(kept, &setting)).collect()
}

impl Capacity<'_> {
    fn answer(&self, kept: &Study, setting: &Setting) -> Result<CapacityAnswer, StoreError> {
        let search = self.search(kept, setting)?;
        let found = search.finding();
        let runs = || {
            kept.runs
                .iter()
                .filter(|run| run.new.place.as_ref().is_some_and(|(_, place)| setting.is_of(place)))
        };
        let has_failed =
            |run: &&store::Run| run.ending.as_ref().is_some_and(|ending| ending.failure.is_some());
        let by = match found.failed_per_s {
            Some(per_s) => self.failed_by(kept, setting, per_s)?,
            None => None,
        };
        let mut lines = vec![format!("{} {}", setting.name(), sentence(&search, by))];
        lines.extend(further(&search));
        Ok(CapacityAnswer {
            name: setting.name(),
            lines,
            is_believed: found.held_per_s.is_some() || found.failed_per_s.is_some(),
            could_run: runs().any(|run| !has_failed(&run)),
        })
    }

    /// What most of the runs failed by that failed at a rate: as the last of them has it.
    fn failed_by(&self, kept: &Study, setting: &Setting, per_s: f64) -> Result<Option<String>, StoreError> {
        let mut by: BTreeMap<String, (u32, String)> = BTreeMap::new();
        for run in &kept.runs {
            let Some((_, place)) = &run.new.place else { continue };
            let Some(level) = verdict::level(place).filter(|level| level.at == stats::At::PerS(per_s)) else {
                continue;
            };
            if !setting.is_of(place) {
                continue;
            }
            let said = self.said(run, &level)?;
            if said.judged == Judged::Failed {
                for failed in said.failed {
                    let (runs, words) = by.entry(failed.condition).or_default();
                    (*runs, *words) = (*runs + 1, failed.words);
                }
            }
        }
        let most = by.into_values().max_by_key(|(runs, _)| *runs);
        Ok(most.map(|(_, words)| words))
    }
}

fn sentence(search: &Search, by: Option<String>) -> String {
    let found = search.finding();
    let by = by.map_or(String::new(), |by| format!(": {by}"));
    let held = found.held_per_s.map(show_rate);
    let failed = found.failed_per_s.map(show_rate);
    let begun = match (held, failed) {
        (Some(held), Some(failed)) => format!("held up to {held}, and failed at {failed}{by}"),
        (Some(held), None) => format!("held {held}, and nothing more was tried that failed"),
        (None, Some(failed)) => format!("held nothing that was tried: even {failed} failed{by}"),
        (None, None) => "says nothing: no run could be believed".to_owned(),
    };
    let why = match found.end {
        Some(SearchEnd::Found) if found.is_confirmed => " (confirmed by fresh runs at both)",
        Some(SearchEnd::Found | SearchEnd::NothingHolds) => "",
        Some(SearchEnd::NothingFails) => " (the highest rate of interest: it may hold more)",
        Some(SearchEnd::OutOfRuns) => " (not confirmed: the runs were used up)",
        Some(SearchEnd::NotFit) => " (a lower bound at most: three runs in a row could not be believed)",
        None => " (so far: the search was cut short)",
    };
    begun + why
}

/// What else is known.
fn further(search: &Search) -> Vec<String> {
    let found = search.finding();
    let band = found.noise_band.map(|(from, to)| {
        let (from, to) = (show_rate(from), show_rate(to));
        format!("between {from} and {to} runs now passed and now failed: more of them would not tell")
    });
    let ceiling = found.ceiling_per_s.zip(found.ceiling_users).map(|(per_s, users)| {
        let users = if users == 1 { "1 user".to_owned() } else { format!("{users} users") };
        format!("users who wait for replies got {} at most, at {users}", show_rate(per_s.round()))
    });
    let recovers = found.recovers.map(|recovers| match recovers {
        true => "after an overload it held again".to_owned(),
        false => "after an overload it did not hold any more, without a restart: METASTABLE".to_owned(),
    });
    let soaked = found.soaked.map(|soaked| match soaked {
        true => "it held a little less for long".to_owned(),
        false => "it did not hold a little less for long".to_owned(),
    });
    [band, ceiling, recovers, soaked].into_iter().flatten().collect()
}
