//! Max instructions of hot-path operations, counted on x86-64 with the compiler version in `rust-version`.
//!
//! `memchr` uses AVX2 if the processor has it. It scans only heads that arrive in pieces, so only that bound has a wider margin.
//!
//! All other code runs the same instructions on every x86-64 processor. A count may be lowered at any time. Raising it requires a
//! reason in the commit message.

/// Number of repetitions of an operation per count.
pub(crate) const REPETITIONS: u64 = 1_000;

/// Instruction count of an operation, and its margin.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// Instructions for [`REPETITIONS`] operations, counted when the bound was set.
    counted: u64,
    /// Margin above `counted`, in percent.
    margin: u64,
}

impl Bound {
    /// Returns the max instruction count that passes the check.
    pub(crate) const fn limit(self) -> u64 {
        self.counted + self.counted * self.margin / 100
    }
}

/// Cost of parsing a reply that arrives in one piece, with a head identical to that of the previous reply.
pub(crate) const REPLY_WHOLE: Bound = Bound { counted: 574_017, margin: 5 };
/// Cost of parsing a reply that arrives in one piece, with a head that differs from that of the previous reply.
pub(crate) const REPLY_UNLIKE: Bound = Bound { counted: 2_588_705, margin: 5 };
/// Cost of parsing a reply whose head arrives in two pieces.
pub(crate) const REPLY_IN_TWO: Bound = Bound { counted: 3_017_080, margin: 15 };
/// Cost of a prepared PostgreSQL SELECT, from drawing its parameter to the end of its result.
pub(crate) const SELECT_PREPARED: Bound = Bound { counted: 2_736_999, margin: 10 };
/// Cost of an HTTP request and its reply over a channel, as in the engine.
pub(crate) const HTTP_EXCHANGE: Bound = Bound { counted: 732_031, margin: 5 };
/// Cost of a prepared PostgreSQL SELECT and its result over a channel, as in the engine.
pub(crate) const POSTGRES_EXCHANGE: Bound = Bound { counted: 3_043_319, margin: 5 };
/// Cost of recording the start and end of a request, with its four durations.
pub(crate) const RECORD: Bound = Bound { counted: 344_062, margin: 5 };
/// Cost of computing the next scheduled send time of evenly spaced arrivals.
pub(crate) const ARRIVALS_EVEN: Bound = Bound { counted: 129_108, margin: 5 };
/// Cost of computing the next scheduled send time of a Poisson process.
pub(crate) const ARRIVALS_POISSON: Bound = Bound { counted: 224_792, margin: 5 };
