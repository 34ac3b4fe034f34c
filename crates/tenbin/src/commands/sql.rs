//! Flags of a load of SQL.

use clap::{ArgMatches, Args};
use plan::Played;

/// What is played on a database, and how. Values are checked all at once, by the plan.
#[derive(Args, Debug)]
pub(crate) struct SqlFlags {
    /// A script in pgbench's language, and how often it is played next to others; may be repeated.
    #[arg(short = 'f', long = "file", value_name = "FILE[@WEIGHT]", help_heading = "SQL")]
    files: Vec<String>,
    /// A built-in workload, such as tpcb-like, select-only, oltp-read-write or sign-up; may be repeated. `tenbin prepare`
    /// makes its tables. A style of its own follows a colon: postcodes-insert:multi-row.
    #[arg(long = "workload", value_name = "NAME[:STYLE][@WEIGHT]", help_heading = "SQL")]
    workloads: Vec<String>,
    /// The value of a variable of the scripts; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", help_heading = "SQL")]
    pub(crate) defines: Vec<String>,
    /// How statements travel: simple, extended or prepared [default: simple for -f and pgbench's workloads, as pgbench;
    /// prepared for the others, as sysbench].
    #[arg(short = 'M', long, value_name = "MODE", help_heading = "SQL")]
    pub(crate) query_mode: Option<String>,
    /// How often a transaction is tried that fails of a deadlock or a serialization failure; 0 is without limit [default: 1; 0
    /// for the oltp workloads].
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) max_tries: Option<String>,
    /// Count transactions as late that take longer; with -R, do not send those that are late already.
    #[arg(short = 'L', long, value_name = "TIME", help_heading = "SQL")]
    pub(crate) latency_limit: Option<String>,
    /// Connections that the users of a closed load share; a user without one waits [default: one each].
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) pool: Option<String>,
    /// Do not ask whether the server takes so many connections: a pooler may take them that is not recognised.
    #[arg(long, help_heading = "SQL")]
    pub(crate) no_room_check: bool,
    /// The scale of pgbench's tables, and the variable of that name [default: read from the tables; 1 for scripts].
    #[arg(short = 's', long, value_name = "N", help_heading = "SQL")]
    pub(crate) scale: Option<String>,
    /// How many tables the oltp workloads have [default: 1].
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) tables: Option<String>,
    /// Rows of each of them [default: 10000].
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) table_size: Option<String>,
    /// Rows that a range spans [default: 100].
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) range_size: Option<String>,
    /// Which rows the oltp workloads meet most: special, uniform, zipf:1.1 or pareto:0.2 [default: special, as sysbench 1.0].
    #[arg(long, value_name = "KIND", help_heading = "SQL")]
    pub(crate) distribution: Option<String>,
    /// Rows of each batch, of workloads that insert batches.
    #[arg(long, value_name = "N", help_heading = "SQL")]
    pub(crate) rows: Option<String>,
    /// How postcodes-insert commits: autocommit, transactions, multi-row or pipelined [default: autocommit].
    #[arg(long, value_name = "STYLE", help_heading = "SQL")]
    pub(crate) style: Option<String>,
}

/// Scripts and workloads in the order in which they were written: theirs are the numbers of steps.
pub(crate) fn played(matches: &ArgMatches) -> Vec<Played> {
    let of = |name: &str, played: fn(String) -> Played| {
        let places = matches.indices_of(name).into_iter().flatten();
        let texts = matches.get_many::<String>(name).into_iter().flatten().cloned();
        places.zip(texts.map(played)).collect::<Vec<_>>()
    };
    let mut all = [of("files", Played::File), of("workloads", Played::Workload)].concat();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, played)| played).collect()
}
