//! The likely bottlenecks of a study's settings, reported while it runs.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Procedure, Study};
use judge::bottleneck::{OfSetting, bottlenecks};
use judge::{Certainty, Resource, Setting};
use plan::Study as Plan;
use progress::Finding;

/// What was reported so far, and when it is asked again.
#[derive(Debug, Default)]
pub(crate) struct LikelyBottlenecks {
    reported: BTreeMap<(String, Setting), &'static str>,
    /// After so many runs.
    next: usize,
}

impl LikelyBottlenecks {
    /// Nothing so far. `None` of a search for a capacity: its runs are of different loads, most of them below any limit.
    pub(crate) fn of(kept: &Study) -> Option<Self> {
        (!matches!(kept.new.compare.procedure, Procedure::Capacity(_))).then(Self::default)
    }

    /// Whether it is worth asking after so many runs: each time that there are four times as many.
    pub(crate) fn are_due(&self, made: usize) -> bool {
        made >= self.next
    }

    /// A finding for each limit that a rule names for settings of which it was not reported before. What was asked for is no limit of a
    /// system. The evidence is in the report.
    pub(crate) fn news(
        &mut self,
        plan: &Plan,
        kept: &Study,
        made: usize,
    ) -> Result<Vec<Finding>, EvidenceError> {
        self.next = made.saturating_mul(4);
        let mut news: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for OfSetting { load, setting, bottleneck } in bottlenecks(kept)? {
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
