//! Plan of a load, reduced to the parts that its judgment needs.

use evidence::{Model, Unit};

/// Plan of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Rule by which requests become due.
    pub offered: Offered,
    /// Endpoints with fewer connections than users, or than connections of an open load: name, and number of
    /// connections.
    pub pools: Vec<(String, u32)>,
    /// Unit that is counted, by step.
    pub units: Vec<Unit>,
    /// Length of the warm-up, in nanoseconds since the load began. Its requests are not counted.
    pub warm_up_ns: u64,
    /// Time at which the offered load becomes constant, in nanoseconds since it began; `None` if it never does.
    pub settles_from_ns: Option<u64>,
    /// Planned end, in nanoseconds since the load began; `None` if no time ends it.
    pub ends_at_ns: Option<u64>,
    /// Latency limit of transactions, after which they are skipped. `None` if there is no limit.
    pub latency_limit_ns: Option<u64>,
    /// Whether the run tests if the system sustains this rate. Unsent requests are then a result.
    pub is_trial: bool,
    /// Whether the generator's threads are pinned to cores.
    pub is_pinned: bool,
    /// Whether the system is a database in the process of the generator. No part of it can become unavailable.
    pub is_in_process: bool,
}

/// Rule by which requests become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Requests become due by the clock.
    Open {
        /// Number of connections.
        connections: u32,
        /// Time after which a waiting request is abandoned, in nanoseconds; `None` for no limit.
        shed_after_ns: Option<u64>,
    },
    /// Requests become due when users have received their last answer.
    Closed {
        /// Number of users.
        users: u32,
        /// Number of connections that users share; equal to `users` if each user has one.
        pool: u32,
    },
}

impl Planned {
    /// Returns the model of the load, as the store records it.
    pub const fn model(&self) -> Model {
        match self.offered {
            Offered::Open { .. } => Model::Open,
            Offered::Closed { .. } => Model::Closed,
        }
    }

    /// Returns whether requests become due by the clock.
    pub const fn is_open(&self) -> bool {
        matches!(self.offered, Offered::Open { .. })
    }
}
