//! Every code that a finding may carry: why a run is in doubt, and what probably limited it. The store and JSON have them as words,
//! which never change.

/// An enum whose variants have a word each.
macro_rules! codes {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As the store and JSON have it.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The one of a code; `None` if this version does not know it.
            pub fn named(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.code() == code)
            }
        }
    };
}

codes! {
    /// Why the numbers of a run are in doubt. `docs/validity.md` explains each.
    Doubt {
        /// A thread of the generator died.
        Internal = "internal",
        /// The load could not go on.
        Hopeless = "hopeless",
        /// This machine was out of ports, descriptors or memory.
        GeneratorFault = "generator_fault",
        /// Timers woke the threads of an open load late.
        WakeLag = "wake_lag",
        /// The slowest response times were the generator's own delay.
        GeneratorLag = "generator_lag",
        /// A worker was away from its loop.
        GeneratorStalled = "generator_stalled",
        /// A quota held the generator back.
        Throttled = "throttled",
        /// Twice the threads did more, or sooner.
        GeneratorBound = "generator_bound",
        /// The host gave time to other guests.
        Steal = "steal",
        /// A worker was ready to run and had no core.
        GeneratorWaited = "generator_waited",
        /// A thread of the generator was busy nearly all the time.
        GeneratorCpu = "generator_cpu",
        /// The load came near what the generator reaches at most.
        Ceiling = "ceiling",
        /// Little's law does not hold.
        Little = "little",
        /// More bytes in replies than were read.
        Bytes = "bytes",
        /// The target counted other requests than were sent.
        ServerCount = "server_count",
        /// Replies came that no request asked for.
        UnsolicitedReplies = "unsolicited_replies",
        /// Planned requests were never sent.
        NotSent = "not_sent",
        /// No request was due in the measured time.
        NothingPlanned = "nothing_planned",
        /// The run was cut short, or still goes on.
        NoEnding = "no_ending",
        /// The load never began.
        NoLoad = "no_load",
    }
}

codes! {
    /// What probably kept a system from doing more. `docs/measurement.md` explains each.
    Resource {
        /// The generator.
        Generator = "generator",
        /// The load, which asked for no more.
        Load = "load",
        /// A limit of the system's own on what may wait.
        RequestQueue = "request_queue",
        /// A limit of the system's own on requests.
        RateLimit = "rate_limit",
        /// The host of this machine.
        Steal = "steal",
        /// Processor time of the machine.
        MachineCpu = "machine_cpu",
        /// One core.
        OneCore = "one_core",
        /// Memory of the machine.
        Memory = "memory",
        /// Its disks.
        Disk = "disk",
        /// Files that a process may have open.
        OpenFiles = "open_files",
        /// The queue of connections that wait to be accepted.
        ListenQueue = "listen_queue",
        /// The system's own waiting.
        Waiting = "waiting",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_means_one_thing() {
        assert!(Doubt::ALL.iter().all(|doubt| Doubt::named(doubt.code()) == Some(*doubt)));
        assert!(Resource::ALL.iter().all(|resource| Resource::named(resource.code()) == Some(*resource)));
    }
}
