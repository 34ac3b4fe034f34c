//! Time series of a load in whole seconds: requests in flight, and how requests ended.

use alloc::vec::Vec;

use crate::moment::Moment;

/// Counts of one second of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSecond {
    /// Number of the second since the load began, from 0.
    pub second: u64,
    /// Requests scheduled for this second.
    pub planned: u64,
    /// Ok replies read in this second.
    pub ok: u64,
    /// Requests that ended in this second without an ok reply.
    pub lost: u64,
    /// Mean number of requests that were due and had not ended.
    pub in_flight: f64,
}

impl LoadSecond {
    /// Builds the seconds from the windows of a load, in order. A missing window counts as empty.
    pub fn of(windows: &[Moment]) -> Vec<Self> {
        const WINDOWS: u64 = 1_000_000_000 / Moment::WINDOW_NS;
        let mut seconds: Vec<Self> = Vec::new();
        let mut open = 0u64;
        let mut windows = windows.iter().peekable();
        let Some(last) = windows.clone().next_back().map(|window| window.number) else { return seconds };
        // Bounds the loop: only a corrupt file has more seconds.
        for number in 0..=last.min(WINDOWS * SECONDS_MAX) {
            let at_begin = open;
            if number % WINDOWS == 0 {
                seconds.push(Self { second: number / WINDOWS, ..Self::default() });
            }
            let Some(second) = seconds.last_mut() else { continue };
            if let Some(window) = windows.next_if(|window| window.number == number) {
                second.planned = second.planned.saturating_add(window.planned);
                second.ok = second.ok.saturating_add(window.ok);
                second.lost = second.lost.saturating_add(window.lost());
                let ended = window.ok.saturating_add(window.lost());
                open = open.saturating_add(window.planned).saturating_sub(ended);
            }
            second.in_flight += (at_begin as f64 + open as f64) / 2.0 / WINDOWS as f64;
        }
        seconds
    }
}

/// Number of seconds in a day: upper bound of the length of a series.
const SECONDS_MAX: u64 = 86_400;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Loss;

    #[test]
    fn requests_are_in_flight_from_their_scheduled_time_until_they_end() {
        let window = |number, planned, ok| Moment { planned, ok, ..Moment::numbered(number) };
        // Ten are scheduled for 0.5 s: four are answered at 1.5 s, and six are lost at 2.0 s.
        let mut lost = Moment::numbered(20);
        (0..6).for_each(|_| lost.note_lost(Loss::TimedOut, 550_000_000));
        let seconds = LoadSecond::of(&[window(5, 10, 0), window(15, 0, 4), lost]);
        let told: Vec<_> = seconds.iter().map(|of| (of.second, of.planned, of.ok, of.lost)).collect();
        assert_eq!(told, [(0, 10, 0, 0), (1, 0, 4, 0), (2, 0, 0, 6)]);
        let in_flight: Vec<f64> = seconds.iter().map(|of| (of.in_flight * 100.0).round() / 100.0).collect();
        assert_eq!(in_flight, [4.5, 8.2, 0.3]);
        assert!(LoadSecond::of(&[]).is_empty());
    }
}
