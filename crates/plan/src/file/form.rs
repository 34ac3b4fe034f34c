//! Forms of single values. The reader, the JSON Schema, and the reference all use them.

use judge::{ComparedBy, METRICS, PHYSICAL_COSTS};
pub(crate) use wire::step::{Form, FormSchema};

use super::near::nearest;
use crate::spec::values::AskedMinEffect;
use crate::study::{LimitKind, Limits};
use crate::units;

/// Units that people write, and units that a form may accept instead.
const UNIT_SPELLINGS: [(&str, &str); 16] = [
    ("", "s"),
    ("", "ms"),
    ("", "%"),
    ("", "/s"),
    ("rps", "/s"),
    ("req/s", "/s"),
    ("/sec", "/s"),
    ("/second", "/s"),
    ("secs", "s"),
    ("sec", "s"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("minute", "min"),
    ("hours", "h"),
    ("yes", "true"),
    ("no", "false"),
];

/// Likely intended texts of a form: with a unit, or without separators between digits. A bare number may be seconds or milliseconds.
pub(crate) fn repaired(form: &Form, text: &str) -> Vec<String> {
    let with_ending = UNIT_SPELLINGS.iter().filter_map(|(ending, better)| {
        Some(format!("{}{better}", text.trim().strip_suffix(ending)?.trim_end()))
    });
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"_,".contains(&byte));
    let digits = is_number.then(|| text.replace(['_', ','], ""));
    digits.into_iter().chain(with_ending).filter(|text| (form.check)(text).is_ok()).take(2).collect()
}

/// Any text.
pub(crate) const TEXT: Form = Form { words: "a text", check: |_| Ok(()), schema: FormSchema::Anything };

pub(crate) const TRUTH: Form = Form {
    words: "true or false",
    check: |text| match text {
        "true" | "false" => Ok(()),
        _ => Err(format!("{text:?} is neither true nor false")),
    },
    schema: FormSchema::Truth,
};

pub(crate) const STACKS: Form = Form {
    words: "true, false, or dwarf",
    check: |text| match text {
        "true" | "false" | "dwarf" => Ok(()),
        _ => Err(format!("{text:?} is neither true, false, nor dwarf")),
    },
    schema: FormSchema::Anything,
};

pub(crate) const STEADY: Form = Form {
    words: "true, false, or a time limit such as 20s",
    check: |text| match text {
        "true" | "false" => Ok(()),
        limit => crate::units::duration_ns(limit).map(|_| ()),
    },
    schema: FormSchema::Anything,
};

const REPEAT_MAX: u32 = 1000;

pub(crate) const REPEAT: Form = Form {
    words: "a whole number from 1 to 1000",
    check: |text| match text.parse::<u32>() {
        Ok(1..=REPEAT_MAX) => Ok(()),
        _ => Err(format!("{text:?} is not a whole number from 1 to {REPEAT_MAX}")),
    },
    schema: FormSchema::NumberOr("^([1-9][0-9]{0,2}|1000)$"),
};

const DURATION_PATTERN: &str = "^([0-9]+(\\.[0-9]+)? ?(ns|us|µs|ms|s|m|min|h) ?)+$";

pub(crate) const DURATION: Form = Form {
    words: "a duration such as 10s, 200ms, or 1m30s",
    check: |text| units::duration_ns(text).map(|_| ()),
    schema: FormSchema::Pattern(DURATION_PATTERN),
};

pub(crate) const OFFSET: Form = Form {
    words: "a time such as 20s, or -2s",
    check: |text| super::events::offset_ns(text).map(|_| ()),
    schema: FormSchema::Pattern("^-?([0-9]+(\\.[0-9]+)? ?(ns|us|µs|ms|s|m|min|h) ?)+$"),
};

