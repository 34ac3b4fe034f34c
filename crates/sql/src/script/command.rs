//! Commands of a script, with jumps instead of conditional blocks.

use crate::script::expression::Code;

/// A command of a script.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) act: Action,
    /// Line of the script where it begins, from 1.
    pub(crate) line: u32,
    /// Number in the script as pgbench counts, from 0.
    pub(crate) number: u32,
}

/// Action of a command.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Sends a statement, by its number over all scripts.
    Send(u16),
    /// Assigns the value of an expression to a variable.
    Set(u16, Code),
    /// Jumps to a command unless an expression is true.
    Unless(Code, usize),
    /// Jumps to a command.
    Jump(usize),
    /// Waits.
    Sleep(SleepDuration),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

impl Action {
    /// Name of the meta command without its backslash.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Send(_) => "SQL",
            Self::Set(..) => "set",
            Self::Unless(..) | Self::Jump(_) => "if",
            Self::Sleep(_) => "sleep",
            Self::StartPipeline => "startpipeline",
            Self::SyncPipeline => "syncpipeline",
            Self::EndPipeline => "endpipeline",
        }
    }
}

/// Duration of a `\sleep`.
#[derive(Clone, Debug)]
pub(crate) struct SleepDuration {
    pub(crate) amount: Amount,
    pub(crate) unit_ns: u64,
}

/// Number of units of a `\sleep`.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    Fixed(i64),
    /// Slot and name of a variable.
    Variable(u16, String),
}

impl SleepDuration {
    pub(crate) fn ns(&self, amount: i64) -> u64 {
        u64::try_from(amount).unwrap_or(0).saturating_mul(self.unit_ns)
    }
}

/// Integer at the beginning of a text, like C's `atoi`. 0 if there is none.
pub(crate) fn leading_int(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    let number =
        digits.fold(0_i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if is_negative { -number } else { number }
}
