//! The general log of MariaDB shows equal commands for Tenbin and sysbench, except for drawn values and the time of preparation: sysbench
//! prepares all statements when it connects, Tenbin prepares each before its first execution.

use std::process::Command;

use crate::support::Home;
use servers::{MariaDb, MariaDbSettings};

const WORKLOADS: [&str; 8] = [
    "oltp-point-select",
    "oltp-read-only",
    "oltp-read-write",
    "oltp-write-only",
    "oltp-insert",
    "oltp-update-index",
    "oltp-update-non-index",
    "oltp-delete",
];
const EVENTS: &str = "3";

/// Commands of one connection.
#[derive(Debug, PartialEq, Eq)]
struct Sent {
    /// Texts that were prepared, sorted.
    prepared: Vec<String>,
    /// Queries and executions in order, without drawn values.
    executed: Vec<String>,
}

fn start() -> MariaDb {
    let settings = MariaDbSettings::default().with("log-output", "TABLE");
    MariaDb::start(&settings).unwrap_or_else(|why| panic!("{why}"))
}

fn sql(server: &MariaDb, text: &str) -> String {
    server.sql(text).unwrap_or_else(|why| panic!("{why}"))
}

/// Replaces each number that does not belong to a name.
fn without_values(text: &str) -> String {
    let (mut out, mut before, mut is_in_value) = (String::new(), ' ', false);
    for sign in text.chars() {
        let is_in_number = sign.is_ascii_digit() && (is_in_value || !before.is_ascii_alphabetic());
        match is_in_number {
            true if is_in_value => {}
            true => out.push('N'),
            false => out.push(sign),
        }
        (before, is_in_value) = (sign, is_in_number);
    }
    out
}

/// Runs a program, and returns the commands of its connection that executed statements of the workload.
fn logged(server: &MariaDb, run: impl FnOnce()) -> Sent {
    sql(server, "TRUNCATE mysql.general_log; SET GLOBAL general_log = ON");
    run();
    sql(server, "SET GLOBAL general_log = OFF");
    let rows = sql(server, "SELECT thread_id, command_type, argument FROM mysql.general_log");
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.splitn(3, '\t').collect()).collect();
    let is_of_workload = |row: &&Vec<&str>| {
        matches!(row[1], "Query" | "Execute")
            && row[2].contains("sbtest1 ")
            && (row[2].contains(" WHERE ") || row[2].contains("VALUES"))
    };
    let connection = rows.iter().rfind(is_of_workload).expect("statements of the workload")[0];
    let of_connection = rows.iter().filter(|row| row[0] == connection && row.len() == 3);
    let mut sent = Sent { prepared: Vec::new(), executed: Vec::new() };
    for row in of_connection {
        match row[1] {
            "Prepare" => sent.prepared.push(row[2].to_owned()),
            "Query" | "Execute" => sent.executed.push(format!("{} {}", row[1], without_values(row[2]))),
            _ => {}
        }
    }
    sent.prepared.sort();
    sent
}

fn sysbench(server: &MariaDb, arguments: &[&str]) {
    let mut command = Command::new("sysbench");
    command.arg("--db-driver=mysql").arg(format!("--mysql-socket={}", server.socket().display()));
    command.arg(format!("--mysql-user={}", MariaDb::USER)).arg(format!("--mysql-db={}", MariaDb::DATABASE));
    command.arg(format!("--mysql-password={}", MariaDb::PASSWORD));
    command.args(["--table-size=500", "--threads=1", "--time=60"]).arg(format!("--events={EVENTS}"));
    let output = command.args(arguments).output().expect("sysbench (apt-get install sysbench)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn general_log_of_each_workload_equals_that_of_sysbench() {
    let (server, home) = (start(), Home::new());
    sysbench(&server, &["oltp_read_write", "prepare"]);
    for (ours, theirs) in [("simple", "--db-ps-mode=disable"), ("prepared", "--db-ps-mode=auto")] {
        for workload in WORKLOADS {
            let expected = logged(&server, || {
                sysbench(&server, &[&workload.replace('-', "_"), theirs, "run"]);
            });
            // sysbench prepares no INSERT of oltp_insert in any mode, and neither does the default mode of the workload.
            let mode = ["--query-mode", ours];
            let mode = if workload == "oltp-insert" && ours == "prepared" { &[][..] } else { &mode[..] };
            let url = server.admin_url();
            let sent = logged(&server, || {
                let arguments =
                    [&url, "--workload", workload, "-c", "1", "-n", EVENTS, "-D", "table_size=500"];
                let output = home.run(&[&arguments[..], mode].concat());
                // A busy machine makes so short a load invalid or gone, and changes no statement.
                assert!(matches!(output.code, Some(0 | 4 | 6)), "{output:?}");
            });
            assert_eq!(sent, expected, "{workload}, {ours}");
        }
    }
}