pub(crate) const THINK: Form = Form {
    words: "a pause such as 100ms, 50ms..150ms (uniform), exp:100ms (exponential), or 18s+exp:12s (both)",
    check: |text| {
        let parts: Vec<&str> = match (text.strip_prefix("exp:"), text.split_once("+exp:")) {
            (Some(mean), _) => vec![mean],
            (None, Some((constant, mean))) => {
                units::duration_ns(constant)?;
                vec![mean]
            }
            (None, None) => text.split("..").collect(),
        };
        let parts = parts.into_iter().map(units::duration_ns).collect::<Result<Vec<u64>, String>>()?;
        match parts.as_slice() {
            [_] => Ok(()),
            [min, max] if min <= max => Ok(()),
            _ => Err(format!("{text:?} is not a range from a shorter to a longer pause")),
        }
    },
    schema: FormSchema::Pattern("^(exp:)?[0-9.]+ ?[a-zµ]+"),
};

pub(crate) const RATE: Form = Form {
    words: "a rate such as 500/s, 10k/s, or 90/min",
    check: |text| match units::rate_per_s(text) {
        Ok(_) if !text.contains('/') => {
            Err(format!("the rate {text:?} has no unit (a number of users is `users`)"))
        }
        rate => rate.map(|_| ()),
    },
    schema: FormSchema::Pattern("^[0-9.]+ ?[kKM]? ?/ ?(s|m|min|h)$"),
};

pub(crate) const COUNT: Form = Form {
    words: "a whole number such as 100 or 10k",
    check: |text| units::count(text).map(|_| ()),
    schema: FormSchema::NumberOr("^[0-9.]+ ?[kKM]?$"),
};

pub(crate) const CORE: Form = Form {
    words: "the number of a core, such as 0",
    check: |text| match text.parse::<u16>() {
        Ok(core) if core < 4096 => Ok(()),
        _ => Err(format!("{text:?} is not the number of a core")),
    },
    schema: FormSchema::NumberOr("^[0-9]+$"),
};

pub(crate) const SEED: Form = Form {
    words: "a whole number below 2^64",
    check: |text| {
        text.parse::<u64>().map(|_| ()).map_err(|_| format!("{text:?} is not a whole number below 2^64"))
    },
    schema: FormSchema::NumberOr("^[0-9]+$"),
};

pub(crate) const WEIGHT: Form = Form {
    words: "a number above 0",
    check: |text| weight(text).map(|_| ()),
    schema: FormSchema::NumberOr("^[0-9.]+$"),
};

pub(crate) const SHARE: Form = Form {
    words: "a share such as 80%, or a plain number",
    check: |text| weight(text.strip_suffix('%').unwrap_or(text).trim_end()).map(|_| ()),
    schema: FormSchema::NumberOr("^[0-9.]+ ?%?$"),
};

pub(crate) const MIN_EFFECT: Form = Form {
    words: "a percentage such as 3%, a duration such as 20ms, or a number of requests",
    check: |text| AskedMinEffect::from_text(text).map(|_| ()),
    schema: FormSchema::NumberOr(
        "^([0-9.]+ ?%|([0-9]+(\\.[0-9]+)? ?(ns|us|µs|ms|s|m|min|h) ?)+|[0-9.]+ ?[kKM]?)$",
    ),
};

/// Metrics of one event, physical costs, and figures of the plan, in addition to the metrics of every run.
pub(crate) const FURTHER_METRIC: Form = Form {
    words: "a metric of an event, such as \"event deploy: outage\", a physical cost such as `cost wal_bytes`, or the name of a figure",
    check: |text| match ComparedBy::named(text) {
        Some(by) if by.event.is_some() || by.is_of_whole_run() => Ok(()),
        _ if text.starts_with("event ") => {
            Err(format!("{text:?} is no metric of an event; write {}", event_cost_words()))
        }
        _ if text.starts_with("cost ") => {
            Err(format!("{text:?} is no physical cost; write {}", physical_costs(text)))
        }
        _ => Err(format!("{text:?} is no metric")),
    },
    schema: FormSchema::Pattern("^(event .+: [a-z]+|cost [a-z_]+|(figure )?[A-Za-z][A-Za-z0-9_.-]*)$"),
};

