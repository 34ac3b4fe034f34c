//! An instant as a date and a time of day in UTC.

use std::fmt;

/// A civil date and time in UTC, to the millisecond. Displayed as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// From 1 to 9999.
    pub year: u32,
    /// From 1.
    pub month: u32,
    /// Of the month, from 1.
    pub day: u32,
    /// From 0.
    pub hour: u32,
    /// From 0.
    pub minute: u32,
    /// From 0.
    pub second: u32,
    /// From 0.
    pub millisecond: u32,
    /// Days since Monday.
    pub weekday: u32,
}

const DAY_MS: i64 = 86_400_000;
/// 0001-01-01 and 9999-12-31, the dates that four digits can write.
const DAYS_SINCE_1970: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;

impl Utc {
    /// The instant so many milliseconds after 1970 began; the nearest one with a year of four digits, if it has none.
    pub fn from_unix_ms(unix_ms: i64) -> Self {
        let days = unix_ms.div_euclid(DAY_MS).clamp(*DAYS_SINCE_1970.start(), *DAYS_SINCE_1970.end());
        let of_day = unix_ms.rem_euclid(DAY_MS) as u32;
        let (year, month, day) = civil(days);
        Self {
            year,
            month,
            day,
            hour: of_day / 3_600_000,
            minute: of_day / 60_000 % 60,
            second: of_day / 1_000 % 60,
            millisecond: of_day % 1_000,
            // 1970 began on a Thursday.
            weekday: (days + 3).rem_euclid(7) as u32,
        }
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, millisecond, .. } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Years are taken to begin in March, so that the leap day comes last and months follow a straight line.
fn civil(days_since_1970: i64) -> (u32, u32, u32) {
    const DAYS_PER_ERA: i64 = 146_097; // 400 years
    let days = days_since_1970 + 719_468; // since 0000-03-01
    let (era, of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (DAYS_PER_ERA - 1)) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months_since_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year as u32, month as u32, day as u32)
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
        assert_eq!(Utc::from_unix_ms(1_795_271_101_042).weekday, 5, "a Saturday");
    }

    #[test]
    fn every_day_of_four_digit_years_follows_the_one_before() {
        let mut last = (0, 12, 31);
        for days in DAYS_SINCE_1970 {
            let (year, month, day) = civil(days);
            let next_day = (year, month) == (last.0, last.1) && day == last.2 + 1;
            let next_month = day == 1 && (year, month) == (last.0, last.1 + 1) && last.2 >= 28;
            let next_year = (year, month, day) == (last.0 + 1, 1, 1) && (last.1, last.2) == (12, 31);
            assert!(next_day || next_month || next_year, "{last:?} then {:?}", (year, month, day));
            last = (year, month, day);
        }
        assert_eq!(last, (9999, 12, 31));
    }

    #[test]
    fn instants_out_of_reach_are_clamped() {
        assert_eq!(Utc::from_unix_ms(i64::MAX).year, 9999);
        assert_eq!(Utc::from_unix_ms(i64::MIN).year, 1);
    }
}
