//! What is asked for: the steps, how statements travel, how often a transaction is tried.

use std::fmt;

use crate::script::Distribution;

use crate::classes::Retry;

/// How statements travel, in pgbench's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// As text, values and all.
    #[default]
    Simple,
    /// Text and values apart, prepared each time.
    Extended,
    /// Prepared once a connection.
    Prepared,
}

impl Mode {
    /// All, with their names, as in `--query-mode`.
    pub const NAMES: &[(&'static str, Mode)] =
        &[("simple", Mode::Simple), ("extended", Mode::Extended), ("prepared", Mode::Prepared)];
}

/// What holds for all steps of a load.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How statements travel.
    pub mode: Mode,
    /// How often a transaction is tried at most; 1 is once, 0 is without limit.
    pub max_tries: u32,
    /// What every random number is drawn from.
    pub seed: u64,
    /// How many clients there are: connection `n` is client `n`.
    pub clients: u32,
    /// The value of the variable `scale`; without it, 1.
    pub scale: Option<i64>,
    /// Variables of all clients, as `-D` gives them.
    pub variables: Vec<(String, String)>,
    /// How `random_row` draws.
    pub distribution: Distribution,
    /// After which refusals a transaction is tried again, besides serialization failures and deadlocks.
    pub retries: Vec<Retry>,
    /// The names of the plan's variables, in the order of the numbers that [`wire::Conversation::set`] is given.
    pub bindings: Vec<String>,
    /// Numbers of those of the plan's variables whose values are always numbers.
    pub numbers: Vec<u16>,
    /// Numbers of those of the plan's variables that scripts give values to.
    pub saves: Vec<u16>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Simple,
            max_tries: 1,
            seed: 0,
            clients: 1,
            scale: None,
            variables: Vec::new(),
            distribution: Distribution::Uniform,
            retries: Vec::new(),
            bindings: Vec::new(),
            numbers: Vec::new(),
            saves: Vec::new(),
        }
    }
}

/// A named transaction: one run of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionStep {
    /// Its name.
    pub name: String,
    /// The number of its script.
    pub script: u16,
    /// How many rows its last statement, COMMIT and the like aside, must send or change.
    pub expects: Option<RowCount>,
}

/// A number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCount {
    /// At least so many.
    pub least: u64,
    /// At most so many.
    pub most: u64,
}

impl RowCount {
    /// Exactly so many.
    pub fn exactly(rows: u64) -> Self {
        Self { least: rows, most: rows }
    }

    /// Whether a number is one of these.
    pub fn holds(self, rows: u64) -> bool {
        (self.least..=self.most).contains(&rows)
    }
}

impl fmt::Display for RowCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, most) if least == most => write!(f, "{least}"),
            (least, u64::MAX) => write!(f, "at least {least}"),
            (least, most) => write!(f, "{least} to {most}"),
        }
    }
}
