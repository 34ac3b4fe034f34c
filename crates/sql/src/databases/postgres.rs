//! Dialect of PostgreSQL, and of servers with its protocol.

mod session_states;

use super::{Backslash, Dialect, LexicalRules};
use crate::classes::Retry;
use crate::script::Placeholders;
use crate::workload::Tables;

const UNIQUE_VIOLATION: &[Retry] = &[Retry::State(*b"23505")];

pub(super) const DIALECT: Dialect = Dialect {
    name: "PostgreSQL",
    protocol: Some(&wire::postgres::PROTOCOL),
    verified_by: "sslmode=verify-full",
    placeholders: Placeholders::Numbered,
    has_pipelines: true,
    load_rows: Some(|rows| format!("COPY {} ({}) FROM STDIN", rows.table, rows.columns)),
    prepares_transaction_control: true,
    infers_quoted_types: true,
    backslash: Backslash::Doubled,
    lexical_rules: LexicalRules {
        has_escapes_in_quotes: false,
        has_texts_in_double_quotes: false,
        has_dollar_quotes: true,
        has_hash_comments: false,
        dashes_need_blank: false,
        has_executable_comments: false,
        nests_comments: true,
    },
    commits_implicitly: false,
    release_commits: false,
    has_sqlstates: true,
    vendor_class: |_| None,
    scripts: &[],
    session_states: session_states::SESSION_STATES,
    read_only: Some(("default_transaction_read_only", "on")),
    lock_timeout: Some(("lock_timeout", 1)),
    has_tpcc_tables: true,
    retries: |tables| if tables == Tables::Sbtest { UNIQUE_VIOLATION } else { &[] },
};
