//! Max instructions of hot-path operations, counted on x86-64 with the compiler of `rust-version`.
//!
//! `memchr` detects the processor and uses AVX2 if it can. It only reads heads that arrive in pieces, so only that bound has a
//! wider margin.
//!
//! Everything else runs the same instructions on every x86-64 processor. A count may be lowered at any time. Raising it needs a
//! reason in the commit.

/// Repetitions of an operation in one count.
pub(crate) const REPETITIONS: u64 = 1_000;

/// Cost of an operation, and how far it may be exceeded.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// Instructions of [`REPETITIONS`] operations, as counted when the bound was set.
    counted: u64,
    /// Percent by which `counted` may be exceeded.
    margin: u64,
}

impl Bound {
    /// Max instructions that pass the check.
    pub(crate) const fn limit(self) -> u64 {
        self.counted + self.counted * self.margin / 100
    }
}

/// A reply that arrives in one piece, with the head of an earlier one.
pub(crate) const REPLY_WHOLE: Bound = Bound { counted: 574_017, margin: 5 };
/// A reply that arrives in one piece, with a head of its own.
pub(crate) const REPLY_UNLIKE: Bound = Bound { counted: 2_588_705, margin: 5 };
/// A reply whose head arrives in two pieces.
pub(crate) const REPLY_IN_TWO: Bound = Bound { counted: 3_017_080, margin: 15 };
/// A prepared SELECT of PostgreSQL, from drawing its value to the end of its answer.
pub(crate) const SELECT_PREPARED: Bound = Bound { counted: 2_736_999, margin: 10 };
/// An HTTP request and its reply over a channel, as the engine carries it.
pub(crate) const HTTP_EXCHANGE: Bound = Bound { counted: 732_031, margin: 5 };
/// A prepared SELECT of PostgreSQL and its answer over a channel, as the engine carries it.
pub(crate) const POSTGRES_EXCHANGE: Bound = Bound { counted: 3_043_319, margin: 5 };
/// A request's start and end, with its four durations.
pub(crate) const RECORD: Bound = Bound { counted: 344_062, margin: 5 };
/// The next scheduled send time of an even rate.
pub(crate) const ARRIVALS_EVEN: Bound = Bound { counted: 129_108, margin: 5 };
/// The next scheduled send time of a Poisson process.
pub(crate) const ARRIVALS_POISSON: Bound = Bound { counted: 224_792, margin: 5 };
