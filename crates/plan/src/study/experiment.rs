//! Runs of an experiment: one thing is changed in a variant or in its load, to see what limits the system.

use judge::durability;
use judge::intervention::Parameter;

use super::braced::Braced;
use super::limits::LimitKind;
use super::{Knob, Limits, Process, Study, StudyLoad, StudyPin, System};
use crate::spec::Spanned;
use crate::units;

/// How long a run of an experiment is measured at most: many short runs tell more than few long ones.
const MEASURED_MAX_NS: u64 = 5_000_000_000;
/// The same of a system that runs on from one run to the next, and differs less.
const LIVE_MEASURED_MAX_NS: u64 = 4_000_000_000;
/// Of such a run the warm-up at least, unless that of the load is shorter: then a limit has taken effect, and requests of before have ended.
const LIVE_WARM_UP_MIN_NS: u64 = 500_000_000;
/// The part of the warm-up that a system needs that is warm.
const LIVE_WARM_UP: u64 = 4;
/// How long an experiment may take, unless somebody says otherwise.
const WITHIN_NS: u64 = 8 * 60 * 1_000_000_000;

/// That an experiment follows the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// How long its runs may take together.
    pub within_ns: u64,
    /// Whether the CPU time of systems can be limited here.
    pub can_limit_cpu: bool,
    /// Whether what systems read and write can be limited here.
    pub can_limit_io: bool,
    /// The cores that Tenbin may use.
    pub cores: Vec<usize>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self { within_ns: WITHIN_NS, can_limit_cpu: true, can_limit_io: true, cores: vec![0] }
    }
}

/// What can be changed of a variant under a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changeable {
    /// The users of the load, if it has users.
    pub users: Option<u32>,
    /// The threads of the generator, if the plan says how many.
    pub threads: Option<u32>,
    /// The CPU time that the system may use, in thousandths of a core, if the plan says so.
    pub quota_millicores: Option<u64>,
    /// What it may read and write, if the plan says so: the disks of these limits.
    pub io: Limits,
    /// How many cores the plan gives the system, if it does.
    pub system_cores: Option<usize>,
    /// The same of the generator.
    pub generator_cores: Option<usize>,
    /// Whether system and generator share the cores of the machine out, the generator getting one.
    pub is_pinned_automatically: bool,
    /// Parameters that may be changed.
    pub parameters: Vec<Parameter>,
    /// Proxies between parts of the system, by how much they delay each direction.
    pub proxies: Vec<(String, u64)>,
}

/// What a run changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many users.
    Users(u32),
    /// So many threads of the generator.
    Threads(u32),
    /// The generator on these cores.
    GeneratorCores(Vec<usize>),
    /// So much CPU time for the system, in thousandths of a core.
    CpuMillicores(u64),
    /// So much reading and writing: the disks of these limits.
    Io(Limits),
    /// Another value of a parameter.
    Parameter {
        /// Which one.
        name: String,
        /// The value.
        value: String,
    },
    /// Another delay of each direction of a proxy.
    Delay {
        /// The name of the proxy.
        proxy: String,
        /// In microseconds.
        delay_us: u64,
    },
}

/// Why no experiment can be made, and what to do; `None` if one can.
pub(crate) fn no_experiment(systems: &[System], loads: &[StudyLoad]) -> Option<(&'static str, &'static str)> {
    if !systems.iter().any(System::is_started) {
        return Some((
            "an experiment changes the system, and Tenbin starts none",
            "write a plan with a system that has `start`",
        ));
    }
    let is_fixed = |load: &StudyLoad| load.spec.own_course().is_some() || load.spec.tool.is_some();
    loads.iter().all(is_fixed).then_some((
        "an experiment needs a load of one level, and every load has `stages` or `recorded`",
        "add a load with `users`",
    ))
}

impl Study {
    /// Why no experiment can be made, and what to do; `None` if one can.
    pub fn no_experiment(&self) -> Option<(&'static str, &'static str)> {
        no_experiment(&self.systems, &self.loads)
    }

