//! Findings as tables for a terminal, with the median and range of all trials.

use units::shown::{count, decimal};

use crate::figure::{Definition, FIGURES, Figure, Findings, Unit};
use crate::shift::{Direction, Method, PUBLISHED_BYTES, key};

/// Formats the findings, in at most 40 lines of 100 columns.
pub fn table(findings: &Findings) -> String {
    let mut lines = shift_lines(findings);
    lines.push(String::new());
    lines.push(format!("{:<34}{:>12}  {:<5} range of trials", "", "median", "unit"));
    let others = FIGURES.iter().filter(|definition| definition.key != "shift");
    lines.extend(others.flat_map(|definition| figure_lines(findings, definition)));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Formats a table with a row per size and method, and a column per direction and element.
fn shift_lines(findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    let columns: Vec<(Direction, &str)> =
        ["int32", "float"].into_iter().flat_map(|element| Direction::ALL.map(|way| (way, element))).collect();
    let sizes = shift_sizes(findings);
    if sizes.is_empty() {
        return lines;
    }
    let heads = columns.iter().map(|(way, element)| format!("{:>17}", format!("{element} {}", way.name())));
    lines.push(format!("{:<20}{}", "shift, GB/s", heads.collect::<String>()));
    for (bytes, method) in sizes.iter().flat_map(|bytes| Method::ALL.map(|method| (*bytes, method))) {
        let cell = |(way, element): &(Direction, &str)| {
            let figure = findings.figure(&key(method, *way, element, bytes));
            format!("{:>17}", figure.map_or("n/a".to_owned(), with_spread))
        };
        let name = if method == Method::Loop { size(bytes) } else { String::new() };
        let cells: String = columns.iter().map(cell).collect();
        lines.push(format!("{name:<10}{:<10}{cells}", method.name()));
    }
    lines.extend(published_shift(findings));
    lines
}

/// Returns the measured array sizes, ascending.
fn shift_sizes(findings: &Findings) -> Vec<usize> {
    let of_shift = findings.figures.iter().filter_map(|figure| figure.key.strip_prefix("shift."));
    let mut sizes: Vec<usize> = of_shift.filter_map(|rest| rest.rsplit('.').next()?.parse().ok()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Formats the duration of one shift of the published size, over all directions and elements.
fn published_shift(findings: &Findings) -> Option<String> {
    let of = |method: Method| {
        let all = Direction::ALL.iter().flat_map(|way| {
            ["int32", "float"].map(|element| findings.figure(&key(method, *way, element, PUBLISHED_BYTES)))
        });
        let ms: Vec<f64> =
            all.flatten().map(|figure| PUBLISHED_BYTES as f64 / 1e6 / figure.median()).collect();
        let (low, high) = (ms.iter().copied().reduce(f64::min)?, ms.iter().copied().reduce(f64::max)?);
        Some(format!("{} {}–{} ms", method.name(), decimal(low, 3), decimal(high, 3)))
    };
    let all: Option<Vec<String>> = Method::ALL.into_iter().map(of).collect();
    all.map(|all| format!("one shift of {}: {}", size(PUBLISHED_BYTES), all.join(", ")))
}

/// Formats `12.3 ±4 %`: the median, and half the range as a percentage of it.
fn with_spread(figure: &Figure) -> String {
    let (low, high) = figure.range();
    let half = (high - low) / 2.0 / figure.median() * 100.0;
    format!("{} ±{} %", three_digits(figure.median()), decimal(half, 0))
}

/// Formats the figures of a definition, or the reason why there are none.
fn figure_lines(findings: &Findings, definition: &Definition) -> Vec<String> {
    let is_of = |key: &str| {
        key.strip_prefix(definition.key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let title =
        |key: &str| match key.strip_prefix(definition.key).and_then(|rest| rest.get(1..)?.parse().ok()) {
            Some(bytes) => format!("{}, {}", definition.title, size(bytes)),
            None => definition.title.to_owned(),
        };
    let figures = findings.figures.iter().filter(|figure| is_of(&figure.key)).map(|figure| {
        let (low, high) = figure.range();
        let show = |value: f64| shown(value, definition.unit);
        let range = match figure.samples.len() {
            1 => "one value".to_owned(),
            _ => format!("{}–{}", show(low), show(high)),
        };
        let name = title(&figure.key);
        format!("{name:<34}{:>12}  {:<5} {range}", show(figure.median()), definition.unit.name())
    });
    let missing = findings.missing.iter().filter(|missing| is_of(&missing.key));
    let missing = missing.map(|missing| format!("{:<34}{:>12}  {}", title(&missing.key), "n/a", missing.why));
    figures.chain(missing).collect()
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond => count(value.max(0.0).round() as u64),
        Unit::Percent => decimal(value, 2),
        Unit::GigabytesPerSecond | Unit::MegabytesPerSecond | Unit::Microseconds => three_digits(value),
    }
}

/// Formats three significant digits, or all digits of an integer.
fn three_digits(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    decimal(value, decimals)
}

/// Formats a size: `16 KiB`, `2.9 MB`, `64 MiB`.
fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{} MB", decimal(bytes as f64 / 1e6, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns findings with a value for every figure.
    fn findings() -> Findings {
        let mut findings = Findings::default();
        for bytes in [16 << 10, PUBLISHED_BYTES, 64 << 20] {
            for (method, way) in
                Method::ALL.into_iter().flat_map(|method| Direction::ALL.map(|way| (method, way)))
            {
                for element in ["int32", "float"] {
                    findings.note(key(method, way, element, bytes), Ok(vec![9.0, 10.0, 11.0]));
                }
            }
        }
        for figure in FIGURES.iter().filter(|figure| figure.key != "shift") {
            let keys: Vec<String> = match figure.key.starts_with("memory_") {
                true => [16 << 10, 64 << 20].map(|bytes| format!("{}.{bytes}", figure.key)).into(),
                false => vec![figure.key.to_owned()],
            };
            keys.into_iter().for_each(|key| findings.note(key, Ok(vec![1_234.5, 2.0, 1e6])));
        }
        findings
    }

    #[test]
    fn table_fits_on_a_screen_with_units_medians_and_ranges() {
        let text = table(&findings());
        assert!(text.lines().count() <= 37, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for words in [
            "16 KiB    loop             10.0 ±10 %",
            "one shift of 2.9 MB: loop 0.290–0.290 ms, vector 0.290–0.290 ms, memmove 0.290–0.290 ms",
            "write words, 64 MiB                      1,234  GB/s  2.00–1,000,000",
            "null-server ceiling                      1,235  /s    2–1,000,000",
        ] {
            assert!(text.contains(words), "{words:?} is missing:\n{text}");
        }
    }

    #[test]
    fn missing_figures_have_a_reason() {
        let mut findings = findings();
        findings.figures.retain(|figure| figure.key != "disk_read_direct");
        findings
            .note("disk_read_direct", Err("tmpfs is in memory: there is no disk to read from".to_owned()));
        let text = table(&findings);
        assert!(
            text.contains("sequential read, direct                    n/a  tmpfs is in memory"),
            "{text}"
        );
        assert_eq!(table(&Findings::default()).lines().count(), 2);
    }
}
