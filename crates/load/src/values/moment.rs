//! Moments as databases read them: `2026-01-31 12:00:00`, in UTC.

use alloc::string::String;
use core::fmt::Write as _;

const DAY_S: i64 = 86_400;

/// Length of a moment up to the year 9999, in bytes.
pub const MOMENT_BYTES: usize = "2026-01-31 12:00:00".len();

/// Returns the seconds since 1970 of a day's beginning (H. Hinnant, "chrono-compatible low-level date algorithms"). `None` if there is no
/// such day.
pub fn second_of_day(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=9999).contains(&year) || !(1..=days_of_month).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) * DAY_S)
}

/// Writes a second since 1970 as `2026-01-31 12:00:00`.
pub fn write_moment(second: i64, text: &mut String) {
    let (days, rest) = (second.div_euclid(DAY_S) + 719_468, second.rem_euclid(DAY_S));
    let era = days.div_euclid(146_097);
    let day_of_era = days - era * 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    // Writing to a string cannot fail.
    let _ = write!(text, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(second: i64) -> String {
        let mut text = String::new();
        write_moment(second, &mut text);
        text
    }

    #[test]
    fn moments_are_days_of_the_calendar() {
        for (date, second, text) in [
            ((1970, 1, 1), 0, "1970-01-01 00:00:00"),
            ((2000, 2, 29), 951_782_400, "2000-02-29 00:00:00"),
            ((2026, 12, 31), 1_798_675_200, "2026-12-31 00:00:00"),
            ((1969, 12, 31), -86_400, "1969-12-31 00:00:00"),
        ] {
            assert_eq!(second_of_day(date.0, date.1, date.2), Some(second), "{date:?}");
            assert_eq!(written(second), text);
        }
        assert_eq!(written(951_782_399), "2000-02-28 23:59:59");
    }

    #[test]
    fn days_that_do_not_exist_are_none() {
        for (year, month, day) in [(2023, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (1900, 2, 29)] {
            assert_eq!(second_of_day(year, month, day), None);
        }
    }
}
