//! Rungs of evidence: the source of a statement, and the strength of the claim that it supports.

/// Source of a statement, strongest first. A statement on a lower rung never precedes one on a higher rung that
/// explains an equal part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Self-report of a program: counters of a runtime or database, messages and rejections of a server, counts of the
    /// generator about its load.
    Runtime,
    /// Report of the kernel: states of threads, sockets, and control groups, and arrival times of bytes.
    Kernel,
    /// A change and its effect.
    Experiment,
    /// Arithmetic on throughput and response times, such as Little's law.
    Arithmetic,
}

impl Rung {
    /// All rungs, strongest first.
    pub const ALL: [Self; 4] = [Self::Runtime, Self::Kernel, Self::Experiment, Self::Arithmetic];

    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Kernel => "kernel",
            Self::Experiment => "experiment",
            Self::Arithmetic => "arithmetic",
        }
    }

    /// Returns the source, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Runtime => "reported by the program itself",
            Self::Kernel => "seen by the kernel",
            Self::Experiment => "shown by an experiment",
            Self::Arithmetic => "arithmetic only",
        }
    }

    /// Returns the row of `docs/why.md`: source, example, and permitted claim.
    pub const fn row(self) -> [&'static str; 3] {
        match self {
            Self::Runtime => [
                "a program about itself: counters of a runtime or database, messages and rejections of a server, counts of the generator \
                 about its load",
                "PostgreSQL: 4 sessions in `Lock:transactionid`",
                "the resource, with its name: *likely*",
            ],
            Self::Kernel => [
                "the kernel: states of threads, sockets, control groups, and times at which bytes arrived",
                "6 of 6 threads were blocked in a write to a pipe",
                "the resource, and what its holder does: *likely*",
            ],
            Self::Experiment => [
                "a change that was made, in blocks with controls",
                "`workers` 2 → 4: ×2.00",
                "the change that helps, and no story around it: *confirmed*",
            ],
            Self::Arithmetic => [
                "throughput and response times",
                "about 4 requests at once",
                "no resource: *not seen*, and what would show it",
            ],
        }
    }

    /// Returns whether a statement on this rung may call a resource likely.
    pub const fn may_be_likely(self) -> bool {
        matches!(self, Self::Runtime | Self::Kernel)
    }
}
