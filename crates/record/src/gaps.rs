//! Outage gaps: periods without an ok reply while requests were open, over all workers, in bounded memory. Time without an open
//! request, such as think time or a pause of the schedule, is not part of a gap.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::asked::OpenParts;
use crate::moment::Moment;
use crate::pulse::{Presence, Pulse};

/// Period without an ok reply, in nanoseconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Start: scheduled time of the oldest unanswered request, or time of the previous ok reply, whichever is later.
    pub from_ns: u64,
    /// End: time of the next ok reply, of the end of the last open request if that is earlier, or of the end of the window.
    pub to_ns: u64,
    /// Length, without the time in which the generator itself was stalled.
    pub lasting_ns: u64,
    /// True if there was no ok reply until the end of the window.
    pub is_open: bool,
}

/// Collects gaps from the windows of workers. Keeps only the longest, so memory is bounded.
#[derive(Clone, Debug)]
pub struct Gaps {
    measured_from_ns: u64,
    shortest_ns: u64,
    /// Windows that workers may still report, by start time, summed over the workers so far.
    recent: BTreeMap<u64, Presence>,
    last_ok_ns: u64,
    /// Period with open requests after the last ok reply: start, and end so far.
    asking: Option<(u64, u64)>,
    /// End of the last window.
    passed_ns: u64,
    stalled_ns: u64,
    longest: Vec<Gap>,
}

/// Number of windows in a minute. No worker lags behind the others by more.
const RECENT_MAX: usize = 240;

impl Default for Gaps {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Gaps {
    /// Shortest gap that is kept for a whole run.
    pub const SHORTEST_NS: u64 = 250_000_000;
    /// Maximum number of gaps that are kept, the longest ones.
    pub const KEPT_MAX: usize = 64;
    /// Max time between unanswered requests that belong to one gap: a server that rejects connections immediately is also down between two
    /// rejections.
    pub const GAP_BRIDGE_MAX_NS: u64 = 250_000_000;

    /// Creates a collector for a load whose measured window begins at `measured_from_ns`.
    pub fn new(measured_from_ns: u64) -> Self {
        Self {
            measured_from_ns,
            shortest_ns: Self::SHORTEST_NS,
            recent: BTreeMap::new(),
            last_ok_ns: 0,
            asking: None,
            passed_ns: 0,
            stalled_ns: 0,
            longest: Vec::new(),
        }
    }

    /// Adds a window of a worker.
    pub fn note(&mut self, pulse: &Pulse) {
        let window = self.recent.entry(pulse.at_ns).or_default();
        window.add(&pulse.presence);
        while self.recent.len() > RECENT_MAX
            && let Some((at_ns, window)) = self.recent.pop_first()
        {
            self.process_window((at_ns, Pulse::WINDOW_NS), &window);
        }
    }

    /// Returns the gaps within the measured window, which ends at `end_ns`, in time order.
    pub fn end(mut self, end_ns: u64) -> Vec<Gap> {
        for (at_ns, window) in core::mem::take(&mut self.recent) {
            self.process_window((at_ns, Pulse::WINDOW_NS), &window);
        }
        if let Some((from_ns, to_ns)) = self.asking {
            let to_ns = if to_ns < self.passed_ns { to_ns } else { u64::MAX };
            self.push((from_ns, to_ns), self.stalled_ns, true);
        }
        let mut gaps: Vec<Gap> =
            self.longest.iter().filter_map(|gap| gap.within(end_ns, self.shortest_ns)).collect();
        gaps.sort_by_key(|gap| core::cmp::Reverse(gap.lasting_ns));
        gaps.truncate(Self::KEPT_MAX);
        gaps.sort_by_key(|gap| gap.from_ns);
        gaps
    }

    /// Finds the longest gaps of at least `shortest_ns` in a period, from its 100 ms windows in order. The ends of a gap are
    /// accurate to 1/128 of a window, and a gap is never reported as longer than it was.
    pub fn find_in(windows: &[Moment], (from_ns, to_ns): (u64, u64), shortest_ns: u64) -> Vec<Gap> {
        let mut gaps = Self { shortest_ns: shortest_ns.max(1), ..Self::new(from_ns) };
        for window in windows {
            gaps.process_window((window.at_ns(), Moment::WINDOW_NS), &window.presence);
            for (from_ns, to_ns) in window.pauses() {
                let asked = window.presence.asked.spans(window.at_ns(), Moment::WINDOW_NS);
                asked.for_each(|(asked_ns, until_ns)| {
                    gaps.push((from_ns.max(asked_ns), to_ns.min(until_ns)), 0, false);
                });
            }
        }
        gaps.end(to_ns)
    }

