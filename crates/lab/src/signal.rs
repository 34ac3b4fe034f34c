//! Signals and their names.

use std::fmt;

use rustix::process::Signal as Raw;

/// Names and numbers of the signals that a plan may contain, or that may end a process.
const NAMES: &[(&str, Raw)] = &[
    ("HUP", Raw::HUP),
    ("INT", Raw::INT),
    ("QUIT", Raw::QUIT),
    ("ILL", Raw::ILL),
    ("TRAP", Raw::TRAP),
    ("ABRT", Raw::ABORT),
    ("BUS", Raw::BUS),
    ("FPE", Raw::FPE),
    ("KILL", Raw::KILL),
    ("USR1", Raw::USR1),
    ("SEGV", Raw::SEGV),
    ("USR2", Raw::USR2),
    ("PIPE", Raw::PIPE),
    ("ALRM", Raw::ALARM),
    ("TERM", Raw::TERM),
    ("XCPU", Raw::XCPU),
    ("XFSZ", Raw::XFSZ),
    ("WINCH", Raw::WINCH),
    ("TTIN", Raw::TTIN),
    ("TTOU", Raw::TTOU),
    ("STOP", Raw::STOP),
    ("CONT", Raw::CONT),
    ("SYS", Raw::SYS),
];

/// A signal, sent to a process or the cause of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    /// SIGTERM, the default request to end.
    pub const TERM: Signal = Signal(Raw::TERM.as_raw());
    /// SIGKILL, which cannot be ignored.
    pub const KILL: Signal = Signal(Raw::KILL.as_raw());

    /// SIGINT, as sent by Ctrl-C.
    pub(crate) const INT: Signal = Signal(Raw::INT.as_raw());
    /// SIGSTOP, which pauses a process.
    pub(crate) const STOP: Signal = Signal(Raw::STOP.as_raw());
    /// SIGCONT, which resumes a process.
    pub(crate) const CONT: Signal = Signal(Raw::CONT.as_raw());

    /// Signal with this name, with or without `SIG`, in any case. `None` for an unknown name.
    pub fn named(name: &str) -> Option<Signal> {
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, raw)| Signal(raw.as_raw()))
    }

    pub(crate) fn numbered(number: i32) -> Signal {
        Signal(number)
    }

    pub(crate) fn number(self) -> i32 {
        self.0
    }

    /// Signal for system calls. A number without a known name becomes TERM.
    pub(crate) fn raw(self) -> Raw {
        NAMES.iter().map(|(_, raw)| *raw).find(|raw| raw.as_raw() == self.0).unwrap_or(Raw::TERM)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, raw)| raw.as_raw() == self.0) {
            Some((name, _)) => out.write_str(name),
            None => write!(out, "signal {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_accepted_in_any_form() {
        assert_eq!(Signal::named("TERM"), Some(Signal::TERM));
        assert_eq!(Signal::named("sigkill"), Some(Signal::KILL));
        assert_eq!(Signal::named("WINCH").map(|signal| signal.to_string()), Some("WINCH".to_owned()));
        assert_eq!(Signal::named("NOPE"), None);
        assert_eq!(Signal::numbered(64).to_string(), "signal 64");
    }
}
