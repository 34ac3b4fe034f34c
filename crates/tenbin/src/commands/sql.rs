//! Flags of a SQL load.

use clap::{ArgMatches, Args};
use plan::{Field, ScriptSource, SqlSpec};

/// Flags of database loads. The plan checks all values at once.
#[derive(Args, Debug)]
pub(crate) struct SqlFlags {
    /// Script in pgbench's language; repeatable
    ///
    /// FILE@WEIGHT sets how often it is run relative to other scripts and workloads.
    #[arg(short = 'f', long = "file", value_name = "FILE", help_heading = "SQL")]
    files: Vec<String>,
    /// Built-in workload: tpcb-like, select-only, oltp-read-write, ycsb-a, ...
    ///
    /// ycsb-a to ycsb-f also run on redis://, memcached://, and mongodb://. Repeatable. `tenbin prepare` creates its tables. A style follows a colon, and a weight follows @: postcodes-insert:multi-row@2.
    #[arg(long = "workload", value_name = "NAME", help_heading = "SQL")]
    workloads: Vec<String>,
    /// Set a variable of the scripts; repeatable
    #[arg(
        short = 'D',
        long = "define",
        value_name = "NAME=VALUE",
        help_heading = "SQL",
        hide_short_help = true
    )]
    defines: Vec<String>,
    /// Query protocol: simple, extended, or prepared
    ///
    /// The default is simple for -f and pgbench's workloads, as in pgbench, and prepared for the others, as in sysbench.
    #[arg(short = 'M', long, value_name = "MODE", help_heading = "SQL", hide_short_help = true)]
    query_mode: Option<String>,
    /// Maximum tries of a transaction after deadlocks and serialization failures; 0 is unlimited [default: 1]
    ///
    /// For the oltp workloads, the default is 0.
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    max_tries: Option<String>,
    /// Count slower transactions as late; with -R, do not send those that are late already
    #[arg(short = 'L', long, value_name = "TIME", help_heading = "SQL", hide_short_help = true)]
    pub(crate) latency_limit: Option<String>,
    /// Connections that the users of a closed load share; a user without one waits [default: one each]
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    pub(crate) pool: Option<String>,
    /// Skip the check that the server accepts this many connections, as behind an unknown pooler
    #[arg(long, help_heading = "SQL", hide_short_help = true)]
    pub(crate) no_room_check: bool,
    /// Scale factor of pgbench's tables [default: read from the tables; 1 for scripts]
    #[arg(short = 's', long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    scale: Option<String>,
    /// Number of tables of the oltp workloads [default: 1]
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    tables: Option<String>,
    /// Rows per table of the oltp workloads [default: 10000]
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    table_size: Option<String>,
    /// Rows per range query of the oltp workloads [default: 100]
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    range_size: Option<String>,
    /// Row distribution of the oltp workloads: special, uniform, zipf:1.1, or pareto:0.2
    ///
    /// The default is special, as in sysbench 1.0.
    #[arg(long, value_name = "KIND", help_heading = "SQL", hide_short_help = true)]
    distribution: Option<String>,
    /// Rows per batch, for workloads that insert batches
    #[arg(long, value_name = "N", help_heading = "SQL", hide_short_help = true)]
    rows: Option<String>,
    /// Commit style of postcodes-insert: autocommit, transactions, multi-row, or pipelined
    ///
    /// The default is autocommit.
    #[arg(long, value_name = "STYLE", help_heading = "SQL", hide_short_help = true)]
    style: Option<String>,
    /// Give users of tpcc-like the keying and think times of TPC-C (clause 5.2.5.7)
    #[arg(long, help_heading = "SQL", hide_short_help = true)]
    terminal_times: bool,
}

impl SqlFlags {
    /// First of these flags that was given. `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let texts = [
            ("--query-mode", &self.query_mode),
            ("--max-tries", &self.max_tries),
            ("--latency-limit", &self.latency_limit),
            ("--pool", &self.pool),
            ("--scale", &self.scale),
            ("--tables", &self.tables),
            ("--table-size", &self.table_size),
            ("--range-size", &self.range_size),
            ("--distribution", &self.distribution),
            ("--rows", &self.rows),
            ("--style", &self.style),
        ];
        let lists = [("--file", &self.files), ("--workload", &self.workloads), ("--define", &self.defines)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(flag, _)| flag);
        let texts = texts.into_iter().filter(|(_, text)| text.is_some()).map(|(flag, _)| flag);
        let switches = [("--no-room-check", self.no_room_check), ("--terminal-times", self.terminal_times)];
        let switches = switches.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag);
        lists.chain(texts).chain(switches).next()
    }

    /// Value of `-s`.
    pub(crate) fn scale(&self) -> Option<&str> {
        self.scale.as_deref()
    }

    /// First value of `-f`.
    pub(crate) fn file(&self) -> Option<&str> {
        self.files.first().map(String::as_str)
    }

    /// Keys of `sql` in a plan, with their values. Leaves out the variables.
    pub(crate) fn keys(&self) -> Vec<(&'static str, String)> {
        self.texts().into_iter().filter_map(|(field, text)| Some((field.key, text.clone()?))).collect()
    }

    /// Names and values of the variables. A definition without `=` has an empty value.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.defines.iter().map(|text| text.split_once('=').unwrap_or((text, "")))
    }

    fn texts(&self) -> [(Field, &Option<String>); 9] {
        [
            (Field::MODE, &self.query_mode),
            (Field::MAX_TRIES, &self.max_tries),
            (Field::SCALE, &self.scale),
            (Field::TABLES, &self.tables),
            (Field::TABLE_SIZE, &self.table_size),
            (Field::RANGE_SIZE, &self.range_size),
            (Field::DISTRIBUTION, &self.distribution),
            (Field::ROWS, &self.rows),
            (Field::STYLE, &self.style),
        ]
    }

    /// Settings of scripts and workloads.
    pub(crate) fn spec(&self) -> SqlSpec {
        let mut spec = SqlSpec::default();
        for (field, text) in self.texts() {
            if let Some(text) = text {
                spec.write(field, text);
            }
        }
        if self.terminal_times {
            spec.write(Field::TERMINAL_TIMES, "true");
        }
        self.defines.iter().for_each(|text| spec.define(text));
        spec
    }
}

/// Scripts and workloads in the order of the command line, which is also the order of the steps.
pub(crate) fn played(matches: &ArgMatches) -> Vec<ScriptSource> {
    let of = |name: &str, played: fn(String) -> ScriptSource| {
        let places = matches.indices_of(name).into_iter().flatten();
        let texts = matches.get_many::<String>(name).into_iter().flatten().cloned();
        places.zip(texts.map(played)).collect::<Vec<_>>()
    };
    let mut all = [of("files", ScriptSource::File), of("workloads", ScriptSource::Workload)].concat();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, played)| played).collect()
}