/// Names of physical costs: the one that was probably intended, otherwise all.
fn physical_costs(text: &str) -> String {
    let names: Vec<String> = PHYSICAL_COSTS.iter().map(|cost| ComparedBy::of_cost(cost).name()).collect();
    match nearest(text, names.iter().map(String::as_str)) {
        Some(meant) => format!("`{meant}`"),
        None => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// Words for metrics of events: `event NAME: outage, …`.
pub(crate) fn event_cost_words() -> String {
    let costs = METRICS.iter().map(ComparedBy::of).filter(ComparedBy::is_of_events);
    costs.map(|by| format!("\"event NAME: {}\"", by.metric.name)).collect::<Vec<_>>().join(", ")
}

pub(crate) const VOLUME: Form = Form {
    words: "a size such as 64, 4KiB, or 1MiB",
    check: |text| units::size_bytes(text).map(|_| ()),
    schema: FormSchema::NumberOr("^[0-9.]+ ?([kKMGT]i?)?B?$"),
};

pub(crate) const SIZE: Form = Form {
    words: "a size such as 1024, or 1KiB..2KiB",
    check: |text| {
        let ends = text.split("..").map(str::trim).filter(|end| !end.is_empty());
        ends.map(units::size_bytes).collect::<Result<Vec<u64>, String>>().map(|_| ())
    },
    schema: FormSchema::NumberOr("^[0-9.]+ ?[kKMG]?i?B?(\\.\\.([0-9.]+ ?[kKMG]?i?B?)?)?$"),
};

pub(crate) const RANGE: Form = Form {
    words: "a range of whole numbers such as 1..1000",
    check: |text| range(text).map(|_| ()),
    schema: FormSchema::Pattern("^-?[0-9]+\\.\\.-?[0-9]+$"),
};

pub(crate) const SEQUENCE: Form = Form {
    words: "a start, and optionally an end, such as 1.. or 1..500",
    check: |text| sequence(text).map(|_| ()),
    schema: FormSchema::Pattern("^-?[0-9]+\\.\\.(-?[0-9]+)?$"),
};

pub(crate) const DAYS: Form = Form {
    words: "a range of days such as 2025-01-01..2025-12-31",
    check: |text| days(text).map(|_| ()),
    schema: FormSchema::Pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}\\.\\.[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
};

pub(crate) const NULL_SHARE: Form = Form {
    words: "a percentage such as 10%",
    check: |text| percent(text).map(|_| ()),
    schema: FormSchema::Pattern("^[0-9.]+ ?%$"),
};

pub(crate) const EXPONENT: Form = Form {
    words: "a number above 0, such as 1.1",
    check: |text| match weight(text)? {
        exponent if exponent <= 100.0 => Ok(()),
        _ => Err(format!("{text} is more than the limit of 100")),
    },
    schema: FormSchema::NumberOr("^[0-9.]+$"),
};

pub(crate) const STEP_BY: Form = Form {
    words: "a whole number other than 0",
    check: |text| match text.parse::<i64>() {
        Ok(by) if by != 0 => Ok(()),
        _ => Err(format!("{text:?} is not a whole number other than 0")),
    },
    schema: FormSchema::NumberOr("^-?[0-9]+$"),
};

pub(crate) const LENGTH: Form = Form {
    words: "a number of characters, from 1 to 65536",
    check: |text| match text.parse::<u32>() {
        Ok(1..=65_536) => Ok(()),
        _ => Err(format!("{text:?} is not a length from 1 to 65536")),
    },
    schema: FormSchema::NumberOr("^[0-9]+$"),
};

/// Checks a limit, unless it has parameters.
fn limit(kind: LimitKind, text: &str) -> Result<(), String> {
    if text.contains('{') { Ok(()) } else { kind.set(&mut Limits::default(), text) }
}

pub(crate) const CPU: Form = Form {
    words: "a number of cores such as 0.4 or 2, or a parameter such as \"{cpu}\"",
    check: |text| limit(LimitKind::Cpu, text),
    schema: FormSchema::Anything,
};

pub(crate) const CORES: Form = Form {
    words: "the number of a core such as 0, or a range such as 0-3",
    check: |text| limit(LimitKind::Core, text),
    schema: FormSchema::Anything,
};

pub(crate) const MEMORY: Form = Form {
    words: "a size such as 256MiB, or a parameter such as \"{memory}\"",
    check: |text| limit(LimitKind::Memory, text),
    schema: FormSchema::Anything,
};

pub(crate) const BANDWIDTH: Form = Form {
    words: "a bandwidth such as 10MiB/s",
    check: |text| limit(LimitKind::Read, text),
    schema: FormSchema::Anything,
};

pub(crate) const OPERATIONS: Form = Form {
    words: "a rate such as 100/s",
    check: |text| limit(LimitKind::Reads, text),
    schema: FormSchema::Anything,
};

/// Min size of a disk in bytes. A journaling file system needs this much.
const DISK_MIN_BYTES: u64 = 16 << 20;

pub(crate) const DISK: Form = Form {
    words: "a size such as 64MiB",
    check: |text| match units::size_bytes(text)? {
        DISK_MIN_BYTES.. => Ok(()),
        _ => Err(format!("{text} is less than the least disk of 16MiB")),
    },
    schema: FormSchema::Anything,
};

pub(crate) const ROOM: Form = Form {
    words: "a size such as 1MiB",
    check: |text| units::size_bytes(text).map(|_| ()),
    schema: FormSchema::Anything,
};

/// Checks a text, unless it has parameters.
fn check_unless_braced<T>(text: &str, read: fn(&str) -> Result<T, String>) -> Result<(), String> {
    if text.contains('{') { Ok(()) } else { read(text).map(|_| ()) }
}

pub(crate) const LINK_DELAY: Form = Form {
    words: "a duration such as 20ms, or a parameter such as \"{delay}\"",
    check: |text| check_unless_braced(text, units::duration_ns),
    schema: FormSchema::Anything,
};

pub(crate) const LINK_BANDWIDTH: Form = Form {
    words: "a bandwidth such as 10MB/s, or a parameter such as \"{bandwidth}\"",
    check: |text| check_unless_braced(text, units::bytes_per_s),
    schema: FormSchema::Anything,
};

pub(crate) const RESET_AFTER: Form = Form {
    words: "a size such as 64KiB, or a duration such as 10s",
    check: |text| {
        check_unless_braced(text, |text| {
            units::duration_ns(text).map(|_| ()).or_else(|_| units::size_bytes(text).map(|_| ()))
        })
    },
    schema: FormSchema::Anything,
};

pub(crate) const RESET_SHARE: Form = Form {
    words: "a percentage such as 10%",
    check: |text| check_unless_braced(text, percent),
    schema: FormSchema::Anything,
};

/// Parses a positive finite number in plain digits.
pub(crate) fn weight(text: &str) -> Result<f64, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        Ok(number) if is_plain && number > 0.0 && number <= 1e12 => Ok(number),
        _ => Err(format!("{text:?} is not a number above 0")),
    }
}

