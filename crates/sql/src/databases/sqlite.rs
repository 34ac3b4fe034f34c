//! Dialect of SQLite, in this process.

use wire::ErrorClass;

use super::{Backslash, Dialect, LexicalRules};
use crate::classes::Retry;
use crate::script::Placeholders;
use crate::workload::Tables;

pub(super) const DIALECT: Dialect = Dialect {
    name: "SQLite",
    protocol: None,
    verified_by: "sslmode=verify-full",
    placeholders: Placeholders::Question,
    has_pipelines: false,
    load_rows: None,
    prepares_transaction_control: true,
    infers_quoted_types: false,
    backslash: Backslash::Plain,
    lexical_rules: LexicalRules {
        has_escapes_in_quotes: false,
        has_texts_in_double_quotes: false,
        has_dollar_quotes: false,
        has_hash_comments: false,
        dashes_need_blank: false,
        has_executable_comments: false,
        nests_comments: true,
    },
    commits_implicitly: false,
    release_commits: true,
    has_sqlstates: false,
    vendor_class: |_| None,
    scripts: &[],
    session_states: &[],
    read_only: None,
    lock_timeout: None,
    has_tpcc_tables: false,
    retries,
};

fn retries(tables: Tables) -> &'static [Retry] {
    match tables {
        Tables::Sbtest | Tables::SbtestEmpty => &[Retry::Class(ErrorClass::LockTimeout)],
        _ => &[],
    }
}
