//! A study whose systems are deployed twice in each run, and restarted once.

use evidence::{Cost, Event, EventCost, Judged, LevelBefore, Lost, Recovery, RunId, StudyPlace};
use fixtures::OwnStore;
use record::{Loss, Moment};

use super::{APP_SERVERS, Behaviour, Stored, What, app_servers, behaviour};

const MS: u64 = 1_000_000;
/// Times of the deployments. The first second is warm-up.
const DEPLOYED_MS: [u64; 2] = [1_500, 2_600];

const SYSTEMS: [Behaviour; 2] = [
    behaviour("puma", "workers=8 threads=1", 834, What::Works),
    behaviour("passenger", "workers=8", 738, What::Works),
];

/// Puma has lost requests and outages, Passenger has none. In one run, Puma does not recover. In one run of Passenger, the cost of
/// the second deployment is unknown.
pub(crate) fn with_events() -> Stored {
    let mut script = app_servers();
    script.behaviours = &SYSTEMS;
    script.new.compare.blocks = 7;
    script.events = Some(Box::new(keep));
    script.through_store()
}

fn keep(store: &OwnStore, id: &RunId, place: &StudyPlace) {
    let event = |name: &str, occurrence: u32, begun_ms: u64, lasting_ms: u64| Event {
        name: name.to_owned(),
        occurrence,
        action: "signal USR1".to_owned(),
        planned_ns: Some(begun_ms * MS),
        begun_ns: Some(begun_ms * MS + 40_000),
        ended_ns: Some((begun_ms + lasting_ms) * MS),
        ..Event::default()
    };
    let mut events: Vec<Event> =
        (0..).zip(DEPLOYED_MS).map(|(number, at)| event("deploy", number, at, 20)).collect();
    events.push(event("restart <b>db</b>", 0, 3_500, 120));
    store.keep_events(id, &events).unwrap();
    store.keep_moments(id, &windows(place)).unwrap();
    let of =
        |event: &Event, judged| EventCost { name: event.name.clone(), occurrence: event.occurrence, judged };
    let too_late = Judged::Unknown("too little is known from before it: 0.9 s and 20 ok answers".to_owned());
    let mut costs: Vec<EventCost> =
        events[..2].iter().map(|event| of(event, deployment(place, event.occurrence))).collect();
    costs.push(of(&events[2], too_late));
    store.keep_event_costs(&mut store.load(id).unwrap(), costs).unwrap();
}

fn deployment(place: &StudyPlace, occurrence: u32) -> Judged {
    let (block, number) = (u64::from(place.block), u64::from(occurrence));
    let from_ns = DEPLOYED_MS[occurrence as usize] * MS;
    let usual = Cost {
        from_ns,
        to_ns: from_ns + 900 * MS,
        planned: 700,
        worst_response_ns: Some((20 + block) * MS),
        excess_wait_ns: -0.02e9,
        before: LevelBefore { ok_per_s: 780.0, response_mean_ns: 5e6, ..LevelBefore::default() },
        ..Cost::default()
    };
    let is_puma = place.system == APP_SERVERS[1].system;
    let cost = match (is_puma, block, occurrence) {
        (false, 4, 1) => return Judged::Unknown("the load was over when it began".to_owned()),
        (false, ..) => Cost { lost: Lost { stale_reuse: block % 2, ..Lost::default() }, ..usual },
        (true, ..) => Cost {
            errors: 14 + block + number,
            lost: Lost { reset: 10 + block, timed_out: 4 * number, stale_reuse: 1, ..Lost::default() },
            outage_ns: (180 + 10 * block + 5 * number) * MS,
            worst_response_ns: Some((400 + block) * MS),
            excess_wait_ns: 6.4e9 + block as f64 * 1e8,
            recovery: match (block, occurrence) {
                (5, 1) => Recovery::NotWithin(400 * MS),
                _ => Recovery::After((300 + 7 * block + 40 * number) * MS),
            },
            ..usual
        },
    };
    Judged::Cost(Box::new(cost))
}

fn windows(place: &StudyPlace) -> Vec<Moment> {
    let mut windows: Vec<Moment> = (0..40).map(Moment::numbered).collect();
    for window in &mut windows {
        (window.planned, window.sent) = (10, 10);
        (0..10).for_each(|number| window.note_ok(5 * MS, window.at_ns() + number));
    }
    if place.system == SYSTEMS[0].system {
        for at_ms in DEPLOYED_MS {
            let window = &mut windows[(at_ms / 100) as usize];
            (0..3).for_each(|_| window.note_lost(Loss::Reset, at_ms * MS));
            window.note_lost(Loss::TimedOut, (at_ms - 200) * MS);
            window.note_lost(Loss::StaleReuse, at_ms * MS);
        }
        // Requests that were never sent count at their scheduled send time.
        windows[27].sent -= 2;
    }
    windows
}