pub(crate) use units::percent;

/// Parses `1..1000`, including both ends.
pub(crate) fn range(text: &str) -> Result<(i64, i64), String> {
    let wrong = || format!("{text:?} is not a range of whole numbers; write it like 1..1000");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to): (i64, i64) =
        (from.trim().parse().map_err(|_| wrong())?, to.trim().parse().map_err(|_| wrong())?);
    if from > to {
        return Err(format!("{text:?} has its end before its start"));
    }
    Ok((from, to))
}

/// Parses `2025-01-01..2025-12-31` into the first and the last second, since 1970.
pub(crate) fn days(text: &str) -> Result<(i64, i64), String> {
    let day = |day: &str| {
        let mut parts = day.trim().split('-').map(|part| part.parse().ok());
        let date = (parts.next()??, parts.next()??, parts.next()??);
        load::values::second_of_day(date.0, date.1, date.2).filter(|_| parts.next().is_none())
    };
    let wrong = || format!("{text:?} is not a range of days; write it like 2025-01-01..2025-12-31");
    let (from, until) = text.split_once("..").ok_or_else(wrong)?;
    let (from_s, until_s) = (day(from).ok_or_else(wrong)?, day(until).ok_or_else(wrong)?);
    if from_s > until_s {
        return Err(format!("{text:?} has its end before its start"));
    }
    Ok((from_s, until_s + 86_399))
}

