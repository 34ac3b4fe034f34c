//! Settings of the target with units and defaults, and validation that reports all errors at once.

use crate::hangs::Hang;
use crate::pace::Pace;
use crate::trouble::Trouble;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum of all durations in the settings, so that arithmetic on times cannot overflow.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Settings of the target. `Settings::default()` is a fast server with unlimited concurrency on a free loopback port.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Loopback address to listen on. Port 0 selects a free port. Default `127.0.0.1:0`.
    pub address: SocketAddr,
    /// Path of an additional Unix socket. The file must not exist, and is removed at stop. Default none.
    pub unix: Option<PathBuf>,
    /// Number of independent reactors. Connections are assigned to them in turn, so they have equal shares. 1 to 256, default 1.
    pub workers: usize,
    /// Number of requests that one worker executes concurrently; others wait in FIFO order. CPU work runs on this many real
    /// threads. 0 is unlimited: holds never wait for one another, and CPU work runs on the reactor. 0 to 1024, default 0.
    pub threads: usize,
    /// Behavior if all `threads` block. Default [`ThreadPool::Fixed`].
    pub thread_pool: ThreadPool,
    /// Maximum number of queued requests per worker. Further ones are rejected immediately with `503` and "queue full". Needs
    /// `threads`. Default none, which is unlimited.
    pub queue: Option<usize>,
    /// Length of the kernel's accept queue, in connections. 1 to 65535, default 1024. The kernel may cap it lower.
    pub backlog: u32,
    /// Pause after each accepted connection, which makes overflows of the accept queue reproducible. At most 10 s, default 0.
    pub accept_delay: Duration,
    /// Number of database connections shared by all workers. `/insert` waits for a free one. 1 to 64, default 4.
    pub pool: usize,
    /// SQLite file behind `/insert`, created if missing. Default a temporary file, removed at stop.
    pub database: Option<PathBuf>,
    /// Rate limit over all workers. Requests above it are rejected with `429`. Default none.
    pub rate_limit: Option<RateLimit>,
    /// Scheduled pauses in which nothing is accepted, read, or answered. Times are at most 24h. Default none.
    pub stall: Option<Stall>,
    /// Trouble that [`Running::begin_trouble`](crate::Running::begin_trouble) begins. Default none.
    pub trouble: Option<Trouble>,
    /// Hang of a share of connections from a given time on. Default none.
    pub hang: Option<Hang>,
    /// Changes of the hold times while the target runs. Default none.
    pub pace: Pace,
    /// Number of requests on one connection after which the target closes it. At least 1, default unlimited.
    pub requests_per_connection: Option<u64>,
    /// Idle timeout of connections without a request in execution. They are closed up to a quarter of it later. At most 24h,
    /// default never.
    pub idle: Option<Duration>,
    /// Seed of the hold times. Worker n draws from its stream n. Default 1.
    pub seed: u64,
    /// Logs the service time of every hold for [`Running::take_service_log`](crate::Running::take_service_log). Default no.
    pub log_service: bool,
}

/// Number of requests that a worker executes if some of them block, as in `/hold` and `/insert`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadPool {
    /// A blocked request keeps its thread: at most `threads` requests are in execution.
    #[default]
    Fixed,
    /// Starts another thread for each one that blocks, so that up to `threads` requests run while others are blocked. CPU work
    /// stays limited to `threads`.
    Growing {
        /// Maximum number of requests in execution per worker, running and blocked. From `threads` to 65536.
        limit: usize,
    },
}

/// Token bucket: `burst` requests at once, `per_s` in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Refill rate in tokens per second; above 0, at most 1e9.
    pub per_s: f64,
    /// Capacity of the bucket in tokens; at least 1.
    pub burst: u32,
}

/// Schedule of pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Start of the first pause after the first request.
    pub first: Duration,
    /// Length of each pause; above 0.
    pub lasting: Duration,
    /// Time between the starts of two pauses; longer than `lasting`. `None` for a single pause.
    pub every: Option<Duration>,
}

/// An invalid setting, with help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the field in [`Settings`].
    pub setting: &'static str,
    /// The value that was found, and the values that are accepted.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.reason)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            unix: None,
            workers: 1,
            threads: 0,
            thread_pool: ThreadPool::Fixed,
            queue: None,
            backlog: 1024,
            accept_delay: Duration::ZERO,
            pool: 4,
            database: None,
            rate_limit: None,
            stall: None,
            trouble: None,
            hang: None,
            pace: Pace::default(),
            requests_per_connection: None,
            idle: None,
            seed: 1,
            log_service: false,
        }
    }
}

