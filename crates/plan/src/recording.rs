//! Reads recorded arrivals of a load: a CSV file with the time and the session of each arrival.

use std::collections::HashMap;
use std::fs::File;

use load::{Arrival, Recording};

use crate::csv_text;
use crate::file::read_regular;
use crate::spec::InvalidText;

/// Times from here on are Unix times. A smaller number counts from the start; as a duration, this limit is over three years.
const UNIX_TIME_MIN_NS: u64 = 100_000_000 * SECOND_NS;
const SECOND_NS: u64 = 1_000_000_000;

/// Recorded arrivals that a load requests.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedRecording {
    /// Name of a file that is not read yet.
    File(String),
    /// Arrivals that were read.
    Read(Recording),
}

impl AskedRecording {
    /// Returns the arrivals. Reads the file if a command line named one.
    pub(crate) fn arrivals(&self) -> Result<Recording, InvalidText> {
        let name = match self {
            Self::Read(recording) => return Ok(recording.clone()),
            Self::File(name) => name,
        };
        let file = File::open(name).map_err(|error| {
            InvalidText::new(format!("{name}: {error}"), "name a CSV file with the times of arrivals")
        })?;
        let bytes = read_regular(file, name, csv_text::BYTES_MAX);
        bytes.map_err(|(what, help)| InvalidText::new(what, help)).and_then(|bytes| read(bytes, name))
    }
}

/// Parses arrivals. The first column, or the column `at`, has the time in seconds. The second, or the column `session`, has the
/// session, which may be any text. Unix times count from the earliest.
///
/// # Errors
///
/// The first wrong line, and what to write instead.
pub(crate) fn read(bytes: Vec<u8>, name: &str) -> Result<Recording, InvalidText> {
    let bytes = csv_text::validate(bytes, name).map_err(|(what, help)| InvalidText::new(what, help))?;
    let mut lines = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes.as_slice());
    let (mut row, mut columns) = (csv::StringRecord::new(), None);
    let (mut arrivals, mut sessions) = (Vec::new(), HashMap::new());
    loop {
        let is_row = lines.read_record(&mut row);
        if !is_row.map_err(|error| InvalidText::new(format!("{name}: {error}"), csv_text::UNREADABLE_HELP))? {
            break;
        }
        let line = row.position().map_or(0, csv::Position::line);
        let at =
            |wrong: InvalidText| InvalidText::new(format!("{name}, line {line}: {}", wrong.what), wrong.help);
        let Columns { time, session } = match columns {
            Some(columns) => columns,
            None => {
                let found = Columns::from_first_line(&row).map_err(at)?;
                columns = Some(found);
                if parse_time_ns(row.get(found.time).unwrap_or_default()).is_err() {
                    continue;
                }
                found
            }
        };
        let at_ns = parse_time_ns(row.get(time).unwrap_or_default()).map_err(at)?;
        let session =
            session.and_then(|column| row.get(column)).map(str::trim).filter(|text| !text.is_empty());
        let next = sessions.len() as u32;
        let session = session.map(|session| *sessions.entry(session.to_owned()).or_insert(next));
        arrivals.push(Arrival { at_ns, session });
    }
    let Some(first_ns) = arrivals.iter().map(|arrival| arrival.at_ns).min() else {
        return Err(InvalidText::new(
            format!("{name} has no arrivals"),
            "write the time of each arrival in seconds, such as 0.125, one per line",
        ));
    };
    let origin_ns = if first_ns < UNIX_TIME_MIN_NS { 0 } else { first_ns };
    arrivals.iter_mut().for_each(|arrival| arrival.at_ns -= origin_ns);
    Ok(Recording::new(arrivals))
}

/// Indexes of the columns of a recording, from 0.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    session: Option<usize>,
}

impl Columns {
    /// Finds columns by the names in the first line, or by their order if the first line is an arrival.
    fn from_first_line(row: &csv::StringRecord) -> Result<Self, InvalidText> {
        let place = |name: &str| row.iter().position(|column| column.trim() == name);
        if let Some(time) = place("at") {
            return Ok(Self { time, session: place("session") });
        }
        let session = (row.len() > 1).then_some(1);
        parse_time_ns(row.get(0).unwrap_or_default()).map(|_| Self { time: 0, session }).map_err(|_| {
            let columns = row.iter().map(|column| format!("{:?}", column.trim())).collect::<Vec<_>>();
            let help = "write `at` above the times, and `session` above the sessions";
            InvalidText::new(format!("no column is named \"at\", only {}", columns.join(", ")), help)
        })
    }
}

/// Parses seconds with up to nine decimals, without rounding.
fn parse_time_ns(text: &str) -> Result<u64, InvalidText> {
    let text = text.trim();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let read = || {
        if whole.is_empty() || decimals.len() > 9 || !are_digits(whole) || !are_digits(decimals) {
            return None;
        }
        let seconds_ns = whole.parse::<u64>().ok()?.checked_mul(SECOND_NS)?;
        seconds_ns.checked_add(format!("{decimals:0<9}").parse().ok()?)
    };
    read().ok_or_else(|| {
        InvalidText::new(
            format!("{text:?} is not a time in seconds"),
            "write seconds with up to nine decimals, such as 12.345, from the start of the load or since 1970",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(text: &str) -> Vec<(u64, Option<u32>)> {
        let recording = read(text.into(), "a.csv").expect("a recording");
        recording.arrivals().iter().map(|arrival| (arrival.at_ns, arrival.session)).collect()
    }

    fn wrong(text: &str) -> String {
        read(text.into(), "a.csv").expect_err("it is wrong").what
    }

    #[test]
    fn first_line_without_names_is_an_arrival() {
        assert_eq!(arrivals("0.5\n0.25\n"), [(250_000_000, None), (500_000_000, None)]);
        assert_eq!(
            arrivals("1,a\n2,b\n3,a\n").iter().map(|one| one.1).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(0)]
        );
    }

    #[test]
    fn finds_columns_by_name() {
        let text = "path,session,at\n/,x,0.000000001\n/a,,2\n";
        assert_eq!(arrivals(text), [(1, Some(0)), (2_000_000_000, None)]);
    }

    #[test]
    fn unix_times_count_from_the_earliest() {
        assert_eq!(arrivals("1764328000.250\n1764328000.125\n"), [(0, None), (125_000_000, None)]);
    }

    #[test]
    fn error_names_wrong_line() {
        assert_eq!(wrong("at\n1\n-2\n"), "a.csv, line 3: \"-2\" is not a time in seconds");
        assert_eq!(
            wrong("time,user\n1,a\n"),
            "a.csv, line 1: no column is named \"at\", only \"time\", \"user\""
        );
        assert_eq!(wrong("at\n"), "a.csv has no arrivals");
        assert_eq!(
            wrong("at\n99999999999999999999\n"),
            "a.csv, line 2: \"99999999999999999999\" is not a time in seconds"
        );
        assert_eq!(wrong("at,session\n1,\"a\n2,b\n"), "a.csv, line 2: unterminated quote");
    }
}