/// Parses `1..` or `1..500`. The end is included.
pub(crate) fn sequence(text: &str) -> Result<(i64, Option<i64>), String> {
    let wrong = || format!("{text:?} is not a sequence; write it like 1.. or 1..500");
    let (from, until) = text.split_once("..").ok_or_else(wrong)?;
    let from = from.trim().parse().map_err(|_| wrong())?;
    let until = match until.trim() {
        "" => None,
        until => Some(until.parse().map_err(|_| wrong())?),
    };
    Ok((from, until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_pitfalls_are_texts_of_a_wrong_form() {
        assert!(
            (TRUTH.check)("no").is_err() && (TRUTH.check)("off").is_err() && (TRUTH.check)("true").is_ok()
        );
        assert!(
            (COUNT.check)("1_000").is_err() && (COUNT.check)("0x10").is_err() && (COUNT.check)("010").is_ok()
        );
        assert!((DURATION.check)("12:30").is_err());
        assert!((DURATION.check)("10").unwrap_err().contains("write 10s"));
        assert!(
            (WEIGHT.check)("inf").is_err() && (WEIGHT.check)("1e3").is_err() && (WEIGHT.check)("0").is_err()
        );
        for (text, asked) in [
            ("0.1 %", AskedMinEffect::Share(0.001)),
            ("20ms", AskedMinEffect::TimeNs(20_000_000)),
            ("1k", AskedMinEffect::Requests(1_000)),
        ] {
            assert_eq!(AskedMinEffect::from_text(text), Ok(asked));
        }
        assert!(
            ["101%", "20", "1.5", "ms", "-3%"].map(|text| AskedMinEffect::from_text(text).is_ok())
                == [false, true, false, false, false]
        );
        let cost = |text: &str| (FURTHER_METRIC.check)(text);
        assert_eq!(cost("event deploy: outage"), Ok(()));
        assert!(
            cost("event deploy: p99").unwrap_err().contains("\"event NAME: lost\""),
            "{:?}",
            cost("event deploy: p99")
        );
        assert_eq!(cost("cost wal_bytes"), Ok(()));
        assert_eq!(
            cost("cost wal-bytes").unwrap_err(),
            "\"cost wal-bytes\" is no physical cost; write `cost wal_bytes`"
        );
    }

    #[test]
    fn suggests_missing_unit_for_the_given_value() {
        assert_eq!(repaired(&DURATION, "10"), ["10s", "10ms"]);
        assert_eq!(repaired(&DURATION, "5 minutes"), ["5min"]);
        assert_eq!(repaired(&THINK, "100"), ["100s", "100ms"]);
        assert_eq!(repaired(&RATE, "500 rps"), ["500/s"]);
        assert_eq!(
            (repaired(&RATE, "20"), repaired(&RATE, "10k")),
            (vec!["20/s".to_owned()], vec!["10k/s".to_owned()])
        );
        assert_eq!(repaired(&COUNT, "1_000"), ["1000"]);
        assert_eq!(repaired(&TRUTH, "no"), ["false"]);
        assert!(repaired(&DURATION, "soon").is_empty() && repaired(&COUNT, "-1").is_empty());
    }

    #[test]
    fn range_has_two_ends_and_sequence_one() {
        assert_eq!(range("-5..5"), Ok((-5, 5)));
        assert!(range("5..1").is_err() && range("1").is_err() && range("1..9223372036854775808").is_err());
        assert_eq!(sequence("1.."), Ok((1, None)));
        assert_eq!(sequence("1..500"), Ok((1, Some(500))));
        assert!(sequence("..5").is_err() && sequence("1").is_err());
        assert!((THINK.check)("50ms..10ms").is_err() && (THINK.check)("1ms..2ms..3ms").is_err());
        assert!((THINK.check)("18s+exp:12s").is_ok() && (THINK.check)("18+exp:12s").is_err());
        assert!((THINK.check)("exp:100ms").is_ok() && (THINK.check)("100").is_err());
    }
}