    /// Processes the next window in time order, summed over all workers. The pair has its start and its length.
    fn process_window(&mut self, (at_ns, window_ns): (u64, u64), window: &Presence) {
        self.passed_ns = at_ns.saturating_add(window_ns);
        let asked = |from_ns: Option<u64>| OpenSpan { from_ns, at_ns, window_ns, parts: window.asked };
        let (Some(first_ok_ns), Some(last_ok_ns)) = (window.first_ok_ns, window.last_ok_ns) else {
            self.add_open_span(&asked(window.asked_ns), u64::MAX);
            self.stalled_ns = self.stalled_ns.saturating_add(window.stalled_ns);
            return;
        };
        self.add_open_span(&asked(window.asked_ns), first_ok_ns);
        if let Some((from_ns, to_ns)) = self.asking.take() {
            let stalled_ns = self.stalled_ns.saturating_add(window.stalled_ns);
            self.push((from_ns, to_ns.min(first_ok_ns)), stalled_ns, false);
        }
        self.last_ok_ns = self.last_ok_ns.max(last_ok_ns);
        // The worker may also have stalled after its last reply. Replies from before the window had waited in the kernel meanwhile,
        // so they do not show that it was back.
        let away_ns = if last_ok_ns < at_ns { self.stalled_ns } else { 0 };
        self.stalled_ns = away_ns.saturating_add(window.stalled_ns);
        self.add_open_span(&asked(window.asked_again_ns), u64::MAX);
    }

    /// Adds the times of a window with open requests that lie after the last ok reply and before `until_ns`.
    fn add_open_span(&mut self, asked: &OpenSpan, until_ns: u64) {
        let Some(from_ns) = asked.from_ns else { return };
        for (start_ns, end_ns) in asked.parts.spans(asked.at_ns, asked.window_ns) {
            // A request that was scheduled before the window has been open since its scheduled time.
            let start_ns = if start_ns == asked.at_ns { start_ns.min(from_ns) } else { start_ns };
            let (start_ns, end_ns) = (start_ns.max(from_ns).max(self.last_ok_ns), end_ns.min(until_ns));
            if start_ns >= end_ns {
                continue;
            }
            self.asking = match self.asking {
                None => Some((start_ns, end_ns)),
                Some((first_ns, to_ns)) if start_ns <= to_ns.saturating_add(Self::GAP_BRIDGE_MAX_NS) => {
                    Some((first_ns.min(start_ns), to_ns.max(end_ns)))
                }
                Some(ended) => {
                    let stalled_ns = core::mem::take(&mut self.stalled_ns);
                    self.push(ended, stalled_ns, false);
                    Some((start_ns, end_ns))
                }
            };
        }
    }

