//! Tests of the causes found from artificial readings of seconds around events.

use evidence::{Cost, Ending, Event, EventCost, Judged, Lost, Model, NewRun, Reading, Recovery, Run};
use fixtures::{OwnStore, ending, new_run, reading};
use record::{Loss, MinMedianMax, Moment, Spread};

use super::*;
use crate::causes::Resource;
use crate::inside::DATABASE;

const MS: u64 = 1_000_000;

/// Twenty seconds of an open load with 100 requests per second over four connections.
struct Planted {
    /// Readings of each second, in addition to the constant ones.
    readings: Vec<Vec<Reading>>,
    /// Start and end of a period without answers, in milliseconds. All waiting requests are answered at its end.
    gone_ms: (u64, u64),
    events: Vec<(Event, Option<Cost>)>,
    is_system_read: bool,
    /// Whether requests fail immediately during that period.
    are_lost: bool,
}

fn event(name: &str, begun_ms: u64, ended_ms: u64) -> Event {
    Event {
        name: name.to_owned(),
        action: "signal USR1".to_owned(),
        planned_ns: Some(begun_ms * MS),
        begun_ns: Some(begun_ms * MS),
        ended_ns: Some(ended_ms * MS),
        ..Event::default()
    }
}

fn cost(from_ms: u64, recovery_ms: u64, to_ms: u64) -> Cost {
    Cost {
        from_ns: from_ms * MS,
        to_ns: to_ms * MS,
        outage_ns: recovery_ms * MS,
        recovery: Recovery::After(recovery_ms * MS),
        ..Cost::default()
    }
}

impl Planted {
    fn new(gone_ms: (u64, u64)) -> Self {
        let lasting_ms = gone_ms.1 - gone_ms.0;
        let planted =
            (event("stall", gone_ms.0, gone_ms.1), Some(cost(gone_ms.0, lasting_ms, gone_ms.1 + 3_000)));
        Self {
            readings: vec![Vec::new(); 20],
            gone_ms,
            events: vec![planted],
            is_system_read: true,
            are_lost: false,
        }
    }

    fn read(mut self, second: usize, more: &[Reading]) -> Self {
        self.readings[second].extend(more.iter().cloned());
        self
    }

    fn moments(&self) -> Vec<Moment> {
        let mut held = 0;
        let window = |number: u64| {
            let mut window = Moment { planned: 10, sent: 10, ..Moment::numbered(number) };
            let is_gone = (self.gone_ms.0..self.gone_ms.1).contains(&(number * 100));
            held += 10;
            if is_gone && self.are_lost {
                (0..std::mem::take(&mut held)).for_each(|_| window.note_lost(Loss::Connect, window.at_ns()));
            } else if !is_gone {
                let answer_ns = window.at_ns() + MS;
                (0..std::mem::take(&mut held)).for_each(|_| window.note_ok(5 * MS, answer_ns));
            }
            window
        };
        (0..200).map(window).collect()
    }

    fn run(&self) -> Run {
        let store = OwnStore::new();
        let requests = MinMedianMax { min: 1.0, median: 1.0, max: 1.0 };
        let spread = Spread {
            connections: 4,
            unserved: None,
            requests,
            response_mean_ns: None,
            response_max_ns: None,
        };
        let ending = Ending { spread: Some(spread), ..ending() };
        let always = || {
            let of_core = |metric, value| reading("machine", metric, "core0", value);
            let mut always = vec![of_core("cpu_user_s", 0.1), of_core("cpu_idle_s", 0.9)];
            if self.is_system_read {
                always.extend([
                    reading("system", "cpu_user_s", "", 0.05),
                    reading("app", "cpu_user_s", "", 0.05),
                    reading("app", "thread_samples", "", 20.0),
                ]);
            }
            always
        };
        let seconds: Vec<(u64, Vec<Reading>)> =
            (0..).zip(self.readings.iter().map(|more| [always(), more.clone()].concat())).collect();
        let new = NewRun { model: Model::Open, warm_up_ns: 0, ..new_run() };
        let id = store.kept(&new, &[], &seconds, &ending).id;
        let events: Vec<Event> = self.events.iter().map(|(event, _)| event.clone()).collect();
        store.keep_events(&id, &events).unwrap();
        store.keep_moments(&id, &self.moments()).unwrap();
        let costs = self.events.iter().filter_map(|(event, cost)| {
            let judged = Judged::Cost(Box::new(cost.clone()?));
            Some(EventCost { name: event.name.clone(), occurrence: event.occurrence, judged })
        });
        store.keep_event_costs(&mut store.load(&id).unwrap(), costs.collect()).unwrap();
        store.load(&id).unwrap()
    }

