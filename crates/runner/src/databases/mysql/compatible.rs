//! MySQL, MariaDB, and servers with their protocol, by the version that they report.

/// Separator of two versions in TiDB: `8.0.11-TiDB-v7.5.0`.
const TIDB: &str = "-TiDB-";
/// Mark after the version of MySQL that Dolt claims.
const DOLT: &str = " Dolt";

/// Name and version, from `version()` and the mark of Dolt.
pub(super) fn version_line(version: &str) -> String {
    if let Some((mysql, tidb)) = version.split_once(TIDB) {
        return format!("TiDB {tidb} (MySQL {mysql})");
    }
    match version.strip_suffix(DOLT) {
        Some(mysql) => format!("Dolt (MySQL {mysql})"),
        None if version.contains("MariaDB") => format!("MariaDB {version}"),
        None => format!("MySQL {version}"),
    }
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
            ("8.0.33 Dolt", "Dolt (MySQL 8.0.33)"),
        ] {
            assert_eq!(version_line(version), line, "{version}");
        }
    }
}
