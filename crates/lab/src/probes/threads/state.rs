//! States of a thread, and roles of threads.

/// State of a thread at one point in time.
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
    /// Waits for the lock of a file (`flock`, `fcntl`), or for a semaphore of System V.
    FileLock,
    /// Stopped by SIGSTOP, a debugger, or the freezer of its control group.
    Stopped,
    Other,
}

/// All states in the order of their discriminants, with the metric for their mean number of threads.
pub(crate) const STATES: [(State, &str); 15] = [
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
    (State::FileLock, "threads_file_lock"),
    (State::Stopped, "threads_stopped"),
    (State::Other, "threads_other"),
];

/// Role of a thread, as far as it is visible from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Ran recently, so it may handle requests.
    Worker,
    /// Waits for connections in more than half of its sleeps.
    Listener,
    /// Serves a virtual machine: garbage collector or compiler.
    Runtime,
    /// Did not run recently, so it handles nothing.
    Idle,
}

/// All roles in the order of their discriminants, with the label of their readings.
pub(crate) const ROLES: [(Role, &str); 4] = [
    (Role::Worker, "worker"),
    (Role::Listener, "listener"),
    (Role::Runtime, "runtime"),
    (Role::Idle, "idle"),
];

/// Purpose of a thread of a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VmThreadRole {
    CollectsGarbage,
    Compiles,
    /// Timers, signals, or references, which use almost no CPU time.
    Other,
}

/// Prefixes of thread names in OpenJDK and .NET. The kernel cuts names after 15 bytes.
const VM_THREAD_NAMES: &[(&str, VmThreadRole)] = &[
    ("GC Thread", VmThreadRole::CollectsGarbage),
    ("G1 ", VmThreadRole::CollectsGarbage),
    ("ZDirector", VmThreadRole::CollectsGarbage),
    ("ZDriver", VmThreadRole::CollectsGarbage),
    ("ZWorker", VmThreadRole::CollectsGarbage),
    ("ZStat", VmThreadRole::CollectsGarbage),
    ("XWorker", VmThreadRole::CollectsGarbage),
    ("Shenandoah", VmThreadRole::CollectsGarbage),
    ("ParGC", VmThreadRole::CollectsGarbage),
    // Stops the other threads, and collects garbage if the collector has no dedicated thread.
    ("VM Thread", VmThreadRole::CollectsGarbage),
    (".NET Server GC", VmThreadRole::CollectsGarbage),
    (".NET BGC", VmThreadRole::CollectsGarbage),
    (".NET BackgroundG", VmThreadRole::CollectsGarbage),
    ("C1 CompilerThre", VmThreadRole::Compiles),
    ("C2 CompilerThre", VmThreadRole::Compiles),
    ("JVMCI", VmThreadRole::Compiles),
    (".NET Tiered Com", VmThreadRole::Compiles),
    ("VM Periodic Tas", VmThreadRole::Other),
    ("Reference Handl", VmThreadRole::Other),
    ("Common-Cleaner", VmThreadRole::Other),
    ("Signal Dispatch", VmThreadRole::Other),
    ("Service Thread", VmThreadRole::Other),
    ("Monitor Deflati", VmThreadRole::Other),
    ("Notification Th", VmThreadRole::Other),
    ("Finalizer", VmThreadRole::Other),
    (".NET Finalizer", VmThreadRole::Other),
    (".NET SynchManag", VmThreadRole::Other),
];

impl VmThreadRole {
    /// Maps the text of `/proc/PID/task/TID/comm`. `None` for a thread of the program.
    pub(crate) fn of(name: &str) -> Option<Self> {
        VM_THREAD_NAMES.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, chore)| *chore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_roles_are_at_their_discriminants() {
        assert!(STATES.iter().enumerate().all(|(at, (state, _))| *state as usize == at));
        assert!(ROLES.iter().enumerate().all(|(at, (role, _))| *role as usize == at));
    }

    #[test]
    fn threads_of_virtual_machines_are_recognized_by_name() {
        assert_eq!(VmThreadRole::of("GC Thread#0\n"), Some(VmThreadRole::CollectsGarbage));
        assert_eq!(VmThreadRole::of("G1 Conc#0\n"), Some(VmThreadRole::CollectsGarbage));
        assert_eq!(VmThreadRole::of("VM Thread\n"), Some(VmThreadRole::CollectsGarbage));
        assert_eq!(VmThreadRole::of("C2 CompilerThre\n"), Some(VmThreadRole::Compiles));
        assert_eq!(VmThreadRole::of("VM Periodic Tas\n"), Some(VmThreadRole::Other));
        for name in ["", "java\n", "G1Garden\n", "http-nio-8080-e\n", "worker VM Thread\n"] {
            assert_eq!(VmThreadRole::of(name), None, "{name}");
        }
    }
}
