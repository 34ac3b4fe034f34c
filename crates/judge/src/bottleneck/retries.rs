//! Transactions that the generator tries again after a conflict.

use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::{Share, decimal, one};

/// Min number of retries per first try at which they are a cause.
const RETRIES_MIN: f64 = 0.25;

impl Resource {
    /// Transactions that are tried again.
    pub const RETRIES: Self = Self::new("retries", "retries of transactions after conflicts").with_error_share().next(
        "make conflicts rarer: take locks in one order, keep transactions short, spread changes over more rows, or use fewer connections at \
         once; a pause before a retry spreads the tries",
    );
}

pub(super) const RETRIES: Rule = Rule {
    finds: &[Resource::RETRIES],
    when: "transactions of the load (`--max-tries`) were tried again 0.25 times or more for each first try; a symptom",
    why: "the generator counts its tries, and not their time: what they wait for is another cause, if it was seen. Work of a try that fails is done for nothing, and more of it makes further conflicts",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: retries,
};

fn retries(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let per_try = median(evidence.runs.iter().filter_map(|run| run.measured.retries_per_transaction))?;
    if per_try < RETRIES_MIN {
        return None;
    }
    let wasted = Share::of_measured(per_try, 1.0 + per_try)?.get();
    let because = format!(
        "the load made {} retries for each first try of a {}, so {} of its tries were for nothing",
        decimal(per_try, 2),
        one(evidence.together.unit),
        super::words::percent(wasted)
    );
    // The share of tries is none of the response time: the time of failed tries is not known.
    Some(suspected(Resource::RETRIES, Scope::System, because).symptom())
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;

    #[test]
    fn retries_are_counted_per_first_try() {
        let mut planted = Planted::closed(16, 200.0, 40.0);
        planted.measured.retries_per_transaction = Some(1.5);
        let causes = planted.causes();
        let expected = "the load made 1.50 retries for each first try of a request, so 60 % of its tries were for nothing";
        assert_eq!((causes[0].resource.code, causes[0].because.as_str()), ("retries", expected));
        planted.threads(&[("file_lock", 15.0)]);
        assert_eq!(planted.said(), ["lock", "retries"], "the share of tries is no share of the time");
        planted.measured.retries_per_transaction = Some(0.1);
        assert!(!planted.said().contains(&"retries"));
    }
}