    /// What can be changed of a variant under a load; `None` if no experiment can be made with them.
    pub fn changeable(&self, variant: usize, load: usize) -> Option<Changeable> {
        let variant = &self.variants[variant];
        let system = &self.systems[variant.system];
        let spec = &self.loads[load].spec;
        if !system.is_started() || spec.own_course().is_some() || spec.tool.is_some() {
            return None;
        }
        let knob =
            |name: &str| variant.knobs.iter().find(|(knob, _)| knob == name).map(|(_, value)| value.clone());
        let limits = system.limits.fill(knob);
        let (of_pin, generator_cores) = match &self.pin {
            StudyPin::Cores { system, generator } => (Some(system.len()), Some(generator.len())),
            StudyPin::No | StudyPin::Auto => (None, None),
        };
        let own = (!limits.cores.is_empty()).then_some(limits.cores.len());
        let step = |name: &String| {
            let step = step(system.knobs.iter().find(|knob| knob.name == *name)?, knob(name)?)?;
            Some(Parameter { loses: loses(system, name, &step.to), ..step })
        };
        Some(Changeable {
            users: number(spec.users.as_ref()),
            threads: number(spec.threads.as_ref()),
            quota_millicores: limits.cpu_millicores,
            io: limits.io_only(),
            system_cores: own.or(of_pin),
            generator_cores,
            is_pinned_automatically: self.pin == StudyPin::Auto,
            parameters: system.raisable.iter().filter_map(step).collect(),
            proxies: system.processes.iter().filter_map(|process| inner_proxy(process, knob)).collect(),
        })
    }

    /// The users of a load, if it has users, and the threads of the generator, if the plan says how many.
    pub fn users_and_threads(&self, load: usize) -> Option<(u32, Option<u32>)> {
        let spec = &self.loads.get(load)?.spec;
        Some((number(spec.users.as_ref())?, number(spec.threads.as_ref())))
    }

    /// How long the load of a run of an experiment takes, warm-up included.
    pub fn experiment_run_ns(&self, load: usize) -> u64 {
        self.loads[load].warm_up_ns.saturating_add(self.experiment_measured_ns(load))
    }

    fn experiment_measured_ns(&self, load: usize) -> u64 {
        let of_plan = self.measured_ns(load).filter(|_| self.loads[load].spec.requests.is_none());
        of_plan.map_or(MEASURED_MAX_NS, |measured_ns| measured_ns.min(MEASURED_MAX_NS))
    }

    /// The same of a run whose system runs on from the one before.
    pub fn experiment_live_run_ns(&self, load: usize) -> u64 {
        live_warm_up_ns(self.loads[load].warm_up_ns)
            .saturating_add(self.experiment_measured_ns(load).min(LIVE_MEASURED_MAX_NS))
    }

    /// Shortens the load of a run of an experiment for a system that can be changed while it runs. One that is warm already needs a part
    /// of the warm-up.
    pub fn shorten_live(&mut self, load: usize, is_warm: bool) {
        let measured_ns = self.experiment_measured_ns(load).min(LIVE_MEASURED_MAX_NS);
        let of_load = &mut self.loads[load];
        if is_warm {
            of_load.warm_up_ns = live_warm_up_ns(of_load.warm_up_ns);
            of_load.spec.warm_up_ns = Some(of_load.warm_up_ns.into());
        }
        of_load.run_ns = Some(of_load.warm_up_ns.saturating_add(measured_ns));
        of_load.spec.measured_ns = Some(measured_ns.into());
    }

    /// The study of a run of an experiment: short, without events and gates, and with a change in a variant or in a load, if there
    /// is one.
    pub fn changed(&self, variant: usize, load: usize, change: Option<&Change>) -> Self {
        let mut study = self.clone();
        let measured_ns = self.experiment_measured_ns(load);
        let system = &mut study.systems[self.variants[variant].system];
        system.events.clear();
        let of_load = &mut study.loads[load];
        of_load.run_ns = Some(of_load.warm_up_ns.saturating_add(measured_ns));
        let spec = &mut of_load.spec;
        (spec.requests, spec.extend) = (None, None);
        spec.measured_ns = Some(measured_ns.into());
        match change {
            None => {}
            Some(Change::Users(users)) => spec.users = Some(u64::from(*users).into()),
            Some(Change::Threads(threads)) => spec.threads = Some(u64::from(*threads).into()),
            Some(Change::GeneratorCores(cores)) => {
                let system = match &study.pin {
                    StudyPin::Cores { system, .. } => system.clone(),
                    StudyPin::No | StudyPin::Auto => Vec::new(),
                };
                study.pin = StudyPin::Cores { system, generator: cores.clone() };
            }
            Some(Change::CpuMillicores(millicores)) => {
                system.limits.set(LimitKind::Cpu, format!("{:.3}", *millicores as f64 / 1e3));
            }
            Some(Change::Io(limits)) => {
                let each = limits.io_texts();
                each.into_iter().for_each(|(kind, text)| system.limits.set(kind, text));
            }
            Some(Change::Parameter { name, value }) => {
                let knobs = &mut study.variants[variant].knobs;
                let known = knobs.iter_mut().filter(|(knob, _)| knob == name);
                known.for_each(|(_, known)| known.clone_from(value));
            }
            Some(Change::Delay { proxy, delay_us }) => {
                let is_it =
                    |process: &&mut Process| process.proxy.as_ref().is_some_and(|known| known.name == *proxy);
                system.processes.iter_mut().filter(is_it).for_each(|process| delay(process, *delay_us));
            }
        }
        study.events.clear();
        study.gates.clear();
        study
    }
}