    fn found(&self) -> Option<EventCauses> {
        found(&[self.run()], "stall")
    }
}

fn found(runs: &[Run], name: &str) -> Option<EventCauses> {
    let of_run = |run| {
        let of_name = Run::event_costs(run).iter().filter(|of| of.name == name);
        of_name.map(move |of| (run, of))
    };
    let all: Vec<(&Run, &EventCost)> = runs.iter().flat_map(of_run).collect();
    of_occurrences(&all)
}

fn workers(states: &[(&str, f64)]) -> Vec<Reading> {
    states
        .iter()
        .map(|(state, threads)| reading("app", &format!("threads_{state}"), "worker", *threads))
        .collect()
}

fn locked(sessions: f64) -> Vec<Reading> {
    vec![
        reading(DATABASE, "db_samples", "", 5.0),
        reading(DATABASE, "db_sessions_active", "", 4.0),
        reading(DATABASE, "db_waits", "Lock:relation", sessions),
        reading(DATABASE, "db_waits", "CPU", 4.0 - sessions),
    ]
}

fn resources(found: &EventCauses) -> Vec<Resource> {
    found.causes.iter().map(|cause| cause.resource).collect()
}

#[test]
fn only_seconds_with_an_effect_are_used() {
    let stopped = workers(&[("stopped", 3.9), ("poll", 0.1)]);
    let lock = workers(&[("pipe_write", 4.0)]);
    let planted = Planted::new((5_100, 8_400)).read(3, &lock).read(6, &stopped).read(7, &stopped);
    let planted = planted.read(5, &stopped).read(8, &lock).read(9, &lock);
    let found = planted.found().unwrap();
    assert_eq!((resources(&found), found.seconds), (vec![Resource::STOPPED], 3), "{found:?}");
    assert!(found.causes[0].share.is_some_and(|share| share > 0.95), "{found:?}");
    assert_eq!((found.explained, found.felt, found.why_unknown), (1, 1, None));
}

#[test]
fn lowered_quota_is_the_cause_until_it_is_raised() {
    // The quota is raised again before it is sampled at the end of the last second.
    let quota = |cores| vec![reading("system", "cpu_quota_cores", "", cores)];
    let planted = Planted::new((5_000, 6_600)).read(4, &quota(1.0)).read(5, &quota(0.05));
    let found = planted.read(6, &quota(1.0)).read(7, &quota(1.0)).found().unwrap();
    assert_eq!(resources(&found), [Resource::CPU_QUOTA], "{found:?}");
    assert!(found.causes[0].because.contains("0.05 of the 0.05 cores"), "{found:?}");
}

#[test]
fn waiting_sessions_are_a_share_of_requests_on_connections() {
    let planted =
        Planted::new((5_000, 8_000)).read(5, &locked(3.6)).read(6, &locked(4.0)).read(7, &locked(4.0));
    let found = planted.found().unwrap();
    assert_eq!(resources(&found), [Resource::DATABASE_LOCK]);
    // Four of 50, 150, and 250 requests in flight have a connection.
    assert!(found.causes[0].share.is_some_and(|share| share > 0.9), "{found:?}");
}

#[test]
fn short_or_unsampled_effect_has_a_stated_reason() {
    let stopped = workers(&[("stopped", 4.0)]);
    let short = Planted::new((5_600, 6_400)).read(5, &stopped).read(6, &stopped);
    let found = short.found().unwrap();
    assert_eq!((found.causes.len(), found.seconds), (0, 0));
    let why = found.why_unknown.unwrap();
    assert!(why.starts_with("it was felt for 0.80 s"), "{why}");
    let mut elsewhere = Planted::new((5_000, 8_000));
    elsewhere.is_system_read = false;
    let why = elsewhere.found().unwrap().why_unknown.unwrap();
    assert!(why.contains("nothing was read of the system"), "{why}");
    // Statistics of a database are equally useful if it runs on another machine.
    let mut elsewhere = Planted::new((5_000, 7_000)).read(5, &locked(4.0)).read(6, &locked(4.0));
    elsewhere.is_system_read = false;
    assert_eq!(resources(&elsewhere.found().unwrap()), [Resource::DATABASE_LOCK]);
}

