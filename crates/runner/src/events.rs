//! Events of a run: from the plan to the actions of the lab, and to the stored outcome.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use evidence::{Ending, Failure, Verdict};
use lab::Signal;
use lab::events::{Action, Event, LinkOrder, Moment, Occurrence, Reload, Sign, Signalled, Switch};
use plan::{EventAction, EventMoment, EventReload, EventSign, EventSignal, LaunchEvent, Plan};
use store::StoreError;
use wire::ShardCount;

use crate::feed::Feed;
use crate::held_lock::HeldLock;
use crate::recipe;
use crate::stopper::{StopLevel, Stopper};
use crate::systems::StartedSystem;

/// Stage in the failure of a run with a failed event.
const STAGE: &str = "event";
/// Maximum length of the last output line that a failure quotes.
const LINE_CHARACTERS_MAX: usize = 200;

/// Events in progress, on their own threads.
pub trait RunningEvents: Debug {
    /// Outcomes since the last call.
    fn take(&mut self) -> Vec<Occurrence>;

    /// Ends events in progress, without waiting.
    fn interrupt(&self);

    /// Ends events in progress, and waits for them. Returns the remaining outcomes.
    fn end(self: Box<Self>) -> Vec<Occurrence>;
}

impl RunningEvents for lab::events::Timeline {
    fn take(&mut self) -> Vec<Occurrence> {
        lab::events::Timeline::take(self)
    }

    fn interrupt(&self) {
        lab::events::Timeline::interrupt(self);
    }

    fn end(self: Box<Self>) -> Vec<Occurrence> {
        lab::events::Timeline::end(*self)
    }
}

/// Facts about an event from the plan.
#[derive(Clone, Debug)]
struct EventFacts {
    words: String,
    may_fail: bool,
}

/// Events of one run: before, during, and after the load.
#[derive(Debug, Default)]
pub(crate) struct Events<'a> {
    /// Events until the load starts.
    planned: Vec<Event>,
    about: BTreeMap<String, EventFacts>,
    stopper: Option<&'a Stopper>,
    is_closed_load: bool,
    under_way: Option<Box<dyn RunningEvents>>,
    /// Failure of the run by a failed event.
    failed: Option<Failure>,
    /// Failure of an event that was cut off by the end of the load.
    cut: Option<Failure>,
    notes: Vec<String>,
}

impl<'a> Events<'a> {
    /// Events of a launched system under the load of `plan`.
    pub(crate) fn new(events: &[LaunchEvent], plan: &Plan, host: Ipv4Addr, stopper: &'a Stopper) -> Self {
        let about = |event: &LaunchEvent| {
            (event.name.clone(), EventFacts { words: event.words.clone(), may_fail: event.may_fail })
        };
        Self {
            planned: events.iter().map(|event| from_plan(event, plan, host)).collect(),
            about: events.iter().map(about).collect(),
            stopper: Some(stopper),
            is_closed_load: matches!(plan.load, load::Load::Closed(_)),
            ..Self::default()
        }
    }

    /// Starts the events of a load that started at `origin`.
    pub(crate) fn begin(&mut self, system: &mut dyn StartedSystem, origin: Instant) {
        let planned = std::mem::take(&mut self.planned);
        if planned.is_empty() {
            return;
        }
        match system.begin_events(planned, origin) {
            Ok(under_way) => self.under_way = Some(under_way),
            Err(error) => {
                let what = format!("the threads of the events cannot be started: {error}");
                self.failed = Some(failure(what, "raise the limit of processes (ulimit -u)"));
            }
        }
    }

    /// Stores new outcomes. Returns whether an event failed, so that the load should end.
    pub(crate) fn poll(&mut self, feed: Feed<'_>) -> Result<bool, StoreError> {
        let is_stopped = self.stopper.is_some_and(|stopper| stopper.level() != StopLevel::Go);
        if let Some(under_way) = &mut self.under_way {
            if is_stopped {
                under_way.interrupt();
            }
            let told = under_way.take();
            self.store_outcomes(feed, told)?;
        }
        Ok(self.failed.is_some())
    }

