//! Measured window and outages of a run in JSON.

use evidence::Outage;
use judge::Window;
use serde::Serialize;

use super::counted::share;
use super::thousandths;

/// Counts of requests that ended within the measured window.
#[derive(Serialize)]
pub(super) struct WindowObject {
    length_s: f64,
    answers: u64,
    backlog_start: Option<u64>,
    backlog_end: Option<u64>,
}

impl WindowObject {
    pub(super) fn of(window: &Window) -> Self {
        Self {
            length_s: thousandths(window.length_s),
            answers: window.counts.answers(),
            backlog_start: window.backlog.map(|backlog| backlog.at_start),
            backlog_end: window.backlog.map(|backlog| backlog.at_end),
        }
    }
}

/// Outages of the system.
#[derive(Serialize)]
pub(super) struct OutageObject {
    longest_s: f64,
    gone_share: f64,
    times: Vec<TimeObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starvation: Option<StarvationObject>,
}

#[derive(Serialize)]
struct StarvationObject {
    users: u64,
    of_users: u64,
    longest_s: f64,
    time_share: f64,
}

#[derive(Serialize)]
struct TimeObject {
    from_s: f64,
    to_s: f64,
    lasting_s: f64,
    is_open: bool,
}

impl OutageObject {
    pub(super) fn of(outage: &Outage) -> Self {
        let times = outage.times.iter().map(|time| TimeObject {
            from_s: thousandths(time.from_s),
            to_s: thousandths(time.to_s),
            lasting_s: thousandths(time.lasting_s),
            is_open: time.is_open,
        });
        Self {
            longest_s: thousandths(outage.longest_s),
            gone_share: share(outage.gone_share),
            times: times.collect(),
            starvation: outage.starvation.map(|found| StarvationObject {
                users: found.users,
                of_users: found.of_users,
                longest_s: thousandths(found.longest_s),
                time_share: share(found.time_share),
            }),
        }
    }
}
