//! A limit on connections that the server names in its errors.

use record::ErrorClass;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, share};
use super::words::percent;
use super::{Coverage, REPORTED_ERRORS_MIN_SHARE, Rule, Rung};
use crate::causes::Resource;
use crate::words::{Share, count, decimal};

/// Min share of a closed load's users that the limit excludes.
const USERS_EXCLUDED_MIN_SHARE: f64 = 0.1;

impl Resource {
    /// A limit on connections.
    pub const CONNECTION_LIMIT: Self = Self::new("connection_limit", "the limit of connections of the server")
        .with_error_share()
        .next("raise the limit of the server (max_connections, worker_connections) or of the user, or use fewer connections, as with a pooler");
}

pub(super) const CONNECTION_LIMIT: Rule = Rule {
    finds: &[Resource::CONNECTION_LIMIT],
    when: "1 % of the requests or more ended with the error `too_many_connections`; or a tenth of the users of a closed load waited \
           for no answer, on average, and each of them met this error",
    why: "the server itself names what it lacks. Who is turned away tries again later, so the errors of a fast server may be few",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: connection_limit,
};

fn connection_limit(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let class = ErrorClass::TooManyConnections.into();
    let errors = evidence.together.errors.get(&class).copied().filter(|errors| *errors > 0)?;
    let of_all = share(errors, evidence.together.counts.planned);
    let runs = evidence.runs.len() as f64;
    let kept_out = evidence.users().map(|[users, waiting]| (users, users - waiting));
    let kept_out = kept_out.filter(|(users, out)| {
        *out >= USERS_EXCLUDED_MIN_SHARE * users && *out >= 0.5 && errors as f64 >= out * runs
    });
    if of_all < REPORTED_ERRORS_MIN_SHARE && kept_out.is_none() {
        return None;
    }
    let times = count(errors);
    // Connections that are opened again later may outnumber requests.
    let because = match Share::of_count(errors, evidence.together.counts.planned) {
        Some(of_all) => {
            format!(
                "the server took no more connections {times} times, {} of what was asked for",
                percent(of_all.get())
            )
        }
        None => format!(
            "the server took no more connections {times} times, more often than requests were planned"
        ),
    };
    let open = evidence.runs.iter().filter_map(|run| run.signals?.inside.as_ref()?.connections).next();
    let open = open.map(|[open, max]| {
        format!("{} of {} connections of the server were open", decimal(open, 0), decimal(max, 0))
    });
    let kept_out = kept_out.map(|(users, out)| {
        format!("on average {} of {} users waited for no answer", decimal(out, 1), decimal(users, 0))
    });
    Some(suspected(Resource::CONNECTION_LIMIT, Scope::System, because).first().and(kept_out).and(open))
}
