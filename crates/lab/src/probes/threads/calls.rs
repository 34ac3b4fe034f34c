//! Derives the reason why a thread waits from its system call, or from the kernel function in which it sleeps.

use super::locks::LockCall;
use super::state::State;

/// Reason why a thread is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Waits for another thread, at an address of its process. `is_timed` is true if the wait has a timeout. `lock` is the kind of lock
    /// that waits this way. `None` if no lock does.
    Futex { address: u64, is_timed: bool, lock: Option<LockCall> },
    /// Reads from a file descriptor.
    Read(u64),
    /// Writes to a file descriptor.
    Write(u64),
    /// Receives from a socket descriptor.
    Receive(u64),
    /// The call alone determines the state.
    In(State),
    /// The call does not determine the state.
    Unclear,
}

/// State that a system call implies, and the arguments that refine it.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Futex,
    Read,
    Write,
    Receive,
    In(State),
    /// Wait for descriptors. Only sleeps if it has none. Holds the index of the argument with their count.
    Poll(usize),
}

use Meaning::{Futex, In, Poll, Read, Receive, Write};

#[cfg(target_arch = "x86_64")]
const CALLS: &[(u64, Meaning)] = &[
    (0, Read),
    (1, Write),
    (7, Poll(1)),
    (17, Read),
    (18, Write),
    (19, Read),
    (20, Write),
    (23, Poll(0)),
    (35, In(State::Timer)),
    (40, Write),
    (42, In(State::Connect)),
    (43, In(State::Accept)),
    (44, In(State::SocketWrite)),
    (45, Receive),
    (46, In(State::SocketWrite)),
    (47, Receive),
    (65, In(State::FileLock)),
    (72, In(State::FileLock)),
    (73, In(State::FileLock)),
    (202, Futex),
    (220, In(State::FileLock)),
    (230, In(State::Timer)),
    (232, In(State::Poll)),
    (270, Poll(0)),
    (271, Poll(1)),
    (281, In(State::Poll)),
    (288, In(State::Accept)),
    (295, Read),
    (296, Write),
    (299, Receive),
    (307, In(State::SocketWrite)),
    (327, Read),
    (328, Write),
    (426, In(State::Poll)),
    (441, In(State::Poll)),
    (455, Futex),
];

#[cfg(target_arch = "aarch64")]
const CALLS: &[(u64, Meaning)] = &[
    (22, In(State::Poll)),
    (25, In(State::FileLock)),
    (32, In(State::FileLock)),
    (63, Read),
    (64, Write),
    (65, Read),
    (66, Write),
    (67, Read),
    (68, Write),
    (69, Read),
    (70, Write),
    (71, Write),
    (72, Poll(0)),
    (73, Poll(1)),
    (98, Futex),
    (101, In(State::Timer)),
    (115, In(State::Timer)),
    (192, In(State::FileLock)),
    (193, In(State::FileLock)),
    (202, In(State::Accept)),
    (203, In(State::Connect)),
    (206, In(State::SocketWrite)),
    (207, Receive),
    (211, In(State::SocketWrite)),
    (212, Receive),
    (242, In(State::Accept)),
    (243, Receive),
    (269, In(State::SocketWrite)),
    (286, Read),
    (287, Write),
    (426, In(State::Poll)),
    (441, In(State::Poll)),
    (455, Futex),
];

/// Empty: other architectures have other call numbers, so kernel functions are used there.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: &[(u64, Meaning)] = &[];

/// Whether system call numbers are known for this architecture.
pub(crate) const ARE_CALLS_KNOWN: bool = !CALLS.is_empty();

