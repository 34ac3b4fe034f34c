//! Where the time of a thread goes, and what a thread is there for.

/// What a thread does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    OnCpu,
    Runnable,
    Disk,
    Futex,
    SocketRead,
    SocketWrite,
    Connect,
    Accept,
    Poll,
    PipeRead,
    PipeWrite,
    Timer,
    /// By SIGSTOP, a debugger, or the freezer of its control group.
    Stopped,
    Other,
}

/// Every state by its number, and the reading that has its mean number of threads.
pub(crate) const STATES: [(State, &str); 14] = [
    (State::OnCpu, "threads_on_cpu"),
    (State::Runnable, "threads_runnable"),
    (State::Disk, "threads_disk"),
    (State::Futex, "threads_futex"),
    (State::SocketRead, "threads_socket_read"),
    (State::SocketWrite, "threads_socket_write"),
    (State::Connect, "threads_connect"),
    (State::Accept, "threads_accept"),
    (State::Poll, "threads_poll"),
    (State::PipeRead, "threads_pipe_read"),
    (State::PipeWrite, "threads_pipe_write"),
    (State::Timer, "threads_timer"),
    (State::Stopped, "threads_stopped"),
    (State::Other, "threads_other"),
];

/// What a thread is there for, as far as it can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It ran lately: it may carry requests.
    Worker,
    /// It waits for connections more often than for anything else.
    Listener,
    /// It serves a virtual machine: garbage collector or compiler.
    Runtime,
    /// It did not run lately, so it carries nothing.
    Idle,
}

/// Every role by its number, and the label of its readings.
pub(crate) const ROLES: [(Role, &str); 4] = [
    (Role::Worker, "worker"),
    (Role::Listener, "listener"),
    (Role::Runtime, "runtime"),
    (Role::Idle, "idle"),
];

/// What a virtual machine has a thread for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chore {
    CollectsGarbage,
    Compiles,
    /// Timers, signals, references: next to nothing.
    Other,
}

/// Names of threads begin so in OpenJDK and .NET. The kernel cuts names after 15 bytes.
const CHORES: &[(&str, Chore)] = &[
    ("GC Thread", Chore::CollectsGarbage),
    ("G1 ", Chore::CollectsGarbage),
    ("ZDirector", Chore::CollectsGarbage),
    ("ZDriver", Chore::CollectsGarbage),
    ("ZWorker", Chore::CollectsGarbage),
    ("ZStat", Chore::CollectsGarbage),
    ("XWorker", Chore::CollectsGarbage),
    ("Shenandoah", Chore::CollectsGarbage),
    ("ParGC", Chore::CollectsGarbage),
    // It stops the others, and collects where the collector has no thread of its own.
    ("VM Thread", Chore::CollectsGarbage),
    (".NET Server GC", Chore::CollectsGarbage),
    (".NET BGC", Chore::CollectsGarbage),
    (".NET BackgroundG", Chore::CollectsGarbage),
    ("C1 CompilerThre", Chore::Compiles),
    ("C2 CompilerThre", Chore::Compiles),
    ("JVMCI", Chore::Compiles),
    (".NET Tiered Com", Chore::Compiles),
    ("VM Periodic Tas", Chore::Other),
    ("Reference Handl", Chore::Other),
    ("Common-Cleaner", Chore::Other),
    ("Signal Dispatch", Chore::Other),
    ("Service Thread", Chore::Other),
    ("Monitor Deflati", Chore::Other),
    ("Notification Th", Chore::Other),
    ("Finalizer", Chore::Other),
    (".NET Finalizer", Chore::Other),
    (".NET SynchManag", Chore::Other),
];

impl Chore {
    /// By the text of `/proc/PID/task/TID/comm`; nothing for a thread of the program.
    pub(crate) fn of(name: &str) -> Option<Self> {
        CHORES.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, chore)| *chore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_roles_are_at_their_numbers() {
        assert!(STATES.iter().enumerate().all(|(at, (state, _))| *state as usize == at));
        assert!(ROLES.iter().enumerate().all(|(at, (role, _))| *role as usize == at));
    }

    #[test]
    fn threads_of_virtual_machines_are_known_by_their_names() {
        assert_eq!(Chore::of("GC Thread#0\n"), Some(Chore::CollectsGarbage));
        assert_eq!(Chore::of("G1 Conc#0\n"), Some(Chore::CollectsGarbage));
        assert_eq!(Chore::of("VM Thread\n"), Some(Chore::CollectsGarbage));
        assert_eq!(Chore::of("C2 CompilerThre\n"), Some(Chore::Compiles));
        assert_eq!(Chore::of("VM Periodic Tas\n"), Some(Chore::Other));
        for name in ["", "java\n", "G1Garden\n", "http-nio-8080-e\n", "worker VM Thread\n"] {
            assert_eq!(Chore::of(name), None, "{name}");
        }
    }
}