    fn push(&mut self, (from_ns, to_ns): (u64, u64), stalled_ns: u64, is_open: bool) {
        let from_ns = from_ns.max(self.measured_from_ns);
        let lasting_ns = to_ns.saturating_sub(from_ns).saturating_sub(stalled_ns);
        if lasting_ns < self.shortest_ns {
            return;
        }
        self.longest.push(Gap { from_ns, to_ns, lasting_ns, is_open });
        if self.longest.len() >= 2 * Self::KEPT_MAX {
            self.longest.sort_by_key(|gap| core::cmp::Reverse(gap.lasting_ns));
            self.longest.truncate(Self::KEPT_MAX);
        }
    }
}

impl Gap {
    /// Returns the part of the gap before `end_ns`. `None` if it is shorter than `shortest_ns`.
    fn within(&self, end_ns: u64, shortest_ns: u64) -> Option<Self> {
        let beyond_ns = self.to_ns.saturating_sub(end_ns);
        let lasting_ns = self.lasting_ns.saturating_sub(beyond_ns);
        let is_kept = lasting_ns >= shortest_ns && self.from_ns < end_ns;
        let is_open = self.is_open || beyond_ns > 0;
        is_kept.then_some(Self { to_ns: self.to_ns.min(end_ns), lasting_ns, is_open, ..*self })
    }
}

/// Times within a window at which requests were open.
struct OpenSpan {
    /// Earliest time at which a request was open, before or after the window's ok replies. `None` if there was none.
    from_ns: Option<u64>,
    at_ns: u64,
    window_ns: u64,
    parts: OpenParts,
}

impl Presence {
    /// Adds the replies of another worker in this window.
    pub(crate) fn add(&mut self, more: &Self) {
        self.first_ok_ns = earliest(self.first_ok_ns, more.first_ok_ns);
        self.last_ok_ns = self.last_ok_ns.max(more.last_ok_ns);
        self.asked_ns = earliest(self.asked_ns, more.asked_ns);
        self.asked_again_ns = earliest(self.asked_again_ns, more.asked_again_ns);
        self.asked.add(more.asked);
        self.stalled_ns = self.stalled_ns.max(more.stalled_ns);
    }
}

fn earliest(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const WINDOW_MS: u64 = Pulse::WINDOW_NS / MS;

    /// Returns a window of a worker that always has an open request, with the times of its first and last ok reply in milliseconds.
    fn window(number: u64, ok_ms: Option<(u64, u64)>) -> Pulse {
        let from_ms = number * WINDOW_MS;
        let presence = Presence {
            first_ok_ns: ok_ms.map(|(first, _)| first * MS),
            last_ok_ns: ok_ms.map(|(_, last)| last * MS),
            asked_ns: Some(from_ms * MS),
            asked_again_ns: ok_ms.map(|(_, last)| last * MS),
            asked: OpenParts::ALL,
            stalled_ns: 0,
        };
        Pulse { at_ns: from_ms * MS, presence, ..Pulse::default() }
    }

    fn busy(number: u64) -> Pulse {
        let from_ms = number * WINDOW_MS;
        window(number, Some((from_ms + 1, from_ms + WINDOW_MS - 1)))
    }

    /// Adds windows with replies until 1.1 s, and then none until 2.6 s.
    fn add_stall(gaps: &mut Gaps) {
        (0..4).for_each(|number| gaps.note(&busy(number)));
        gaps.note(&window(4, Some((1_001, 1_100))));
        (5..10).for_each(|number| gaps.note(&window(number, None)));
        gaps.note(&window(10, Some((2_600, 2_740))));
        (11..16).for_each(|number| gaps.note(&busy(number)));
    }

    fn in_ms(gaps: Vec<Gap>) -> Vec<(u64, u64, u64, bool)> {
        gaps.iter().map(|gap| (gap.from_ns / MS, gap.to_ns / MS, gap.lasting_ns / MS, gap.is_open)).collect()
    }

    #[test]
    fn period_without_a_reply_is_a_gap_with_exact_ends() {
        let mut gaps = Gaps::new(0);
        add_stall(&mut gaps);
        assert_eq!(in_ms(gaps.clone().end(4_000 * MS)), [(1_100, 2_600, 1_500, false)]);
        assert_eq!(in_ms(gaps.end(2_000 * MS)), [(1_100, 2_000, 900, true)], "cut at the end of the window");
        let mut gaps = Gaps::new(2_000 * MS);
        add_stall(&mut gaps);
        assert_eq!(in_ms(gaps.end(4_000 * MS)), [(2_000, 2_600, 600, false)], "and at its start");
    }

    /// Returns a window without an ok reply, in which requests were open at these times, in milliseconds.
    fn failing(number: u64, asked_ms: &[(u64, u64)]) -> Pulse {
        let from_ms = number * WINDOW_MS;
        let mut asked = OpenParts::default();
        for (from, to) in asked_ms {
            asked.mark((from - from_ms) * MS, (to - from_ms) * MS, Pulse::WINDOW_NS);
        }
        let asked_ns = asked_ms.first().map(|(from, _)| from * MS);
        Pulse { presence: Presence { asked_ns, asked, ..Presence::default() }, ..window(number, None) }
    }

    #[test]
    fn think_time_after_a_failure_is_no_gap() {
        let mut gaps = Gaps::new(0);
        (0..4).for_each(|number| gaps.note(&busy(number)));
        // A connection is closed while idle. Then come two seconds of think time, and a reply.
        gaps.note(&Pulse { presence: Presence { asked_again_ns: None, ..busy(4).presence }, ..busy(4) });
        gaps.note(&failing(5, &[(1_300, 1_301)]));
        (6..13).for_each(|number| gaps.note(&failing(number, &[])));
        gaps.note(&window(13, Some((3_302, 3_302))));
        assert_eq!(gaps.end(3_400 * MS), []);
    }

    #[test]
    fn gap_ends_with_the_last_request_before_a_pause_of_the_schedule() {
        let mut gaps = Gaps::new(0);
        (0..4).for_each(|number| gaps.note(&busy(number)));
        // Connections are refused every 100 ms for a second. Then no request is made for two seconds, and the server is still down.
        for number in 4..8 {
            let from_ms = number * WINDOW_MS;
            gaps.note(&failing(number, &[(from_ms, from_ms + 1), (from_ms + 100, from_ms + 101)]));
        }
        (8..16).for_each(|number| gaps.note(&failing(number, &[])));
        for number in 16..18 {
            gaps.note(&failing(number, &[(number * WINDOW_MS, (number + 1) * WINDOW_MS)]));
        }
        gaps.note(&failing(18, &[]));
        let found = in_ms(gaps.end(4_750 * MS));
        assert_eq!(found, [(999, 1_851, 852, false), (4_000, 4_500, 500, true)]);
    }

    #[test]
    fn reply_to_one_worker_prevents_a_gap() {
        let mut gaps = Gaps::new(0);
        add_stall(&mut gaps);
        (0..16).for_each(|number| gaps.note(&busy(number)));
        assert_eq!(gaps.end(4_000 * MS), []);
    }

    #[test]
    fn gap_without_a_later_reply_lasts_to_the_end() {
        let mut gaps = Gaps::new(0);
        (0..8).for_each(|number| gaps.note(&busy(number)));
        (8..400).for_each(|number| gaps.note(&window(number, None)));
        assert_eq!(in_ms(gaps.end(90_000 * MS)), [(1_999, 90_000, 88_001, true)]);
    }

    #[test]
    fn short_windows_have_gaps_shorter_than_a_window() {
        let answered = |number: u64, at_ms: &[u64]| {
            let mut window = Moment::numbered(number);
            at_ms.iter().for_each(|at_ms| window.note_ok(MS, at_ms * MS));
            window.presence = Presence {
                first_ok_ns: at_ms.first().map(|ms| ms * MS),
                last_ok_ns: at_ms.last().map(|ms| ms * MS),
                asked_ns: Some(100 * number * MS),
                asked_again_ns: at_ms.last().map(|ms| ms * MS),
                asked: OpenParts::ALL,
                stalled_ns: 0,
            };
            window
        };
        let windows = [answered(0, &[5, 10, 50, 90]), answered(1, &[]), answered(2, &[215, 290])];
        let gaps = Gaps::find_in(&windows, (0, 300 * MS), 38 * MS);
        let found: Vec<(u64, u64)> = gaps.iter().map(|gap| (gap.from_ns / MS, gap.to_ns / MS)).collect();
        assert_eq!(found, [(10, 50), (50, 89), (90, 215), (215, 289)], "exact over windows, else to a part");
        let clipped = Gaps::find_in(&windows, (100 * MS, 200 * MS), 1);
        assert_eq!(in_ms(clipped), [(100, 200, 100, true)]);
    }

    #[test]
    fn replies_buffered_by_the_kernel_do_not_end_a_stall() {
        let mut gaps = Gaps::new(0);
        let away = Presence { stalled_ns: 600 * MS, ..window(0, Some((21, 150))).presence };
        gaps.note(&Pulse { presence: away, ..window(0, None) });
        gaps.note(&window(1, None));
        // The replies came at 145 and 155 ms. The worker read them when it was back, at 750 ms.
        gaps.note(&window(2, Some((145, 155))));
        gaps.note(&window(3, Some((762, 990))));
        // After that the system itself stops answering: the stall is over.
        (4..7).for_each(|number| gaps.note(&window(number, None)));
        gaps.note(&window(7, Some((1_800, 1_990))));
        assert_eq!(in_ms(gaps.end(2_000 * MS)), [(990, 1_800, 810, false)]);
    }

    #[test]
    fn idle_time_and_generator_stalls_are_no_gaps() {
        let quiet = |number: u64| Pulse { at_ns: number * Pulse::WINDOW_NS, ..Pulse::default() };
        let mut gaps = Gaps::new(0);
        gaps.note(&Pulse { presence: Presence { asked_again_ns: None, ..busy(0).presence }, ..busy(0) });
        (1..8).for_each(|number| gaps.note(&quiet(number)));
        let asked = Presence { asked_ns: Some(2_000 * MS), ..window(8, Some((2_010, 2_200))).presence };
        gaps.note(&Pulse { presence: asked, ..window(8, None) });
        assert_eq!(gaps.end(2_250 * MS), []);

        let mut gaps = Gaps::new(0);
        gaps.note(&busy(0));
        let away = Presence { stalled_ns: 1_000 * MS, ..window(1, None).presence };
        gaps.note(&Pulse { presence: away, ..window(1, None) });
        (2..5).for_each(|number| gaps.note(&window(number, None)));
        gaps.note(&window(5, Some((1_260, 1_400))));
        assert_eq!(gaps.end(1_500 * MS), [], "it was the generator that was away");
    }
}
