//! Settings of SQL loads: steps, query mode, and retries.

use std::fmt;

use crate::script::Distribution;

use crate::classes::Retry;

/// Query mode, with the names of pgbench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Statements as text that includes values.
    #[default]
    Simple,
    /// Separate text and values, prepared each time.
    Extended,
    /// Separate text and values, prepared once per connection.
    Prepared,
}

impl Mode {
    /// All modes with their names, as in `--query-mode`.
    pub const NAMES: &[(&'static str, Mode)] =
        &[("simple", Mode::Simple), ("extended", Mode::Extended), ("prepared", Mode::Prepared)];
}

/// Settings for all steps of a load.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Query mode.
    pub mode: Mode,
    /// Maximum number of tries of a transaction. 1 for no retries, 0 for no limit.
    pub max_tries: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of clients. Connection `n` is client `n`.
    pub clients: u32,
    /// Value of the variable `scale`. `None` for 1.
    pub scale: Option<i64>,
    /// Variables of all clients, as set by `-D`.
    pub variables: Vec<(String, String)>,
    /// Distribution of `random_row`.
    pub distribution: Distribution,
    /// Errors after which a transaction is retried, in addition to serialization failures and deadlocks.
    pub retries: Vec<Retry>,
    /// Names of the plan's variables, in the order of their numbers in [`wire::Conversation::set`].
    pub bindings: Vec<String>,
    /// Numbers of plan variables whose values are always numbers.
    pub numbers: Vec<u16>,
    /// Numbers of plan variables that scripts set.
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
    /// Name of the step.
    pub name: String,
    /// Number of its script.
    pub script: u16,
    /// Expected number of rows that its last statement, except COMMIT and similar, returns or changes. `None` for no expectation.
    pub expects: Option<RowCount>,
}

/// Range of a number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCount {
    /// Minimum.
    pub least: u64,
    /// Maximum.
    pub most: u64,
}

impl RowCount {
    /// Exactly this number of rows.
    pub fn exactly(rows: u64) -> Self {
        Self { least: rows, most: rows }
    }

    /// True if the range includes this number.
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