impl Settings {
    /// Returns all errors in the settings, in field order. Empty if the settings are valid.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Faults::default();
        let address = self.address;
        faults.require(address.ip().is_loopback(), "address", || {
            format!(
                "{address} is not loopback; the target answers this machine only, so use 127.0.0.1 or [::1]"
            )
        });
        self.check_concurrency(&mut faults);
        faults.require((1..=65_535).contains(&self.backlog), "backlog", || {
            format!("must be from 1 to 65535, found {}", self.backlog)
        });
        faults.require(self.accept_delay <= Duration::from_secs(10), "accept_delay", || {
            format!("must be at most 10s, found {:?}", self.accept_delay)
        });
        faults.require((1..=64).contains(&self.pool), "pool", || {
            format!("must be from 1 to 64, found {}", self.pool)
        });
        if let Some(limit) = self.rate_limit {
            limit.check(&mut faults);
        }
        if let Some(stall) = self.stall {
            stall.check(&mut faults);
        }
        if let Some(trouble) = self.trouble {
            trouble.check(&mut faults);
        }
        if let Some(hang) = self.hang {
            hang.check(&mut faults);
        }
        self.pace.check(&mut faults);
        faults.require(self.requests_per_connection != Some(0), "requests_per_connection", || {
            "must be at least 1; leave it out for unlimited".into()
        });
        let idle = self.idle.unwrap_or(DAY);
        faults.require(!idle.is_zero(), "idle", || "must be above 0; leave it out to never close".into());
        faults.require(idle <= DAY, "idle", || "must be at most 24h; leave it out to never close".into());
        faults.0
    }

    fn check_concurrency(&self, faults: &mut Faults) {
        let Self { workers, threads, .. } = *self;
        faults.require((1..=256).contains(&workers), "workers", || {
            format!("must be from 1 to 256, found {workers}")
        });
        faults.require(threads <= 1024, "threads", || format!("must be at most 1024, found {threads}"));
        if let ThreadPool::Growing { limit } = self.thread_pool {
            faults.require(threads > 0, "thread_pool", || {
                "nothing has to grow while threads is 0 (unlimited); set threads to at least 1".into()
            });
            let least = threads.max(1);
            faults.require((least..=65_536).contains(&limit), "thread_pool", || {
                format!("its limit must be from {least} (threads) to 65536, found {limit}")
            });
        }
        if let Some(length) = self.queue {
            faults.require(threads > 0, "queue", || {
                "nothing waits while threads is 0 (unlimited); set threads to at least 1 or leave queue out".into()
            });
            faults
                .require(length <= 1_000_000, "queue", || format!("must be at most 1000000, found {length}"));
        }
    }
}

impl RateLimit {
    fn check(self, faults: &mut Faults) {
        faults.require(self.per_s > 0.0 && self.per_s <= 1e9, "rate_limit", || {
            format!("per_s must be above 0 and at most 1e9, found {}", self.per_s)
        });
        faults.require(self.burst > 0, "rate_limit", || "burst must be at least 1, found 0".into());
    }
}

impl Stall {
    fn check(self, faults: &mut Faults) {
        faults.require(!self.lasting.is_zero(), "stall", || "lasting must be above 0".into());
        faults.require(self.every.is_none_or(|every| every > self.lasting), "stall", || {
            format!("every must be longer than lasting, which is {:?}", self.lasting)
        });
        let longest = self.first.max(self.lasting).max(self.every.unwrap_or_default());
        faults
            .require(longest <= DAY, "stall", || format!("its times must be at most 24h, found {longest:?}"));
    }
}

/// Errors found so far.
#[derive(Default)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    pub(crate) fn require(&mut self, fine: bool, setting: &'static str, reason: impl FnOnce() -> String) {
        if !fine {
            self.0.push(Fault { setting, reason: reason() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_settings_are_valid() {
        assert_eq!(Settings::default().faults(), []);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let settings = Settings {
            address: SocketAddr::from(([0, 0, 0, 0], 80)),
            workers: 0,
            threads: 0,
            thread_pool: ThreadPool::Growing { limit: 0 },
            queue: Some(5),
            backlog: 0,
            pool: 0,
            rate_limit: Some(RateLimit { per_s: f64::NAN, burst: 0 }),
            requests_per_connection: Some(0),
            ..Settings::default()
        };
        let invalid_settings: Vec<_> = settings.faults().into_iter().map(|fault| fault.setting).collect();
        assert_eq!(
            invalid_settings,
            [
                "address",
                "workers",
                "thread_pool",
                "thread_pool",
                "queue",
                "backlog",
                "pool",
                "rate_limit",
                "rate_limit",
                "requests_per_connection"
            ]
        );
    }

    #[test]
    fn stall_must_be_shorter_than_its_period() {
        let second = Duration::from_secs(1);
        let stall = Stall { first: second, lasting: second, every: Some(second) };
        let settings = Settings { stall: Some(stall), ..Settings::default() };
        assert_eq!(settings.faults().len(), 1);
    }

    #[test]
    fn times_beyond_a_day_are_rejected() {
        let stall = Stall { first: Duration::MAX, lasting: Duration::from_secs(1), every: None };
        let settings = Settings { stall: Some(stall), idle: Some(Duration::MAX), ..Settings::default() };
        assert_eq!(settings.faults().len(), 2);
    }
}
