//! Converts Unix time to a date and time in UTC.

use std::fmt;

/// Start of the year 1, in milliseconds since 1970.
const FIRST_UNIX_MS: i64 = -62_135_596_800_000;
/// End of the year 9999, in milliseconds since 1970.
const LAST_UNIX_MS: i64 = 253_402_300_799_999;
const DAY_MS: i64 = 86_400_000;

/// A civil date and time in UTC, to the millisecond. Displayed as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// Year, from 1 to 9999.
    pub year: i64,
    /// Month, from 1 to 12.
    pub month: i64,
    /// Day of the month, from 1 to 31.
    pub day: i64,
    /// Hour, from 0 to 23.
    pub hour: i64,
    /// Minute, from 0 to 59.
    pub minute: i64,
    /// Second, from 0 to 59. Unix time has no leap seconds.
    pub second: i64,
    /// Millisecond, from 0 to 999.
    pub millisecond: i64,
    /// Day of the week, from 0 for Sunday.
    pub weekday: i64,
}

impl Utc {
    /// Converts milliseconds since 1970. Times outside the years 1 to 9999 are clamped.
    pub fn from_unix_ms(unix_ms: i64) -> Self {
        let unix_ms = unix_ms.clamp(FIRST_UNIX_MS, LAST_UNIX_MS);
        let (days, in_day_ms) = (unix_ms.div_euclid(DAY_MS), unix_ms.rem_euclid(DAY_MS));
        let (year, month, day) = civil_date(days);
        Self {
            year,
            month,
            day,
            hour: in_day_ms / 3_600_000,
            minute: in_day_ms / 60_000 % 60,
            second: in_day_ms / 1_000 % 60,
            millisecond: in_day_ms % 1_000,
            // 1970 began on a Thursday.
            weekday: (days + 4).rem_euclid(7),
        }
    }

    /// Formats date and time to the minute, such as `2026-11-21 14:25`.
    pub fn to_minute(&self) -> String {
        let Self { year, month, day, hour, minute, .. } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }

    /// Formats date and time to the second, such as `2026-11-21 14:25:01`.
    pub fn to_second(&self) -> String {
        format!("{}:{:02}", self.to_minute(), self.second)
    }

    /// Formats date and time without separators for file names, such as `20261121-142501`.
    pub fn to_name(&self) -> String {
        let Self { year, month, day, hour, minute, second, .. } = self;
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
    }

    /// Formats date and time like the Unix command `date`, such as `Sat Nov 21 14:25:01 UTC 2026`.
    pub fn to_unix_date(&self) -> String {
        const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let Self { year, day, hour, minute, second, .. } = self;
        let (weekday, month) = (WEEKDAYS[self.weekday as usize], MONTHS[self.month as usize - 1]);
        format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year:04}")
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, millisecond, .. } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

/// Converts days since 1970-01-01 to year, month, and day of the proleptic Gregorian calendar, for years from 1 on.
///
/// Years that begin in March have the leap day at their end, so each month starts at a fixed day of the year: five months from March on
/// have 153 days, and so have the next five.
fn civil_date(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    let since_march_of_year_0 = days + 719_468;
    let (era, in_era) =
        (since_march_of_year_0.div_euclid(ERA_DAYS), since_march_of_year_0.rem_euclid(ERA_DAYS));
    let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_have_their_dates() {
        let of = |unix_ms| Utc::from_unix_ms(unix_ms).to_string();
        assert_eq!(of(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(of(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(of(1_795_271_101_042), "2026-11-21T14:25:01.042Z");
        assert_eq!(of(-1), "1969-12-31T23:59:59.999Z");
        let utc = Utc::from_unix_ms(1_795_271_101_042);
        assert_eq!(utc.to_unix_date(), "Sat Nov 21 14:25:01 UTC 2026");
        assert_eq!(utc.to_second(), "2026-11-21 14:25:01");
        assert_eq!(utc.to_name(), "20261121-142501");
    }

    /// Walks over all days of the years 1 to 9999, with month lengths from the leap year rule.
    #[test]
    fn every_day_follows_the_day_before() {
        let (mut year, mut month, mut day, mut weekday) = (1, 1, 1, 1);
        for midnight_ms in (FIRST_UNIX_MS..=LAST_UNIX_MS).step_by(DAY_MS as usize) {
            let utc = Utc::from_unix_ms(midnight_ms);
            assert_eq!((utc.year, utc.month, utc.day, utc.weekday), (year, month, day, weekday));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = match month {
                2 => 28 + i64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            weekday = (weekday + 1) % 7;
            day += 1;
            if day > days {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(year, 10_000);
    }

    #[test]
    fn instants_out_of_reach_are_clamped() {
        assert!(Utc::from_unix_ms(i64::MAX).to_string().starts_with("9999-12-31"));
        assert_eq!(Utc::from_unix_ms(i64::MIN).to_string(), "0001-01-01T00:00:00.000Z");
    }
}
