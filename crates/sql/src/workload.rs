//! Built-in workloads: the scripts of pgbench and sysbench, statement by statement, and the scripts of the studies.

mod texts;
pub mod tpcc;

use crate::classes::Retry;
use crate::databases::{self, Engine};
use crate::settings::Mode;

/// Tables of a workload, named like those of the original tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tables {
    /// `pgbench_accounts`, `pgbench_branches`, `pgbench_tellers`, and `pgbench_history`, filled by `scale`.
    Pgbench,
    /// `sbtest1` to `sbtestN` with `id`, `k`, `c`, and `pad`: `tables` tables of `table_size` rows.
    Sbtest,
    /// `sbtest1` to `sbtestN` with `id` (unique) and `k`, empty.
    SbtestEmpty,
    /// `tenbin_postcodes` with text columns only, and indexes on `old_code` and `code`: see the INSERT of `postcodes-insert`.
    Postcodes,
    /// `tenbin_accounts` with `email` (unique), `name`, and `created`, empty.
    Accounts,
    /// `tpcc_warehouse`, `tpcc_district`, `tpcc_customer`, `tpcc_history`, `tpcc_orders`, `tpcc_new_order`, `tpcc_order_line`,
    /// `tpcc_item`, and `tpcc_stock`: `scale` warehouses with stocks of `table_size` items.
    Tpcc,
}

impl Tables {
    /// Whether the scale can be read from the database.
    pub fn has_stored_scale(self) -> bool {
        matches!(self, Self::Pgbench | Self::Tpcc)
    }
}

/// A variable of a workload's scripts, or of their generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name, as in `-D name=value`.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Minimum value.
    pub least: u32,
    /// Maximum value.
    pub most: u32,
    /// Short description.
    pub sentence: &'static str,
}

/// Insert style: how rows are inserted and committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// Single-row INSERTs, each with a separate commit.
    #[default]
    Autocommit,
    /// `rows` INSERTs between BEGIN and COMMIT.
    Transactions,
    /// Single INSERT of `rows` rows.
    MultiRow,
    /// `rows` pipelined INSERTs, each with a separate commit. PostgreSQL only.
    Pipelined,
}

impl Style {
    /// All styles with their names.
    pub const NAMES: &[(&'static str, Style)] = &[
        ("autocommit", Style::Autocommit),
        ("transactions", Style::Transactions),
        ("multi-row", Style::MultiRow),
        ("pipelined", Style::Pipelined),
    ];
}

/// A built-in workload: one script in the extended language.
#[derive(Debug)]
pub struct Workload {
    /// Name, as in `--workload`.
    pub name: &'static str,
    /// Description of its transaction, in one sentence.
    pub sentence: &'static str,
    /// Tables that it needs.
    pub tables: Tables,
    /// Variables that it uses, with defaults. A missing `scale` is determined from the tables.
    pub variables: &'static [Variable],
    /// Supported styles; the first is the default.
    pub styles: &'static [Style],
    /// Default query mode.
    pub mode: Mode,
    /// Default maximum number of tries of a transaction. 0 for no limit.
    pub max_tries: u32,
    /// Times at the terminal that its specification demands. `None` if there are none.
    pub terminal: Option<TerminalTimes>,
    text: texts::Text,
}

/// Minimum times of a user at a terminal of TPC-C (clause 5.2.5.7), in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalTimes {
    /// Constant time to enter the input, before the transaction.
    pub keying_s: u32,
    /// Mean of the exponentially distributed time to read the output.
    pub think_s: u32,
}

const SCALE: Variable =
    Variable { name: "scale", default: 1, least: 1, most: 21_474, sentence: "100,000 accounts each" };
const TABLES: Variable = Variable { name: "tables", default: 1, least: 1, most: 1_000, sentence: "tables" };
const TABLE_SIZE: Variable = Variable {
    name: "table_size",
    default: 10_000,
    least: 1,
    most: i32::MAX as u32,
    sentence: "rows of each table",
};
const RANGE_SIZE: Variable = Variable {
    name: "range_size",
    default: 100,
    least: 1,
    most: i32::MAX as u32,
    sentence: "rows that a range of ids spans",
};
const BULK_ROWS: Variable =
    Variable { name: "rows", default: 1_000, least: 1, most: 10_000, sentence: "rows of each INSERT" };
const ROWS: Variable =
    Variable { name: "rows", default: 50, least: 1, most: 60, sentence: "rows of each transaction" };

const PLAIN: &[Style] = &[Style::Autocommit];

