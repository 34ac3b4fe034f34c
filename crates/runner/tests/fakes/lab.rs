//! Fake lab: systems are ready at once, and are observed once per second of the world.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lab::events::{Event, Moment, Occurrence};
use lab::limits::Limits;
use lab::probes::{Look, LookTimes, NotAvailable, Reading, Subject};
use lab::{Command, Failure, Output, Recipe, Root, Stage, Stopped};
use runner::{Clock, EnvironmentBefore, Lab, Prepared, Room, RunError, RunningEvents, StartedSystem, Watch};

use super::World;

impl Lab for World {
    fn room(&self, ports: usize) -> Result<Room, RunError> {
        if self.moment("room") {
            return Err(RunError::Ports("all are taken".to_owned()));
        }
        Ok(Room::at("/nowhere".into(), (20_001..).take(ports).collect()))
    }

    fn first_line(
        &self,
        _command: &Command,
        _keeper: &[OsString],
        _cancelled: &dyn Fn() -> bool,
    ) -> Option<String> {
        (!self.moment("version")).then(|| "web 1.0".to_owned())
    }

    fn start(
        &self,
        recipe: Recipe,
        _cancelled: &dyn Fn() -> bool,
    ) -> Result<Box<dyn StartedSystem>, Failure> {
        let who = if recipe.name.starts_with("the target") { "target" } else { "system" };
        for (moment, stage) in [("starts", Stage::Start), ("is ready", Stage::Ready)] {
            if self.moment(&format!("{who} {moment}")) {
                return Err(failure(stage));
            }
        }
        self.state().systems_running += 1;
        Ok(Box::new(FakeSystem { world: self.clone(), who }))
    }

    fn watch(&self, _subject: Subject, _times: LookTimes) -> Box<dyn Watch> {
        self.moment("watch");
        Box::new(FakeWatch { world: self.clone(), looked: self.now() })
    }

    fn observe_environment(&self, _prepared: &Prepared) -> EnvironmentBefore {
        self.moment("look around");
        EnvironmentBefore::default()
    }

    fn busiest_thread_at_rest(&self, _processes: &BTreeSet<u32>) -> Option<f64> {
        Some(0.5)
    }

    fn tenbin(&self) -> Result<PathBuf, String> {
        match self.moment("tenbin") {
            true => Err("it is nowhere".to_owned()),
            false => Ok("/bin/true".into()),
        }
    }
}

fn failure(stage: Stage) -> Failure {
    let outputs = vec![Output { process: "web".to_owned(), text: b"oops".to_vec(), dropped_bytes: 0 }];
    Failure {
        stage,
        process: Some("web".to_owned()),
        what: "exited with code 3".to_owned(),
        way_out: "look at its output".to_owned(),
        outputs,
    }
}

#[derive(Debug)]
struct FakeSystem {
    world: World,
    who: &'static str,
}

impl StartedSystem for FakeSystem {
    fn roots(&self) -> Vec<Root> {
        vec![Root { name: "web".to_owned(), keeper_pid: 1, is_aside: false }]
    }

    fn limit(&self, limits: &Limits) -> Result<(), String> {
        let words =
            limits.cpu_cores.map_or("as the plan says".to_owned(), |cores| format!("to {cores} cores"));
        match self.world.moment(&format!("{} is limited {words}", self.who)) {
            true => Err("the group is gone".to_owned()),
            false => Ok(()),
        }
    }

    fn died(&mut self) -> Option<Failure> {
        // Once per second is enough.
        let seconds = self.world.moments().iter().filter(|moment| moment.ends_with("second")).count();
        (seconds > 0 && self.world.state().trouble == Some("system dies")).then(|| failure(Stage::Died))
    }

    fn begin_events(&mut self, events: Vec<Event>, origin: Instant) -> io::Result<Box<dyn RunningEvents>> {
        Ok(Box::new(FakeTimeline { world: self.world.clone(), events, origin }))
    }

    fn hold(&mut self) -> bool {
        !self.world.moment(&format!("{} is held", self.who))
    }

    fn go_on(&mut self) {
        self.world.moment(&format!("{} goes on", self.who));
    }

    fn stop(self: Box<Self>) -> Stopped {
        let fails = self.world.moment(&format!("{} stops", self.who));
        let failures = if fails { vec![failure(Stage::Stop)] } else { Vec::new() };
        let outputs =
            vec![Output { process: "web".to_owned(), text: b"listening".to_vec(), dropped_bytes: 0 }];
        Stopped { failures, outputs, ..Stopped::default() }
    }
}

impl Drop for FakeSystem {
    fn drop(&mut self) {
        self.world.state().systems_running -= 1;
    }
}

/// Timeline whose events start on time, and end at once.
#[derive(Debug)]
struct FakeTimeline {
    world: World,
    /// Events that have not happened yet.
    events: Vec<Event>,
    origin: Instant,
}

impl RunningEvents for FakeTimeline {
    fn take(&mut self) -> Vec<Occurrence> {
        let elapsed = self.world.now().saturating_duration_since(self.origin);
        let is_due = |event: &Event| matches!(event.moment, Moment::At { first, .. } if first <= elapsed);
        let (due, later) = std::mem::take(&mut self.events).into_iter().partition(is_due);
        self.events = later;
        let happened = |event: Event| {
            let Moment::At { first, .. } = event.moment else { return Occurrence::default() };
            let at_ns = Some(first.as_nanos() as u64);
            Occurrence {
                name: event.name,
                planned_ns: at_ns,
                begun_ns: at_ns,
                ended_ns: at_ns,
                ..Occurrence::default()
            }
        };
        let due: Vec<Event> = due;
        due.into_iter().map(happened).collect()
    }

    fn interrupt(&self) {}

    fn end(mut self: Box<Self>) -> Vec<Occurrence> {
        self.take()
    }
}

#[derive(Debug)]
struct FakeWatch {
    world: World,
    looked: Instant,
}

impl Watch for FakeWatch {
    fn take(&mut self) -> Vec<Look> {
        let mut looks = Vec::new();
        while self.world.now() - self.looked >= Duration::from_secs(1) {
            self.looked += Duration::from_secs(1);
            let reading = Reading {
                subject: "machine".to_owned(),
                metric: "steal_s",
                label: "core0".to_owned(),
                value: 0.0,
            };
            looks.push(Look::of(self.looked, Duration::from_secs(1), vec![reading]));
        }
        looks
    }

    fn end(mut self: Box<Self>) -> (Vec<Look>, Vec<NotAvailable>) {
        let missing = NotAvailable { probe: "disks".to_owned(), because: "there are none".to_owned() };
        (self.take(), vec![missing])
    }
}
