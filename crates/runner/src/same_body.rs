//! Detects that different requests of a load got equal short bodies: a server that answers all requests alike may not do the work.

use std::collections::BTreeSet;

use engine::WorkerEnd;
use evidence::SameBody;

/// Smallest number of different requests for which one common body is not a coincidence.
const REQUESTS_MIN: usize = 10;

/// Body of all first replies that were compared. `None` if they differ, or were too few.
pub(crate) fn of(ends: &[WorkerEnd]) -> Option<SameBody> {
    let replies: Vec<_> = ends.iter().flat_map(|end| &end.first_replies).collect();
    let body = replies.first()?.body.as_ref()?;
    if replies.iter().any(|replies| replies.body.as_ref() != Some(body)) {
        return None;
    }
    let requests: BTreeSet<u64> =
        replies.iter().flat_map(|replies| replies.requests.iter().copied()).collect();
    (requests.len() >= REQUESTS_MIN).then(|| SameBody {
        body: String::from_utf8_lossy(body).into_owned(),
        requests: requests.len() as u64,
        replies: replies.iter().map(|replies| u64::from(replies.replies)).sum(),
    })
}

#[cfg(test)]
mod tests {
    use wire::FirstReplies;

    use super::*;

    fn end(requests: std::ops::Range<u64>, body: Option<&str>) -> WorkerEnd {
        let body = body.map(|body| body.as_bytes().to_vec());
        let replies = FirstReplies { replies: 12, requests: requests.collect(), body };
        WorkerEnd { first_replies: vec![replies], ..WorkerEnd::default() }
    }

    #[test]
    fn finds_one_body_for_ten_requests_across_workers() {
        let found = of(&[end(0..6, Some("{}")), end(4..10, Some("{}"))]);
        assert_eq!(found, Some(SameBody { body: "{}".to_owned(), requests: 10, replies: 24 }));
    }

    #[test]
    fn ignores_few_requests_and_different_bodies() {
        assert_eq!(of(&[end(0..6, Some("{}")), end(0..9, Some("{}"))]), None);
        assert_eq!(of(&[end(0..20, Some("{}")), end(0..20, Some("[]"))]), None);
        assert_eq!(of(&[end(0..20, Some("{}")), end(0..20, None)]), None);
        assert_eq!(of(&[]), None);
    }
}