    /// Ends events in progress after the load, without waiting.
    pub(crate) fn interrupt(&self) {
        if let Some(under_way) = &self.under_way {
            under_way.interrupt();
        }
    }

    /// Waits for the events in progress, and stores their outcomes.
    pub(crate) fn end(&mut self, feed: Feed<'_>) -> Result<(), StoreError> {
        let told = self.under_way.take().map(|under_way| under_way.end()).unwrap_or_default();
        self.store_outcomes(feed, told)
    }

    /// Ends the events without storing their outcomes.
    pub(crate) fn abandon(&mut self) {
        drop(self.under_way.take());
    }

    fn store_outcomes(&mut self, feed: Feed<'_>, told: Vec<Occurrence>) -> Result<(), StoreError> {
        if told.is_empty() {
            return Ok(());
        }
        let kept: Vec<evidence::Event> = told.iter().filter_map(|happened| self.kept(happened)).collect();
        for (happened, event) in told.iter().zip(&kept) {
            if let Some(what) = &event.failure {
                let what = match last_line(&happened.output) {
                    Some(line) => format!("{what}; its last output: {line}"),
                    None => what.clone(),
                };
                self.note_failure(&event.name, &what, event.may_fail, happened.is_cut);
            }
        }
        feed.events(kept)
    }

    fn note_failure(&mut self, name: &str, what: &str, may_fail: bool, is_cut: bool) {
        if may_fail {
            self.notes.push(format!("the event {name} failed, as it may: {what}"));
            return;
        }
        let way_out = match is_cut {
            true => "begin the event earlier, or make the load longer; `within` limits its time",
            false => "correct the event; add `may-fail: true` if the run counts all the same",
        };
        let slot = if is_cut { &mut self.cut } else { &mut self.failed };
        slot.get_or_insert_with(|| failure(format!("the event {name} failed: {what}"), way_out));
    }

    /// Event in the form of the store.
    fn kept(&self, happened: &Occurrence) -> Option<evidence::Event> {
        let EventFacts { words, may_fail } = self.about.get(&happened.name)?.clone();
        let Occurrence { name, occurrence, planned_ns, begun_ns, ended_ns, exit, signal, .. } =
            happened.clone();
        Some(evidence::Event {
            name,
            occurrence,
            action: words,
            planned_ns,
            begun_ns,
            ended_ns,
            exit,
            signal,
            output: happened.output.clone(),
            dropped_bytes: happened.dropped_bytes,
            // The failure may quote a command.
            failure: happened.failure.as_deref().map(plan::mask_secrets),
            may_fail,
        })
    }

    /// Adds the outcome of the events to the ending of a run, unless the system died before.
    pub(crate) fn add_to(self, ending: &mut Ending) {
        if self.about.is_empty() {
            return;
        }
        ending.notes.extend(self.notes);
        if self.is_closed_load {
            ending.notes.push(plan::NOTE_ON_EVENTS.to_owned());
        }
        let was_stopped = ending.verdict == Verdict::Partial;
        let failed = self.failed.or(self.cut.filter(|_| !was_stopped));
        if let (Some(failed), None) = (failed, &ending.failure) {
            ending.verdict = Verdict::Aborted;
            ending.failure = Some(failed);
        }
    }
}

/// Last line that is not empty, without secrets and cut.
fn last_line(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(plan::mask_secrets(&line.chars().take(LINE_CHARACTERS_MAX).collect::<String>()))
}

fn failure(what: String, way_out: &str) -> Failure {
    Failure { stage: STAGE.to_owned(), process: None, what, way_out: way_out.to_owned() }
}

fn from_plan(event: &LaunchEvent, plan: &Plan, host: Ipv4Addr) -> Event {
    Event {
        name: event.name.clone(),
        moment: moment(&event.moment, plan),
        action: action(&event.action, plan),
        until: event.until.as_ref().map(|sign| from_sign(sign, plan, host)),
        within: Duration::from_nanos(event.within_ns),
    }
}

