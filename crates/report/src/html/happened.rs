//! Events of a run for the page: their costs, and the load around each of them.

use std::collections::BTreeMap;

use evidence::{Lost, Run};
use record::{Moment, Percentile, Responses};
use serde::Serialize;

use super::document::HappenedEvent;

/// Time that is drawn before an event, and after the end of its evaluation, in nanoseconds.
const AROUND_NS: u64 = 5_000_000_000;
/// Maximum numbers of points of one event, and of all events of a page.
const POINTS_MAX: usize = 400;
pub(super) const POINTS_OF_PAGE_MAX: usize = 12_000;

/// Load around an event, in steps of equal length.
#[derive(Serialize)]
pub(crate) struct LoadCourse {
    /// Start of the first step, in seconds since the end of the warm-up.
    pub(crate) from_s: f64,
    pub(crate) step_s: f64,
    /// Requests that were scheduled in each step.
    pub(crate) planned: Vec<u64>,
    /// Ok answers that arrived in each step.
    pub(crate) ok: Vec<u64>,
    /// Lost requests in each step of time, by class. They count in the step in which they ended, `not_sent` in the step of the scheduled
    /// send time. Empty classes are omitted.
    pub(crate) lost: BTreeMap<&'static str, Vec<u64>>,
    /// Response times of ok answers, in milliseconds. `None` for steps without any.
    pub(crate) p50_ms: Vec<Option<f64>>,
    pub(crate) max_ms: Vec<Option<f64>>,
}

/// Adds the load around each event of a run, as long as points are left. The run must have its per-second data.
pub(super) fn add_courses(events: &mut [HappenedEvent], run: &Run, points_left: &mut usize) {
    if events.is_empty() {
        return;
    }
    let windows = run.moments();
    for (event, cost) in events.iter_mut().zip(run.events()) {
        let Some(begun_ns) = cost.begun_ns else { continue };
        let known =
            run.event_costs().iter().find(|of| of.name == cost.name && of.occurrence == cost.occurrence);
        let to_ns = known.and_then(|known| Some(known.cost()?.to_ns)).unwrap_or(begun_ns);
        let around_ns = (begun_ns.saturating_sub(AROUND_NS), to_ns.saturating_add(AROUND_NS));
        let warm_up_s = run.new.warm_up_ns as f64 / 1e9;
        let course = course(&windows, around_ns).filter(|course| course.points() <= *points_left);
        event.course = course.map(|course| LoadCourse { from_s: course.from_s - warm_up_s, ..course });
        *points_left -= event.course.as_ref().map_or(0, LoadCourse::points);
    }
}

impl LoadCourse {
    fn points(&self) -> usize {
        self.ok.len()
    }

    fn add_lost(&mut self, class: &'static str, at: usize, count: u64) {
        if count > 0 {
            let points = self.points();
            self.lost.entry(class).or_insert_with(|| vec![0; points])[at] += count;
        }
    }
}

/// Load between two times since the start of the load. `None` if no window covers that interval.
fn course(windows: &[Moment], (from_ns, to_ns): (u64, u64)) -> Option<LoadCourse> {
    let (first, end) = (from_ns / Moment::WINDOW_NS, to_ns / Moment::WINDOW_NS);
    // Windows after the load are drawn up to the last one in which requests were lost.
    let last = windows.iter().rfind(|window| window.planned > 0 || window.lost() > 0)?.number;
    let end = end.min(last + 1);
    let count = usize::try_from(end.checked_sub(first).filter(|count| *count > 0)?).ok()?;
    let step = count.div_ceil(POINTS_MAX);
    let points = count.div_ceil(step);
    let mut course = LoadCourse {
        from_s: (first * Moment::WINDOW_NS) as f64 / 1e9,
        step_s: (step as u64 * Moment::WINDOW_NS) as f64 / 1e9,
        planned: vec![0; points],
        ok: vec![0; points],
        lost: BTreeMap::new(),
        p50_ms: vec![None; points],
        max_ms: vec![None; points],
    };
    let mut responses = vec![Responses::default(); points];
    let within = windows.iter().filter(|window| (first..end).contains(&window.number));
    for window in within {
        let at = (window.number - first) as usize / step;
        course.planned[at] += window.planned;
        course.ok[at] += window.ok;
        for ((loss, _), count) in &window.losses {
            course.add_lost(loss.name(), at, *count);
        }
        course.add_lost(Lost::NOT_SENT, at, window.not_sent());
        if window.ok > 0 {
            let max_ms = microseconds(window.ok_response_max_ns as f64);
            course.max_ms[at] = Some(course.max_ms[at].map_or(max_ms, |max| max.max(max_ms)));
        }
        responses[at].merge(&window.responses);
    }
    for (p50_ms, responses) in course.p50_ms.iter_mut().zip(&responses) {
        *p50_ms = responses.value_at(Percentile::P50).map(microseconds);
    }
    Some(course)
}

/// Converts to milliseconds, rounded to microseconds.
fn microseconds(ns: f64) -> f64 {
    (ns / 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn course_has_bounded_points_and_all_answers() {
        let windows: Vec<Moment> = (0..2_000)
            .map(|number| {
                let mut window = Moment { planned: 2, sent: 2, ..Moment::numbered(number) };
                window.note_ok(5_000_000, window.at_ns());
                window
            })
            .collect();
        let short = course(&windows, (10_000_000_000, 20_000_000_000)).unwrap();
        assert_eq!((short.from_s, short.step_s, short.ok.len()), (10.0, 0.1, 100));
        let long = course(&windows, (0, 200_000_000_000)).unwrap();
        assert_eq!((long.step_s, long.ok.len()), (0.5, POINTS_MAX));
        assert_eq!((long.ok.iter().sum::<u64>(), long.planned.iter().sum::<u64>()), (2_000, 4_000));
        assert!(long.p50_ms.iter().flatten().all(|ms| (ms / 5.0 - 1.0).abs() < 0.04));
        assert!(course(&[], (0, 1_000_000_000)).is_none());
        assert!(course(&windows, (900_000_000_000, 901_000_000_000)).is_none());
    }
}