const fn pgbench(name: &'static str, sentence: &'static str, text: texts::Text) -> Workload {
    Workload {
        name,
        sentence,
        tables: Tables::Pgbench,
        variables: &[SCALE],
        styles: PLAIN,
        mode: Mode::Simple,
        max_tries: 1,
        terminal: None,
        text,
    }
}

const fn oltp(
    name: &'static str,
    sentence: &'static str,
    variables: &'static [Variable],
    text: texts::Text,
) -> Workload {
    Workload {
        name,
        sentence,
        tables: Tables::Sbtest,
        variables,
        styles: PLAIN,
        mode: Mode::Prepared,
        max_tries: 0,
        terminal: None,
        text,
    }
}

const fn study(
    name: &'static str,
    sentence: &'static str,
    tables: Tables,
    variables: &'static [Variable],
    text: texts::Text,
) -> Workload {
    Workload {
        name,
        sentence,
        tables,
        variables,
        styles: PLAIN,
        mode: Mode::Prepared,
        max_tries: 1,
        terminal: None,
        text,
    }
}

const WAREHOUSES: Variable =
    Variable { name: "scale", default: 1, least: 1, most: 10_000, sentence: "warehouses" };
const ITEMS: Variable = Variable {
    name: "table_size",
    default: 10_000,
    least: 1_000,
    most: 100_000,
    sentence: "items; each 100 have 3 customers in a district",
};

const fn tpcc(
    name: &'static str,
    sentence: &'static str,
    (keying_s, think_s): (u32, u32),
    text: texts::Text,
) -> Workload {
    Workload {
        name,
        sentence,
        tables: Tables::Tpcc,
        variables: &[WAREHOUSES, ITEMS],
        styles: PLAIN,
        mode: Mode::Prepared,
        max_tries: 0,
        terminal: Some(TerminalTimes { keying_s, think_s }),
        text,
    }
}

/// Named mix of workloads with weights.
#[derive(Debug)]
pub struct WorkloadMix {
    /// Name, as in `--workload`.
    pub name: &'static str,
    /// Names of the workloads, with their weights.
    pub parts: &'static [(&'static str, u32)],
}

/// All built-in mixes.
pub const MIXES: &[WorkloadMix] = &[WorkloadMix {
    name: "tpcc-like",
    parts: &[
        ("tpcc-new-order", 45),
        ("tpcc-payment", 43),
        ("tpcc-order-status", 4),
        ("tpcc-delivery", 4),
        ("tpcc-stock-level", 4),
    ],
}];

/// Finds a mix by name.
pub fn find_mix(name: &str) -> Option<&'static WorkloadMix> {
    MIXES.iter().find(|mix| mix.name == name)
}

/// Finds a workload that needs the tables of this workload or mix.
pub fn find_for_tables(name: &str) -> Option<&'static Workload> {
    find(name).or_else(|| find(find_mix(name)?.parts.first()?.0))
}

