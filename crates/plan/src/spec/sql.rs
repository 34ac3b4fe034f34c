//! Keys and flags of a load of transactions: name, meaning, and kind of each value.

use sql::Mode;
use sql::script::Distribution;
use sql::workload::Style;

use super::{Field, Spanned};

/// Name and value of a script variable. The value is `None` if it was written without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

crate::spec::spec! {
    /// Scripts, variables, and query mode of transactions as given. Values are parsed, but not yet checked against each other.
    pub struct SqlSpec with SQL_KEYS {
        MODE "mode" "--query-mode": mode: Mode = MODE, "prepared",
            "Query protocol: simple, extended, or prepared (once per connection). Default: simple, except for the workloads of sysbench.";
        MAX_TRIES "max-tries" "--max-tries": max_tries: u64 = COUNT, "3",
            "Maximum tries of a transaction that fails with a deadlock or a serialization failure; 0 is unlimited; default 1.";
        VARIABLES "variables" "-D": variables: Vec<Variable> = VARIABLES, "{ rows: 10 }",
            "Variables of the scripts.";
        SCALE "scale" "--scale": scale: u64 = COUNT, "10",
            "Scale of the pgbench tables; default: read from the database.";
        TABLES "tables" "--tables": tables: u64 = COUNT, "4",
            "oltp workloads: number of tables; default 1.";
        TABLE_SIZE "table-size" "--table-size": table_size: u64 = COUNT, "100000",
            "oltp workloads: rows of each table; default 10000.";
        RANGE_SIZE "range-size" "--range-size": range_size: u64 = COUNT, "100",
            "oltp workloads: rows in a range; default 100.";
        DISTRIBUTION "distribution" "--distribution": distribution: Distribution = DISTRIBUTION, "special",
            "oltp workloads: distribution of rows: special, uniform, zipf:1.1, or pareto:0.2; default special.";
        ROWS "rows" "--rows": rows: u64 = COUNT, "50",
            "Workloads that insert batches: rows of each batch.";
        STYLE "style" "--style": style: Style = STYLE, "autocommit",
            "postcodes-insert: how it commits; default autocommit.";
    }
    on command lines only {
        TERMINAL_TIMES "terminal-times" "--terminal-times": terminal_times: bool = TRUTH;
    }
}

impl Variable {
    /// Splits `name=value`.
    pub(crate) fn from_text(text: &str) -> Self {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        Self { name: name.to_owned(), value: value.map(str::to_owned) }
    }
}

/// Scripts and workloads, which are steps in a plan file.
#[allow(missing_docs, reason = "each is the name of what is played")]
impl Field {
    pub const SCRIPT: Self = Self { key: "script", flag: "-f" };
    pub const WORKLOAD: Self = Self { key: "workload", flag: "--workload" };
}

impl SqlSpec {
    /// Adds the text of one `-D name=value`.
    pub fn define(&mut self, text: &str) {
        let given = self.variables.take().unwrap_or_else(|| Spanned::from(Vec::new()));
        self.variables = Some(given.map(|given| [given, vec![Variable::from_text(text)]].concat()));
    }
}