/// Prefixes of the names of kernel functions in which threads sleep.
const FUNCTIONS: &[(&str, State)] = &[
    ("futex_", State::Futex),
    ("do_epoll_wait", State::Poll),
    ("ep_poll", State::Poll),
    ("poll_schedule_timeout", State::Poll),
    ("do_poll", State::Poll),
    ("do_select", State::Poll),
    ("io_cqring_wait", State::Poll),
    ("inet_csk_accept", State::Accept),
    ("inet_csk_wait_for_connect", State::Accept),
    ("wait_woken", State::SocketRead),
    ("sk_wait_data", State::SocketRead),
    ("tcp_recvmsg", State::SocketRead),
    ("unix_stream_read", State::SocketRead),
    ("unix_stream_data_wait", State::SocketRead),
    ("__skb_wait_for_more_packets", State::SocketRead),
    ("sk_stream_wait_memory", State::SocketWrite),
    ("sock_alloc_send_pskb", State::SocketWrite),
    ("inet_wait_for_connect", State::Connect),
    ("__inet_stream_connect", State::Connect),
    ("anon_pipe_read", State::PipeRead),
    ("pipe_read", State::PipeRead),
    ("fifo_pipe_read", State::PipeRead),
    ("anon_pipe_write", State::PipeWrite),
    ("pipe_write", State::PipeWrite),
    ("fifo_pipe_write", State::PipeWrite),
    ("hrtimer_nanosleep", State::Timer),
    ("do_nanosleep", State::Timer),
    ("locks_lock_inode_wait", State::FileLock),
    ("flock_lock_inode_wait", State::FileLock),
    ("do_semtimedop", State::FileLock),
    ("do_signal_stop", State::Stopped),
    ("ptrace_stop", State::Stopped),
    // Freezer of control groups, version 2 and version 1.
    ("do_freezer_trap", State::Stopped),
    ("__refrigerator", State::Stopped),
];

impl Wait {
    /// Parses `/proc/PID/task/TID/syscall`. `None` if the thread is ready or running.
    pub(crate) fn parse_syscall(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace();
        let first = fields.next().filter(|word| *word != "running")?;
        // Number −1: blocked outside of a system call, for instance in a page fault.
        let Ok(number) = first.parse::<u64>() else { return Some(Self::Unclear) };
        let mut arguments = fields.map(|field| {
            let digits = field.strip_prefix("0x").unwrap_or(field);
            u64::from_str_radix(digits, 16).ok()
        });
        let mut argument = |at: usize| arguments.nth(at).flatten();
        let meaning = CALLS.iter().find(|(of, _)| *of == number).map(|(_, meaning)| *meaning);
        let wait = match meaning {
            None => None,
            // In both calls, the fourth argument is the address of the timeout.
            Some(Futex) => argument(0).map(|address| {
                let operation_and_value = argument(0).zip(argument(0));
                let is_timed = argument(0).is_some_and(|timeout| timeout != 0);
                let lock = operation_and_value.and_then(|(operation, value)| LockCall::of(operation, value));
                let lock = if is_timed { lock.and_then(LockCall::with_timeout) } else { lock };
                Self::Futex { address, is_timed, lock }
            }),
            Some(Read) => argument(0).map(Self::Read),
            Some(Write) => argument(0).map(Self::Write),
            Some(Receive) => argument(0).map(Self::Receive),
            Some(In(state)) => Some(Self::In(state)),
            Some(Poll(at)) => {
                argument(at).map(|files| Self::In(if files == 0 { State::Timer } else { State::Poll }))
            }
        };
        Some(wait.unwrap_or(Self::Unclear))
    }

    /// Maps the name in `/proc/PID/task/TID/wchan`.
    pub(crate) fn from_function(name: &str) -> Self {
        let known = FUNCTIONS.iter().find(|(begins, _)| name.starts_with(begins));
        known.map_or(Self::Unclear, |(_, state)| Self::In(*state))
    }

    /// Refines a read or a write by the target of its descriptor, as `/proc/PID/fd/N` shows it.
    pub(crate) fn from_file(link: &str, is_read: bool) -> Self {
        if link.starts_with("socket:") {
            return Self::In(if is_read { State::SocketRead } else { State::SocketWrite });
        }
        if link.starts_with("pipe:") {
            return Self::In(if is_read { State::PipeRead } else { State::PipeWrite });
        }
        match link {
            "anon_inode:[timerfd]" => Self::In(State::Timer),
            _ => Self::Unclear,
        }
    }
}

/// A system call that returns when a connection arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// `accept`, with the descriptor of the listening socket.
    Accept(u64),
    /// `epoll_wait` or another poll, with its first argument: the descriptor of the epoll instance.
    Poll(u64),
}