/// All built-in workloads.
pub const WORKLOADS: &[Workload] = &[
    pgbench(
        "tpcb-like",
        "moves money: three updates, one read and one insert, as pgbench's",
        texts::TPCB_LIKE,
    ),
    pgbench("simple-update", "the same without the tables that everybody fights for", texts::SIMPLE_UPDATE),
    pgbench("select-only", "reads one account by its key", texts::SELECT_ONLY),
    oltp("oltp-point-select", "reads one row by its key", &[TABLES, TABLE_SIZE], texts::POINT_SELECT),
    oltp(
        "oltp-read-only",
        "ten rows by key and four ranges, in a transaction",
        &[TABLES, TABLE_SIZE, RANGE_SIZE],
        texts::READ_ONLY,
    ),
    oltp(
        "oltp-read-write",
        "the same, and two updates, a delete and an insert: 20 statements",
        &[TABLES, TABLE_SIZE, RANGE_SIZE],
        texts::READ_WRITE,
    ),
    oltp(
        "oltp-write-only",
        "two updates, a delete and an insert, in a transaction",
        &[TABLES, TABLE_SIZE],
        texts::WRITE_ONLY,
    ),
    Workload {
        mode: Mode::Simple,
        ..oltp("oltp-insert", "inserts one row", &[TABLES, TABLE_SIZE], texts::INSERT)
    },
    oltp("oltp-update-index", "updates an indexed column by key", &[TABLES, TABLE_SIZE], texts::UPDATE_INDEX),
    oltp(
        "oltp-update-non-index",
        "updates a column without index by key",
        &[TABLES, TABLE_SIZE],
        texts::UPDATE_NON_INDEX,
    ),
    oltp("oltp-delete", "deletes a row by key", &[TABLES, TABLE_SIZE], texts::DELETE),
    Workload {
        tables: Tables::SbtestEmpty,
        mode: Mode::Simple,
        ..oltp(
            "bulk-insert",
            "inserts many rows with one statement, into empty tables",
            &[TABLES, BULK_ROWS],
            texts::BULK_INSERT,
        )
    },
    Workload {
        styles: &[Style::Autocommit, Style::Transactions, Style::MultiRow, Style::Pipelined],
        ..study(
            "postcodes-insert",
            "inserts rows the shape of Japanese postcodes, by one of four commit policies",
            Tables::Postcodes,
            &[ROWS],
            texts::POSTCODES_INSERT,
        )
    },
    study(
        "postcodes-read",
        "looks up random postcodes, most of which are not there",
        Tables::Postcodes,
        &[],
        texts::POSTCODES_READ,
    ),
    study(
        "sign-up",
        "inserts an account whose e-mail address must be unique",
        Tables::Accounts,
        &[],
        texts::SIGN_UP,
    ),
    tpcc("tpcc-new-order", "orders 5 to 15 items, in the shape of TPC-C", (18, 12), texts::NEW_ORDER),
    tpcc("tpcc-payment", "books a payment of a customer, in the shape of TPC-C", (3, 12), texts::PAYMENT),
    tpcc(
        "tpcc-order-status",
        "reads the last order of a customer, in the shape of TPC-C",
        (2, 10),
        texts::ORDER_STATUS,
    ),
    tpcc(
        "tpcc-delivery",
        "delivers the oldest order of ten districts, in the shape of TPC-C",
        (2, 5),
        texts::DELIVERY,
    ),
    tpcc(
        "tpcc-stock-level",
        "counts items with low stock, in the shape of TPC-C",
        (2, 5),
        texts::STOCK_LEVEL,
    ),
];

/// Finds a workload by name.
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// Splits `postcodes-insert:multi-row` into the workload and its style. The style is `None` if there is no colon.
pub fn styled(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(name, style)| (name, Some(style)))
}

/// Style with this name.
///
/// # Errors
///
/// Help that lists all styles.
pub fn find_style(text: &str) -> Result<Style, String> {
    Style::NAMES.iter().find(|(name, _)| *name == text).map(|(_, style)| *style).ok_or_else(|| {
        let known: Vec<&str> = Style::NAMES.iter().map(|(name, _)| *name).collect();
        format!("write {}", known.join(", "))
    })
}

impl Workload {
    /// Whether the workload runs on a database.
    pub fn runs_on(&self, engine: Engine) -> bool {
        self.tables != Tables::Tpcc || engine.dialect().has_tpcc_tables
    }

    /// Databases that it runs on.
    pub fn engines(&self) -> impl Iterator<Item = Engine> {
        Engine::ALL.iter().copied().filter(|engine| self.runs_on(*engine))
    }

    /// Script for a database, in the extended language. `rows` is the value of the variable `rows`, if the workload has one. Fails
    /// with a message if the combination is not supported.
    pub fn script(&self, engine: Engine, style: Style, rows: Option<u32>) -> Result<String, String> {
        let rows_of = self.variables.iter().find(|variable| variable.name == "rows");
        let rows = match (rows, rows_of) {
            (Some(rows), Some(of)) if !(of.least..=of.most).contains(&rows) => {
                return Err(format!("{} takes {} to {} rows, not {rows}", self.name, of.least, of.most));
            }
            (rows, of) => rows.or(of.map(|of| of.default)).unwrap_or(1),
        };
        if !self.runs_on(engine) {
            return Err(format!("{} cannot be run on this server", self.name));
        }
        if !self.styles.contains(&style) {
            let asked = Style::NAMES.iter().find(|(_, known)| *known == style).map_or("", |(name, _)| name);
            return Err(format!("{} has no style {asked}", self.name));
        }
        if style == Style::Pipelined && !engine.dialect().has_pipelines {
            return Err(format!("statements can be pipelined on {} only", databases::with_pipelines()));
        }
        let own = engine.dialect().scripts.iter().find(|(name, _)| *name == self.name);
        Ok(own.map_or_else(|| self.text.of(style, rows), |(_, script)| (*script).to_owned()))
    }

    /// Errors after which a transaction is retried, in addition to deadlocks and serialization failures: those that sysbench ignores.
    pub fn retries(&self, engine: Engine) -> &'static [Retry] {
        (engine.dialect().retries)(self.tables)
    }
}
