//! Servers with the protocol of PostgreSQL, by the version that they report.

/// Beginning of the version of CockroachDB: `CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, …)`.
const COCKROACH: &str = "CockroachDB ";
/// Separator of two versions in YugabyteDB: `11.2-YB-2.19.0.0-b0`.
const YUGABYTE: &str = "-YB-";

/// Name and version, from `server_version` or the whole text of `version()`.
pub(super) fn version_line(version: &str) -> String {
    let version = version.strip_prefix("PostgreSQL ").unwrap_or(version);
    let first = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    if let Some(rest) = version.strip_prefix(COCKROACH) {
        let number = rest.split_whitespace().find(|word| word.starts_with('v'));
        return format!("{COCKROACH}{}", number.unwrap_or(rest));
    }
    match version.split_once(YUGABYTE) {
        Some((postgres, yugabyte)) => format!("YugabyteDB {} (PostgreSQL {postgres})", first(yugabyte)),
        None => format!("PostgreSQL {version}"),
    }
}

/// Whether `pg_backend_pid()` equals the process ID from the log-in on a direct connection. If it does not, direct connections would look
/// like a pooler.
pub(super) fn reports_processes(version: &str) -> bool {
    !version.starts_with(COCKROACH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_by_their_versions() {
        for (version, line) in [
            ("15.14 (Debian 15.14-0+deb12u1)", "PostgreSQL 15.14 (Debian 15.14-0+deb12u1)"),
            ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)", "CockroachDB v23.1.11"),
            ("CockroachDB", "PostgreSQL CockroachDB"),
            ("11.2-YB-2.19.0.0-b0", "YugabyteDB 2.19.0.0-b0 (PostgreSQL 11.2)"),
            ("PostgreSQL 11.2-YB-2.19.0.0-b0 on x86_64", "YugabyteDB 2.19.0.0-b0 (PostgreSQL 11.2)"),
            ("", "PostgreSQL "),
        ] {
            assert_eq!(version_line(version), line, "{version}");
        }
        assert!(reports_processes("15.14") && !reports_processes("CockroachDB CCL v23.1.11"));
    }
}