/// Moment since the start of the load. Times in a plan count from the end of the warm-up.
fn moment(moment: &EventMoment, plan: &Plan) -> Moment {
    let end_ns =
        plan.first_end_ns().or(plan.planned_ns()).map(|end_ns| end_ns.saturating_sub(plan.warm_up_ns));
    match moment {
        EventMoment::At { at_ns, every_ns, .. } => Moment::At {
            first: Duration::from_nanos(plan.warm_up_ns.saturating_add_signed(*at_ns)),
            every: Duration::from_nanos(every_ns.unwrap_or(0)),
            times: moment.times(end_ns).unwrap_or(1),
        },
        EventMoment::AfterText { text, process, delay_ns } => Moment::AfterText {
            process: process.clone().unwrap_or_default(),
            text: text.clone(),
            delay: Duration::from_nanos(*delay_ns),
        },
        EventMoment::AfterEvent { event, delay_ns } => {
            Moment::AfterEvent { name: event.clone(), delay: Duration::from_nanos(*delay_ns) }
        }
    }
}

fn action(action: &EventAction, plan: &Plan) -> Action {
    // Events have their own time limit.
    let command = |cmd| recipe::command(cmd, Duration::MAX);
    match action {
        EventAction::Run { command: cmd, lock } => Action::Run {
            command: command(cmd),
            lock: lock
                .as_ref()
                .zip(plan.database())
                .map(|(statements, database)| HeldLock::boxed(database, statements)),
        },
        EventAction::Signal(signal) => Action::Signal(signalled(signal)),
        EventAction::Start(process) => Action::Start(process.clone()),
        EventAction::Stop(process) => Action::Stop(process.clone()),
        EventAction::Kill(process) => Action::Kill(process.clone()),
        EventAction::Restart(process) => Action::Restart(process.clone()),
        EventAction::Pause { process, for_ns } => {
            Action::Pause { process: process.clone(), lasting: Duration::from_nanos(*for_ns) }
        }
        EventAction::Limit { limits, for_ns } => {
            Action::Limit { limits: recipe::limits(limits), lasting: for_ns.map(Duration::from_nanos) }
        }
        EventAction::Link { name, control, order, undo, for_ns } => Action::Link {
            link: LinkOrder {
                name: name.clone(),
                control: control.clone(),
                order: order.clone(),
                undo: undo.clone(),
            },
            lasting: for_ns.map(Duration::from_nanos),
        },
        EventAction::Fill { leave_bytes, for_ns } => {
            Action::Fill { leave_bytes: *leave_bytes, lasting: for_ns.map(Duration::from_nanos) }
        }
        EventAction::Set { files, reload } => Action::Set {
            files: files.clone(),
            reload: match reload {
                EventReload::Signal(signal) => Reload::Signal(signalled(signal)),
                EventReload::Run(cmd) => Reload::Run(command(cmd)),
            },
        },
        EventAction::Shards(count) => Action::Switch(Box::new(ShardSwitch {
            counts: plan.endpoints.iter().filter_map(plan::Endpoint::active_shards).cloned().collect(),
            count: *count,
        })),
    }
}

/// Changes the number of shards of the load.
#[derive(Debug)]
struct ShardSwitch {
    counts: Vec<ShardCount>,
    count: u32,
}

impl Switch for ShardSwitch {
    fn switch(&mut self) {
        self.counts.iter().for_each(|count| count.set(self.count));
    }
}

fn signalled(signal: &EventSignal) -> Signalled {
    // The plan reader accepts only these names, so the fallback is never used.
    let number = Signal::named(&signal.signal).unwrap_or(Signal::TERM);
    Signalled { process: signal.process.clone(), signal: number }
}

fn from_sign(sign: &EventSign, plan: &Plan, host: Ipv4Addr) -> Sign {
    match sign {
        EventSign::Text { process, text } => Sign::Text { process: process.clone(), text: text.clone() },
        EventSign::Get { port, path } => {
            Sign::Get { address: recipe::address(*port, &plan.front, host), path: path.clone() }
        }
        EventSign::Tcp(port) => Sign::Tcp(recipe::address(*port, &plan.front, host)),
    }
}
