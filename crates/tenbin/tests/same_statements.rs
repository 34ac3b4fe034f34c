//! Tenbin sends exactly the statements that pgbench sends with an equal script and seed.

use std::process::Stdio;

use crate::support::Home;
use servers::{Postgres, PostgresSettings};

/// A script with every function and every kind of meta command whose value does not depend on the server's clock.
const EVERYTHING: &str = r"\set aid random(1, 100000)
\set e random_exponential(1, 1000, 3.5)
\set g random_gaussian(1, 1000, 4.0)
\set z random_zipfian(1, 1000, 1.1)
\set h1 hash(:aid)
\set h2 hash_fnv1a(:aid, 7)
\set h3 hash_murmur2(:aid, 7)
\set p permute(:aid, 100000, 5)
\set q permute(:aid, 100000)
\set i abs(-17) + greatest(1, :g, 3) - least(4, :e) + mod(:aid, 7) + :aid % 5
\set d double(:aid) / 3 + pi() + sqrt(:aid) + ln(:aid) + exp(1.5) + power(:z, 0.5)
\set k int(:d) # 12 & 255 | 1 << 3 >> 1
\set b :aid > 50000 and not :e = 3 or :g is null
\set c case when :b then 1 when :z < 10 then 2 else 3 end
\if :c = 1
SELECT 'one', :aid, :e, :g, :z;
\elif :c = 2
SELECT 'two', :h1, :h2, :h3;
\else
SELECT 'three', :p, :q, :i;
\endif
SELECT :d, :k, :c, ':aid', :client_id;
SELECT :aid + 1 AS one, :e AS two \gset got_
SELECT :got_one, :got_two \; SELECT :k;
SELECT :aid -- why
  AS twice
\gset
SELECT :twice  AS last
";

fn server() -> Postgres {
    let settings = PostgresSettings::default()
        .with("log_statement", "all")
        .with("log_line_prefix", "%a|")
        .with("log_duration", "off");
    Postgres::start(&settings).unwrap_or_else(|why| panic!("{why}"))
}

/// Statements of a client with this name, from the first one with this beginning on.
fn heard(server: &Postgres, name: &str, first: &str) -> Vec<String> {
    let log = servers::with_pgbench_names(&server.log());
    let prefix = format!("{name}|");
    let mut statements: Vec<String> = Vec::new();
    let mut is_ours = false;
    for line in log.lines() {
        match line.strip_prefix(&prefix) {
            Some(rest) => {
                let text = rest.split_once("statement: ").or_else(|| rest.split_once("execute "));
                is_ours = rest.starts_with("LOG:") && text.is_some();
                match text {
                    Some((_, text)) if is_ours => statements.push(text.to_owned()),
                    _ if rest.starts_with("DETAIL:") => statements.push(rest.to_owned()),
                    _ => {}
                }
            }
            // A statement of several lines continues after a tab.
            None if line.starts_with('\t') && is_ours => {
                if let Some(last) = statements.last_mut() {
                    last.push('\n');
                    last.push_str(line.trim_start_matches('\t'));
                }
            }
            None => is_ours = false,
        }
    }
    let begins = statements.iter().position(|text| text.contains(first)).unwrap_or(statements.len());
    statements.split_off(begins)
}

/// Runs both programs with one client and compares their statements. `first` is the beginning of a transaction's first statement.
#[track_caller]
fn assert_same(script: &[&str], transactions: u32, mode: &str, first: &str) {
    let server = server();
    let count = transactions.to_string();
    let mut init = server.client("pgbench", "postgresql").unwrap_or_else(|why| panic!("{why}"));
    let made = init.args(["-i", "-q", "-s", "1"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(made.expect("pgbench runs").success());
    let mut pgbench = server.client("pgbench", "postgresql").unwrap_or_else(|why| panic!("{why}"));
    pgbench.args(["-n", "-c", "1", "-j", "1", "-M", mode, "--random-seed=42", "-t", &count]);
    let flags: Vec<&str> =
        script.iter().flat_map(|name| [if name.contains('.') { "-f" } else { "-b" }, *name]).collect();
    let done = pgbench.args(&flags).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(done.expect("pgbench runs").success());
    let home = Home::new();
    let url = server.admin_url();
    let mut arguments =
        vec![url.as_str(), "-c", "1", "-n", &count, "--query-mode", mode, "--seed", "42", "--scale", "1"];
    for name in script {
        arguments.extend([if name.contains('.') { "-f" } else { "--workload" }, *name]);
    }
    let output = home.run(&arguments);
    // Other tests that use the cores make the load invalid. In a load this short, a pause of a quarter of a second is an outage. Neither
    // changes a statement.
    assert!(matches!(output.code, Some(0 | 4 | 6)), "{output:?}");
    let (theirs, ours) = (heard(&server, "pgbench", first), heard(&server, "tenbin", first));
    assert!(theirs.len() >= transactions as usize, "pgbench asked {} times", theirs.len());
    for (number, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        assert_eq!(theirs, ours, "statement {number} of {mode} {script:?}");
    }
    assert_eq!(theirs.len(), ours.len(), "{mode} {script:?}");
}

#[test]
fn built_in_transactions_equal_those_of_pgbench() {
    assert_same(&["tpcb-like"], 1_000, "simple", "BEGIN");
    assert_same(&["simple-update"], 1_000, "prepared", "BEGIN");
    assert_same(&["select-only"], 1_000, "extended", "SELECT abalance");
}

#[test]
fn script_with_every_function_draws_the_same_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("everything.sql");
    std::fs::write(&path, EVERYTHING).expect("written");
    let path = path.display().to_string();
    assert_same(&[&path], 1_000, "simple", "SELECT 'two'");
}

#[test]
fn scripts_are_selected_by_weight_as_in_pgbench() {
    assert_same(&["tpcb-like@2", "select-only@3", "simple-update@1"], 1_000, "simple", "WHERE aid");
}
