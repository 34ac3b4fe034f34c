//! Replacements for flags of load testers of databases: pgbench and sysbench.

use super::Row;

/// Flags of pgbench and sysbench that select the database or the workload. They take precedence if a URL names a database.
const FLAGS: [Row; 9] = [
    ("-S", "--workload select-only", ""),
    ("-N", "--workload simple-update", ""),
    ("-i", "tenbin prepare URL --workload tpcb-like", ""),
    ("-h", "the host in the URL: postgres://USER@HOST/DATABASE", ""),
    ("-U", "the user in the URL: postgres://USER@HOST/DATABASE", ""),
    ("-p", "the port in the URL: postgres://USER@HOST:PORT/DATABASE", ""),
    ("--host", "the host in the URL: postgres://USER@HOST/DATABASE", ""),
    ("--initialize", "tenbin prepare URL --workload tpcb-like", ""),
    ("--builtin", "--workload NAME", "NAME"),
];

/// Replacements that apply to these words of a command line: those for databases if one of them is the URL of a database.
pub(super) fn flags(words: &[String]) -> &'static [Row] {
    if words.iter().any(|word| plan::Database::has_url(word)) { &FLAGS } else { &[] }
}

/// Replacement for the connection flags of sysbench, such as `--mysql-host`.
pub(super) fn client_flag_replacement(name: &str) -> Option<String> {
    let engine = ["mysql", "pgsql"].into_iter().find(|engine| name.starts_with(&format!("--{engine}-")))?;
    let scheme = if engine == "mysql" { "mysql" } else { "postgres" };
    Some(format!("the server, user, and database in the URL: {scheme}://USER@HOST:PORT/DATABASE"))
}
