//! Database parameters that trade durability for speed. Changing one shows the cost of waiting for the log; it is not a
//! recommendation.

/// A parameter, and the data that can be lost with a weaker value.
struct DurabilityParameter {
    name: &'static str,
    loses: &'static str,
}

/// Values that keep full durability.
const DURABLE_VALUES: [&str; 5] = ["on", "1", "yes", "true", "always"];

const LAST: &str = "a crash loses the last transactions that were acknowledged";

const PARAMETERS: [DurabilityParameter; 6] = [
    DurabilityParameter { name: "fsync", loses: "a crash of the machine can corrupt the whole database" },
    DurabilityParameter { name: "synchronous_commit", loses: LAST },
    DurabilityParameter { name: "innodb_flush_log_at_trx_commit", loses: LAST },
    DurabilityParameter {
        name: "sync_binlog",
        loses: "a crash loses the last transactions of the binary log",
    },
    DurabilityParameter {
        name: "appendfsync",
        loses: "a crash loses the last writes that were acknowledged",
    },
    DurabilityParameter { name: "appendonly", loses: "a crash loses all writes since the last snapshot" },
];

/// Returns the data that can be lost if a parameter is set to `to`; `None` if it keeps its durability, or is another
/// parameter. Matches the name of the parameter, or the text before its value, such as `fsync=`.
pub fn loses(name: &str, written: &str, to: &str) -> Option<&'static str> {
    if DURABLE_VALUES.contains(&to) {
        return None;
    }
    let written = written.trim_end_matches(['=', ' ', '\'', '"']).replace('-', "_").to_lowercase();
    let is_it = |setting: &&DurabilityParameter| {
        let before = written.strip_suffix(setting.name);
        name.eq_ignore_ascii_case(setting.name)
            || before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    };
    PARAMETERS.iter().find(is_it).map(|setting| setting.loses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_setting_by_parameter_name_or_option_text() {
        assert!(loses("fsync", "", "off").is_some_and(|words| words.contains("corrupt")));
        assert_eq!(loses("commit", "synchronous_commit=", "off"), Some(LAST));
        assert_eq!(loses("flush", "--innodb-flush-log-at-trx-commit=", "2"), Some(LAST));
        assert_eq!(loses("fsync", "", "on"), None, "more is no loss");
        for other in ["", "workers=", "xfsync=", "fsync_workers="] {
            assert_eq!(loses("value", other, "off"), None, "{other}");
        }
    }
}