#[test]
fn event_without_known_cost_has_no_causes() {
    let mut planted = Planted::new((5_000, 8_000)).read(6, &workers(&[("stopped", 4.0)]));
    planted.events[0].1 = Some(Cost { to_ns: 11_000 * MS, ..cost(5_000, 0, 0) });
    assert_eq!(planted.found(), None);
    planted.events[0].1 = None;
    assert_eq!(planted.found(), None, "nobody knows what it cost");
    // Lost requests are a cost even if all others were answered as usual. The duration is then that of the event itself.
    let lost = Lost { reset: 3, ..Lost::default() };
    planted.events[0].1 = Some(Cost { to_ns: 11_000 * MS, lost, ..cost(5_000, 0, 0) });
    assert_eq!(planted.found().map(|found| found.seconds), Some(3));
}

#[test]
fn unexplained_effect_has_an_unknown_cause() {
    let found = Planted::new((5_000, 8_000)).found().unwrap();
    assert_eq!(resources(&found), [Resource::UNKNOWN]);
    assert!(found.causes[0].next.is_empty(), "{found:?}");
}

#[test]
fn overlapping_events_are_named() {
    let stopped = workers(&[("stopped", 4.0)]);
    let mut planted = Planted::new((5_000, 8_000));
    for second in 5..8 {
        planted = planted.read(second, &stopped);
    }
    planted.events.push((event("backup", 4_000, 7_000), None));
    planted.events.push((event("early", 1_000, 2_000), Some(cost(1_000, 500, 4_000))));
    planted.events.push((event("late", 8_000, 9_000), None));
    assert_eq!(planted.found().unwrap().meanwhile, ["backup"]);
    // An event that ended earlier may still have an effect.
    planted.events[2].1 = Some(cost(1_000, 4_500, 6_000));
    assert_eq!(planted.found().unwrap().meanwhile, ["backup", "early"]);
}

#[test]
fn event_at_the_end_uses_seconds_of_the_load_only() {
    let stopped = workers(&[("stopped", 4.0)]);
    let mut planted = Planted::new((18_000, 20_000)).read(18, &stopped).read(19, &stopped);
    planted.events[0].1 =
        Some(Cost { recovery: Recovery::NotWithin(2_000 * MS), ..cost(18_000, 2_000, 20_000) });
    let found = planted.found().unwrap();
    assert_eq!((resources(&found), found.seconds), (vec![Resource::STOPPED], 2));
    planted.events[0].1 = Some(Cost { recovery: Recovery::NotWithin(200 * MS), ..cost(19_800, 200, 20_000) });
    assert!(planted.found().unwrap().why_unknown.is_some());
    // A damaged file does not exhaust memory.
    planted.events[0].1 = Some(Cost { recovery: Recovery::NotWithin(1), ..cost(0, 2_000, u64::MAX / MS) });
    planted.found();
}

#[test]
fn occurrences_of_several_runs_are_combined() {
    let stopped = workers(&[("stopped", 4.0)]);
    let of_block = |second: usize| {
        let at_ms = second as u64 * 1_000;
        Planted::new((at_ms, at_ms + 1_000)).read(second, &stopped).run()
    };
    let mut runs: Vec<Run> = [5, 9, 12].map(of_block).into_iter().collect();
    runs.push(Planted::new((5_600, 6_000)).run());
    let found = found(&runs, "stall").unwrap();
    assert_eq!(
        (resources(&found), found.seconds, found.explained, found.felt),
        (vec![Resource::STOPPED], 3, 3, 4)
    );
}

#[test]
fn missing_process_explains_lost_but_not_late_requests() {
    let gone = [reading("app", "processes", "", 0.0)];
    let mut planted = Planted::new((5_000, 8_000));
    planted.readings[5..8].iter_mut().for_each(|readings| readings.extend(gone.iter().cloned()));
    assert_eq!(
        resources(&planted.found().unwrap()),
        [Resource::UNKNOWN],
        "all requests were answered in the end"
    );
    planted.are_lost = true;
    assert_eq!(resources(&planted.found().unwrap()), [Resource::NOT_RUNNING]);
    // A starting process exists before it listens.
    planted.readings[5..8].iter_mut().for_each(Vec::clear);
    assert_eq!(resources(&planted.found().unwrap()), [Resource::UNKNOWN]);
    let lost = Lost { connect: 300, ..Lost::default() };
    planted.events[0].1 = Some(Cost { lost, ..cost(5_000, 3_000, 11_000) });
    let found = planted.found().unwrap();
    assert_eq!((resources(&found), found.causes[0].share), (vec![Resource::NOT_RUNNING], None));
    assert!(found.causes[0].because.starts_with("nobody listened: 300 requests"), "{found:?}");
}