impl Call {
    /// Parses `/proc/PID/task/TID/syscall`. `None` for any other call.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace();
        let number: u64 = fields.next()?.parse().ok()?;
        let descriptor = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
        match CALLS.iter().find(|(of, _)| *of == number)?.1 {
            In(State::Accept) => Some(Self::Accept(descriptor)),
            In(State::Poll) => Some(Self::Poll(descriptor)),
            _ => None,
        }
    }
}

/// Inode of a socket, from the target of a descriptor. `None` if it is not a socket.
pub(crate) fn parse_inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn system_calls_determine_the_wait() {
        let of = |text: &str| Wait::parse_syscall(text).unwrap();
        let at_futex = |is_timed| Wait::Futex { address: 0x55f6_335e_e9d0, is_timed, lock: None };
        assert_eq!(of("202 0x55f6335ee9d0 0x189 0x0 0x0 0x0 0x0 0x7f 0x7f"), at_futex(false));
        assert_eq!(of("202 0x55f6335ee9d0 0x189 0x0 0x7ffe3 0x0 0x0 0x7f 0x7f"), at_futex(true));
        let locked = Wait::Futex { address: 0x55f6, is_timed: false, lock: Some(LockCall::Mutex) };
        assert_eq!(of("202 0x55f6 0x80 0x2 0x0 0x0 0x0 0x7f 0x7f"), locked);
        let polled = Wait::Futex { address: 0x55f6, is_timed: true, lock: Some(LockCall::Mutex) };
        assert_eq!(of("202 0x55f6 0x89 0x2 0x7ffe3 0x0 0xffffffff 0x7f 0x7f"), polled, "no mutex of Rust");
        assert_eq!(of("0 0x3 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f"), Wait::Read(3));
        assert_eq!(of("45 0x6 0x7f 0x1 0x0 0x0 0x0 0x7f 0x7f"), Wait::Receive(6));
        assert_eq!(of("7 0x55 0x2 0xea60"), Wait::In(State::Poll));
        assert_eq!(of("7 0x55 0x0 0xea60"), Wait::In(State::Timer));
        assert_eq!(of("288 0x5"), Wait::In(State::Accept));
        assert_eq!(of("73 0x3 0x2"), Wait::In(State::FileLock));
        assert_eq!(Wait::parse_syscall("running\n"), None);
        assert_eq!(Wait::parse_syscall(""), None);
        for unclear in ["-1 0x7f 0x7f", "9999 0x1", "202", "0 x", "7 0x1", "nonsense"] {
            assert_eq!(of(unclear), Wait::Unclear, "{unclear}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn accept_and_epoll_calls_name_a_descriptor() {
        assert_eq!(Call::of_text("288 0x5 0x0 0x0"), Some(Call::Accept(5)));
        assert_eq!(Call::of_text("232 0x1f 0x7f 0x40"), Some(Call::Poll(31)));
        for other in ["running", "", "7 0x55 0x2 0xea60", "202 0x5", "-1 0x7f", "288"] {
            assert_eq!(Call::of_text(other), None, "{other}");
        }
    }

    #[test]
    fn kernel_functions_determine_the_wait() {
        assert_eq!(Wait::from_function("futex_do_wait"), Wait::In(State::Futex));
        assert_eq!(Wait::from_function("poll_schedule_timeout.constprop.0"), Wait::In(State::Poll));
        assert_eq!(Wait::from_function("anon_pipe_read"), Wait::In(State::PipeRead));
        for stopped in ["do_signal_stop", "ptrace_stop", "do_freezer_trap", "__refrigerator"] {
            assert_eq!(Wait::from_function(stopped), Wait::In(State::Stopped), "{stopped}");
        }
        for unclear in ["0", "", "do_wait", "sigsuspend"] {
            assert_eq!(Wait::from_function(unclear), Wait::Unclear, "{unclear}");
        }
    }

    #[test]
    fn descriptor_is_a_socket_pipe_or_file() {
        assert_eq!(Wait::from_file("socket:[77]", true), Wait::In(State::SocketRead));
        assert_eq!(Wait::from_file("pipe:[77]", false), Wait::In(State::PipeWrite));
        assert_eq!(Wait::from_file("/var/log/app.log", false), Wait::Unclear);
        assert_eq!(
            (parse_inode("socket:[77]"), parse_inode("socket:[x]"), parse_inode("pipe:[7]")),
            (Some(77), None, None)
        );
    }
}
