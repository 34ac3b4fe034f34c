//! MySQL, MariaDB, and servers with their protocol, by the version that they report.

use crate::database_check::ServerQueries;

/// Separator of two versions in TiDB: `8.0.11-TiDB-v7.5.0`.
const TIDB: &str = "-TiDB-";
/// Mark after the version of MySQL that Dolt claims. Older versions of Dolt have an empty comment, as no other server has, so the mark only
/// means that the server is queried.
const MAYBE_DOLT: &str = " Dolt?";

/// Name and version, from `version()` and the mark.
pub(super) fn version_line(version: &str) -> String {
    let version = version.strip_suffix(MAYBE_DOLT).unwrap_or(version);
    if let Some((mysql, tidb)) = version.split_once(TIDB) {
        return format!("TiDB {tidb} (MySQL {mysql})");
    }
    if version.contains("MariaDB") { format!("MariaDB {version}") } else { format!("MySQL {version}") }
}

/// Name and version of Dolt. No other server has the function `dolt_version`. `None` if the server is another one.
pub(super) fn dolt(queries: &ServerQueries<'_>, version: &str) -> Option<String> {
    let mysql = version.strip_suffix(MAYBE_DOLT)?;
    let answer = queries.ask("SELECT dolt_version()").ok()?.answer.ok()?;
    answer.into_iter().next()?.map(|dolt| format!("Dolt {dolt} (MySQL {mysql})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_by_their_versions() {
        for (version, line) in [
            ("10.11.14-MariaDB-0+deb12u2", "MariaDB 10.11.14-MariaDB-0+deb12u2"),
            ("9.7.4", "MySQL 9.7.4"),
            ("8.0.11-TiDB-v7.5.0", "TiDB v7.5.0 (MySQL 8.0.11)"),
            ("8.0.33 Dolt?", "MySQL 8.0.33"),
        ] {
            assert_eq!(version_line(version), line, "{version}");
        }
    }
}
