//! Users who got no reply during a whole load, as the generator counts them.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::{Share, count, decimal, many};

/// Min share of the connections of a load without a reply, and min number of them in a run.
const UNSERVED_MIN_SHARE: f64 = 0.1;
const UNSERVED_MIN: f64 = 2.0;

impl Resource {
    /// Users without a reply.
    pub const UNSERVED: Self = Self::new("unserved", "users who get no reply").with_error_share().next(
        "see whether the system accepts their connections (`ss -ltn` shows the queue), and how many it serves at once: threads, workers, or \
         connections that it keeps open",
    );
}

/// Users whose requests never end are no users in think time.
pub(super) const USERS_WITHOUT_REPLY: Refutation = Refutation {
    when: "a tenth of the connections of the load, and two at least, had requests and got no reply in the whole load",
    is_read: |evidence| unserved(evidence).is_some(),
};

pub(super) const USERS_UNSERVED: Rule = Rule {
    finds: &[Resource::UNSERVED],
    when: "a tenth of the connections of a closed load, and two at least, had requests and got no reply in the whole load, warm-up included, \
           while others did; a symptom",
    why: "the generator notes on which connections requests began, and on which replies came. What keeps these from being served is another cause, if it was seen",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: users_unserved,
};

/// Returns the mean number of connections without a reply and of all connections; `None` if there are too few.
fn unserved(evidence: &Evidence<'_>) -> Option<[f64; 2]> {
    evidence.users()?;
    let spreads = evidence.runs.iter().filter_map(|run| run.run.ending.as_ref()?.spread.as_ref());
    let (mut runs, mut without, mut all) = (0.0, 0.0, 0.0);
    for (spread, unserved) in spreads.filter_map(|spread| Some((spread, spread.unserved?))) {
        (runs, without, all) = (runs + 1.0, without + unserved as f64, all + spread.connections as f64);
    }
    let [without, all] = [without / runs, all / runs];
    (without >= UNSERVED_MIN && without >= UNSERVED_MIN_SHARE * all && without < all)
        .then_some([without, all])
}

fn users_unserved(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let [without, all] = unserved(evidence)?;
    let requests = evidence.together.counts.ok as f64 / (evidence.runs.len() as f64 * (all - without));
    let because = format!(
        "{} of {} connections of the load ({}) got no reply, and each other one {} {} on average",
        decimal(without, 0),
        decimal(all, 0),
        percent(Share::of_measured(without, all)?.get()),
        count(requests.round() as u64),
        many(evidence.together.unit)
    );
    Some(suspected(Resource::UNSERVED, Scope::System, because).symptom())
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;

    fn served(unserved: u64) -> Planted {
        let mut planted = Planted::closed(16, 200.0, 40.0);
        if let Some(spread) = planted.run.ending.as_mut().and_then(|ending| ending.spread.as_mut()) {
            spread.unserved = Some(unserved);
        }
        planted
    }

    #[test]
    fn half_of_the_users_without_a_reply_are_counted() {
        let mut planted = served(8);
        let causes = planted.causes();
        let expected =
            "8 of 16 connections of the load (50 %) got no reply, and each other one 250 requests on average";
        assert_eq!((causes[0].resource.code, causes[0].because.as_str()), ("unserved", expected));
        // Users whose requests never end look like users in think time.
        planted.answers(200.0, 20.0);
        assert_eq!(planted.said(), ["unserved"]);
    }

    #[test]
    fn single_user_without_a_reply_is_chance() {
        assert!(!served(1).said().contains(&"unserved"));
        assert!(!served(0).said().contains(&"unserved"));
    }
}