fn number(value: Option<&Spanned<u64>>) -> Option<u32> {
    value.and_then(Spanned::get).and_then(|number| u32::try_from(*number).ok())
}

fn live_warm_up_ns(warm_up_ns: u64) -> u64 {
    warm_up_ns.min((warm_up_ns / LIVE_WARM_UP).max(LIVE_WARM_UP_MIN_NS))
}

/// What is assumed of a value in words: nobody can say how much more `off` is than `on`.
const OF_WORDS: f64 = 2.0;

/// Whether all values of a parameter can be raised by a factor.
pub(crate) fn is_number(knob: &Knob) -> bool {
    knob.values.iter().all(|value| value.parse::<u64>().is_ok_and(|value| value > 0))
}

/// That no value of the plan is larger than the one that is tried.
const DOUBLED: &str = "doubled";

/// How an experiment may change a parameter, for people who read the plan.
pub(crate) fn step_words(knob: &Knob) -> String {
    let steps = knob.values.iter().filter_map(|value| step(knob, value.clone()));
    let words = steps.map(|step| format!("{} → {}", step.from, step.shown()));
    words.collect::<Vec<_>>().join(", ")
}

/// The next larger value, or twice the last. Of words the next one in the list; `None` after the last.
fn step(knob: &Knob, from: String) -> Option<Parameter> {
    let name = knob.name.clone();
    if !is_number(knob) {
        let to = knob.values.iter().skip_while(|value| **value != from).nth(1)?.clone();
        return Some(Parameter { name, from, to, factor: OF_WORDS, note: "", loses: None });
    }
    let number: u64 = from.parse().ok()?;
    let larger = knob.values.iter().filter_map(|value| value.parse::<u64>().ok());
    let (to, note) = match larger.filter(|value| *value > number).min() {
        Some(to) => (to, ""),
        None => (number.checked_mul(2)?, DOUBLED),
    };
    Some(Parameter { name, from, to: to.to_string(), factor: to as f64 / number as f64, note, loses: None })
}

/// What a system loses with another value of a parameter, by the words of its commands that have it.
fn loses(system: &System, name: &str, to: &str) -> Option<&'static str> {
    let words = system.processes.iter().flat_map(|process| &process.start);
    let written = words.filter(|word| word.names().any(|of| of == name)).map(|word| {
        let text = word.fill(|_| None);
        text.split(&format!("{{{name}}}")).next().unwrap_or_default().to_owned()
    });
    std::iter::once(String::new()).chain(written).find_map(|written| durability::loses(name, &written, to))
}

/// The flags of `tenbin proxy` that set its delay, with the directions that share it.
const DELAYS: [(&str, u64); 2] = [("--delay", 1), ("--round-trip", 2)];

/// The name of a proxy between parts of a system, and by how many nanoseconds it delays each direction. `None` of the one that the load
/// goes through, which is the network of the users.
fn inner_proxy(process: &Process, knob: impl Fn(&str) -> Option<String>) -> Option<(String, u64)> {
    let proxy = process.proxy.as_ref().filter(|proxy| proxy.to.names().all(|name| name != "port"))?;
    let mut delay_ns = 0;
    for flags in process.start.windows(2) {
        let flag = flags[0].fill(|_| None);
        if let Some((_, directions)) = DELAYS.iter().find(|(name, _)| *name == flag) {
            delay_ns = units::duration_ns(&flags[1].fill(&knob)).ok()? / directions;
        }
    }
    Some((proxy.name.clone(), delay_ns))
}

/// Sets the delay of a proxy, in place of that of the plan.
fn delay(process: &mut Process, delay_us: u64) {
    while let Some(at) = process.start.iter().position(|text| {
        let flag = text.fill(|_| None);
        DELAYS.iter().any(|(name, _)| *name == flag)
    }) {
        process.start.drain(at..(at + 2).min(process.start.len()));
    }
    process.start.extend(["--delay", &format!("{delay_us}us")].map(Braced::read));
}
