//! What was asked of a load, as far as judging needs it.

use evidence::{Model, Unit};

/// What was asked of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Users or arrivals.
    pub offered: Offered,
    /// By step, what is counted.
    pub units: Vec<Unit>,
    /// How long requests are not counted, in nanoseconds since the load began.
    pub warm_up_ns: u64,
    /// From when on the load itself no longer changes; `None` if it never stops changing.
    pub settles_from_ns: Option<u64>,
    /// When time ends it, in nanoseconds since it began; `None` if something else does.
    pub ends_at_ns: Option<u64>,
    /// A transaction later than this is not worth sending.
    pub latency_limit_ns: Option<u64>,
    /// Whether the run tries if the system sustains this rate: then what could not be sent is a result.
    pub is_trial: bool,
    /// Whether the generator's threads have cores of their own.
    pub is_pinned: bool,
}

/// By what requests become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// By the clock.
    Open {
        /// Connections that they are sent over.
        connections: u32,
        /// A request that waited for so long is given up.
        shed_after_ns: Option<u64>,
    },
    /// By users, each after its last answer.
    Closed {
        /// How many.
        users: u32,
        /// Connections that they share; as many as users where each has its own.
        pool: u32,
    },
}

impl Planned {
    /// As the store has it.
    pub const fn model(&self) -> Model {
        match self.offered {
            Offered::Open { .. } => Model::Open,
            Offered::Closed { .. } => Model::Closed,
        }
    }

    /// Whether requests become due by the clock.
    pub const fn is_open(&self) -> bool {
        matches!(self.offered, Offered::Open { .. })
    }
}
