//! Reports the likely bottlenecks of variants while a study runs.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Procedure, Study};
use judge::bottleneck::{SettingBottleneck, bottlenecks};
use judge::{Certainty, Resource, Setting};
use plan::Study as Plan;
use progress::Finding;

/// Bottlenecks reported so far, and the number of runs at which the rules are evaluated again.
#[derive(Debug, Default)]
pub(crate) struct LikelyBottlenecks {
    reported: BTreeMap<(String, Setting), &'static str>,
    /// Number of runs at which the rules are evaluated again.
    next: usize,
}

impl LikelyBottlenecks {
    /// Creates an empty list. `None` for a capacity search: its runs have different loads, most of them below any limit.
    pub(crate) fn of(kept: &Study) -> Option<Self> {
        (!matches!(kept.new.compare.procedure, Procedure::Capacity(_))).then(Self::default)
    }

    /// Returns whether the rules should be evaluated after `made` runs: each time that the number of runs has
    /// quadrupled.
    pub(crate) fn needs_evaluation(&self, made: usize) -> bool {
        made >= self.next
    }

    /// Finds bottlenecks that were not reported before, one finding for each limit. An offered load below the capacity
    /// is no limit of a system and is left out. The report has the evidence.
    pub(crate) fn news(
        &mut self,
        plan: &Plan,
        kept: &Study,
        made: usize,
    ) -> Result<Vec<Finding>, EvidenceError> {
        self.next = made.saturating_mul(4);
        let mut news: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for SettingBottleneck { load, setting, bottleneck } in bottlenecks(kept)? {
            let is_limit =
                bottleneck.certainty == Certainty::Suspected && bottleneck.resource != Resource::LOAD;
            let under = if plan.loads.len() > 1 { format!(" under {load}") } else { String::new() };
            let name = format!("{}{under}", setting.name());
            if is_limit && self.reported.insert((load, setting), bottleneck.what) != Some(bottleneck.what) {
                news.entry(bottleneck.what).or_default().push(name);
            }
        }
        let finding = |(limit, variants)| Finding::Bottleneck { limit, variants };
        Ok(news.into_iter().map(finding).collect())
    }
}
