//! Endpoints of the target in a single list, which defines routing and the help page.

mod bytes;
mod counters;
mod echo;
mod fibonacci;
mod help;
mod hold;
mod insert;
mod spin;
mod status;

pub(crate) use counters::reply as counted;
pub(crate) use help::page as help_page;
pub(crate) use hold::reply as held;
pub(crate) use insert::{email_of, reply as inserted};

use crate::draw::Distribution;
use crate::query::Query;
use crate::reply::Reply;
use crate::stop::Stop;

/// An endpoint of the target.
pub struct Endpoint {
    /// Path of the endpoint.
    pub path: &'static str,
    /// Description in one sentence.
    pub sentence: &'static str,
    /// Example of a path with a query.
    pub example: &'static str,
    methods: &'static [&'static str],
    keys: &'static [&'static str],
    prepare: fn(&Query<'_>) -> Result<Work, Reply>,
}

/// Returns all endpoints, in the order of the help page.
pub fn endpoints() -> &'static [Endpoint] {
    static ALL: [Endpoint; 9] = [
        help::ENDPOINT,
        status::ENDPOINT,
        bytes::ENDPOINT,
        echo::ENDPOINT,
        hold::ENDPOINT,
        spin::ENDPOINT,
        fibonacci::ENDPOINT,
        insert::ENDPOINT,
        counters::ENDPOINT,
    ];
    &ALL
}

/// Validated work of a request. Its kind determines which thread executes it.
#[derive(Debug)]
pub(crate) enum Work {
    /// The reply is already known.
    Ready(Reply),
    /// Reply with the help page.
    Help,
    /// Reply with the request body.
    Echo,
    /// Reply with the counters.
    Counters,
    /// Wait for a random time.
    Hold(Distribution),
    /// Use CPU time.
    Compute(Computation),
    /// Insert this e-mail address, or the one in the body, through a pooled connection.
    Insert { email: Option<String> },
}

/// CPU work: a function and its argument. Aborts when the target stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computation {
    pub(crate) run: fn(u64, &Stop) -> Reply,
    pub(crate) argument: u64,
}

impl Work {
    /// Returns true if the work needs the request body.
    pub(crate) fn wants_body(&self) -> bool {
        matches!(self, Work::Echo | Work::Insert { email: None })
    }
}

/// Returns the work of a request line. An error becomes a ready reply, so the connection can be kept.
pub(crate) fn route(method: &str, target: &str) -> Work {
    prepare(method, target).unwrap_or_else(Work::Ready)
}

fn prepare(method: &str, target: &str) -> Result<Work, Reply> {
    let target = target.split_once('#').map_or(target, |(front, _)| front);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = origin_form(path);
    let Some(endpoint) = endpoints().iter().find(|endpoint| endpoint.path == path) else {
        return Err(Reply::fixed(404, "no such endpoint; GET / lists them all\n"));
    };
    if !endpoint.methods.contains(&method) {
        let allowed = endpoint.methods.join(", ");
        return Err(Reply::text(405, format!("allowed here: {allowed}\n")).with("allow", allowed));
    }
    (endpoint.prepare)(&Query::read(query, endpoint.keys)?)
}

/// Reduces the absolute form, which clients send to proxies, to the path.
fn origin_form(path: &str) -> &str {
    match path.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(method: &str, target: &str) -> u16 {
        match route(method, target) {
            Work::Ready(reply) => reply.status,
            _ => 200,
        }
    }

    #[test]
    fn every_example_is_accepted_and_paths_are_unique() {
        for endpoint in endpoints() {
            assert!(endpoint.example.starts_with(endpoint.path));
            let status = status_of(endpoint.methods[0], endpoint.example);
            assert!(!matches!(status, 400 | 404 | 405), "{} is answered {status}", endpoint.example);
            assert_eq!(endpoints().iter().filter(|other| other.path == endpoint.path).count(), 1);
        }
    }

    #[test]
    fn unknown_paths_and_methods_are_rejected_with_a_reason() {
        assert_eq!(status_of("GET", "/nothing"), 404);
        assert_eq!(status_of("DELETE", "/status"), 405);
        assert_eq!(status_of("GET", "/status?colour=red"), 400);
        assert_eq!(status_of("GET", "http://127.0.0.1:80/status"), 200);
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        for target in [
            "/status?code=199",
            "/status?code=600",
            "/status?code=x",
            "/bytes",
            "/bytes?n=67108865",
            "/bytes?n=-1",
            "/fibonacci?n=200001",
            "/fibonacci",
            "/spin?us=10000001",
            "/hold",
            "/hold?mean_us=0",
            "/hold?mean_us=NaN",
            "/hold?mean_us=inf",
            "/hold?mean_us=60000001",
            "/hold?dist=normal&mean_us=1",
            "/hold?dist=exp&median_us=5",
            "/hold?dist=exp&mean_us=5&sigma=1",
            "/hold?dist=lognormal&median_us=5",
            "/hold?dist=lognormal&median_us=5&sigma=1&p99_us=9",
            "/hold?dist=lognormal&median_us=5&p99_us=4",
            "/hold?dist=lognormal&median_us=5&sigma=6",
        ] {
            assert_eq!(status_of("GET", target), 400, "{target}");
        }
    }
}
