//! Signals by name.

use std::fmt;

use rustix::process::Signal as Raw;

/// Names and numbers of the signals that a plan may name, or that end a process.
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

/// A signal, by which a process is asked to end, or was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    /// Asks politely.
    pub const TERM: Signal = Signal(Raw::TERM.as_raw());
    /// Cannot be ignored.
    pub const KILL: Signal = Signal(Raw::KILL.as_raw());

    /// Asks as the keyboard does.
    pub(crate) const INT: Signal = Signal(Raw::INT.as_raw());
    /// Holds a process up.
    pub(crate) const STOP: Signal = Signal(Raw::STOP.as_raw());
    /// Lets it go on.
    pub(crate) const CONT: Signal = Signal(Raw::CONT.as_raw());

    /// The signal of this name, with or without `SIG`, in any case.
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

    /// For the kernel. A number that no name is known of becomes TERM.
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
    fn names_are_read_in_any_form() {
        assert_eq!(Signal::named("TERM"), Some(Signal::TERM));
        assert_eq!(Signal::named("sigkill"), Some(Signal::KILL));
        assert_eq!(Signal::named("WINCH").map(|signal| signal.to_string()), Some("WINCH".to_owned()));
        assert_eq!(Signal::named("NOPE"), None);
        assert_eq!(Signal::numbered(64).to_string(), "signal 64");
    }
}
