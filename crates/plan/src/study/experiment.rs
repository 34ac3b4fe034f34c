//! Runs of an experiment. Each makes one change to a variant or its load, to find the limit of the system.

use judge::durability;
use judge::intervention::Parameter;

use super::braced::Braced;
use super::limits::LimitKind;
use super::{Knob, Limits, Process, Study, StudyLoad, StudyPin, System};
use crate::spec::Spanned;
use crate::units;

/// Max measured duration of a run of an experiment, in nanoseconds. Many short runs show more than a few long ones.
const MEASURED_MAX_NS: u64 = 5_000_000_000;
/// Max measured duration if the system keeps running between runs, in nanoseconds. Such runs vary less.
const LIVE_MEASURED_MAX_NS: u64 = 4_000_000_000;
/// Min warm-up of a run on a system that keeps running, unless the warm-up of the load is shorter, in nanoseconds. A changed limit needs
/// this long to take effect, and earlier requests end within it.
const LIVE_WARM_UP_MIN_NS: u64 = 500_000_000;
/// Divisor of the warm-up for a system that is already warm.
const LIVE_WARM_UP_DIVISOR: u64 = 4;
/// Default time limit of an experiment, in nanoseconds.
const WITHIN_NS: u64 = 8 * 60 * 1_000_000_000;

/// An experiment that follows the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Time limit of all of its runs together, in nanoseconds.
    pub within_ns: u64,
    /// Whether the CPU time of systems can be limited on this machine.
    pub can_limit_cpu: bool,
    /// Whether the disk I/O of systems can be limited on this machine.
    pub can_limit_io: bool,
    /// Cores that Tenbin may use.
    pub cores: Vec<usize>,
}

impl Default for Experiment {
    fn default() -> Self {
        Self { within_ns: WITHIN_NS, can_limit_cpu: true, can_limit_io: true, cores: vec![0] }
    }
}

/// Parameters that an experiment can change in a variant under a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changeable {
    /// Users of the load. `None` for an open load.
    pub users: Option<u32>,
    /// Threads of the generator. `None` if the plan does not set them.
    pub threads: Option<u32>,
    /// CPU limit of the system, in thousandths of a core. `None` if the plan sets none.
    pub quota_millicores: Option<u64>,
    /// I/O limits of the system; empty if the plan sets none.
    pub io: Limits,
    /// Number of cores that the plan gives to the system. `None` if it gives none.
    pub system_cores: Option<usize>,
    /// Number of cores that the plan gives to the generator. `None` if it gives none.
    pub generator_cores: Option<usize>,
    /// Whether `pin: auto` divides the cores of the machine, with one core for the generator.
    pub is_pinned_automatically: bool,
    /// Parameters that may be raised.
    pub parameters: Vec<Parameter>,
    /// Names of proxies between parts of the system, each with its delay per direction in nanoseconds.
    pub proxies: Vec<(String, u64)>,
}

/// Change that a run of an experiment makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Number of users.
    Users(u32),
    /// Number of generator threads.
    Threads(u32),
    /// Cores of the generator.
    GeneratorCores(Vec<usize>),
    /// CPU limit of the system, in thousandths of a core.
    CpuMillicores(u64),
    /// I/O limits of the system.
    Io(Limits),
    /// Value of a parameter.
    Parameter {
        /// Name of the parameter.
        name: String,
        /// New value.
        value: String,
    },
    /// Delay of a proxy, per direction.
    Delay {
        /// Name of the proxy.
        proxy: String,
        /// New delay in microseconds.
        delay_us: u64,
    },
}

/// Reason why no experiment is possible, and the help. `None` if one is possible.
pub(crate) fn experiment_obstacle(
    systems: &[System],
    loads: &[StudyLoad],
) -> Option<(&'static str, &'static str)> {
    if !systems.iter().any(System::is_started) {
        return Some((
            "an experiment changes the system, and Tenbin starts none",
            "write a plan with a system that has `start`",
        ));
    }
    let is_fixed = |load: &StudyLoad| load.spec.profile_field().is_some() || load.spec.tool.is_some();
    loads.iter().all(is_fixed).then_some((
        "an experiment needs a load of one level, and every load has `stages` or `recorded`",
        "add a load with `users`",
    ))
}

impl Study {
    /// Reason why no experiment is possible, and the help. `None` if one is possible.
    pub fn experiment_obstacle(&self) -> Option<(&'static str, &'static str)> {
        experiment_obstacle(&self.systems, &self.loads)
    }

    /// Parameters that an experiment can change in a variant under a load. `None` if no experiment is possible with them.
    pub fn changeable(&self, variant: usize, load: usize) -> Option<Changeable> {
        let setting = self.setting(variant);
        let variant = &setting.variants[variant];
        let system = &setting.systems[variant.system];
        let spec = &setting.loads[load].spec;
        if !system.is_started() || spec.profile_field().is_some() || spec.tool.is_some() {
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

    /// Users of a load, and the threads of the generator if the plan sets them. `None` if the load has no users.
    pub fn users_and_threads(&self, load: usize) -> Option<(u32, Option<u32>)> {
        let spec = &self.loads.get(load)?.spec;
        Some((number(spec.users.as_ref())?, number(spec.threads.as_ref())))
    }

    /// Duration of a run of an experiment in nanoseconds, including the warm-up.
    pub fn experiment_run_ns(&self, load: usize) -> u64 {
        self.loads[load].warm_up_ns.saturating_add(self.experiment_measured_ns(load))
    }

    fn experiment_measured_ns(&self, load: usize) -> u64 {
        let of_plan = self.measured_ns(load).filter(|_| self.loads[load].spec.requests.is_none());
        of_plan.map_or(MEASURED_MAX_NS, |measured_ns| measured_ns.min(MEASURED_MAX_NS))
    }

    /// Duration of a run on a system that keeps running, in nanoseconds, including the warm-up.
    pub fn experiment_live_run_ns(&self, load: usize) -> u64 {
        live_warm_up_ns(self.loads[load].warm_up_ns)
            .saturating_add(self.experiment_measured_ns(load).min(LIVE_MEASURED_MAX_NS))
    }

    /// Shortens the load of a run for a system that can be changed while it runs. If the system is warm, the warm-up is shortened
    /// too.
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

    /// Study of one run of an experiment: short, without events and gates, and with a change if one is given.
    pub fn changed(&self, variant: usize, load: usize, change: Option<&Change>) -> Self {
        let mut study = self.setting(variant).clone();
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
                let is_changed_proxy =
                    |process: &&mut Process| process.proxy.as_ref().is_some_and(|known| known.name == *proxy);
                system
                    .processes
                    .iter_mut()
                    .filter(is_changed_proxy)
                    .for_each(|process| set_delay(process, *delay_us));
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
    warm_up_ns.min((warm_up_ns / LIVE_WARM_UP_DIVISOR).max(LIVE_WARM_UP_MIN_NS))
}

/// Assumed factor between two values that are words, because the real ratio of `on` to `off` is unknown.
const WORD_FACTOR: f64 = 2.0;

/// Whether all values of a parameter are positive integers, and can be multiplied by a factor.
pub(crate) fn is_number(knob: &Knob) -> bool {
    knob.values.iter().all(|value| value.parse::<u64>().is_ok_and(|value| value > 0))
}

/// Note on a value that is twice the largest value of the plan.
const DOUBLED: &str = "doubled";

/// Words for how an experiment may change a parameter.
pub(crate) fn step_words(knob: &Knob) -> String {
    let steps = knob.values.iter().filter_map(|value| step(knob, value.clone()));
    let words = steps.map(|step| format!("{} → {}", step.from, step.shown()));
    words.collect::<Vec<_>>().join(", ")
}

/// Next larger value, or twice the largest one. For words, the next value of the list. `None` after the last word.
fn step(knob: &Knob, from: String) -> Option<Parameter> {
    let name = knob.name.clone();
    if !is_number(knob) {
        let to = knob.values.iter().skip_while(|value| **value != from).nth(1)?.clone();
        return Some(Parameter { name, from, to, factor: WORD_FACTOR, note: "", loses: None });
    }
    let number: u64 = from.parse().ok()?;
    let larger = knob.values.iter().filter_map(|value| value.parse::<u64>().ok());
    let (to, note) = match larger.filter(|value| *value > number).min() {
        Some(to) => (to, ""),
        None => (number.checked_mul(2)?, DOUBLED),
    };
    Some(Parameter { name, from, to: to.to_string(), factor: to as f64 / number as f64, note, loses: None })
}

/// Guarantee that a system loses with a new value of a parameter, such as durability. Decided by the words of its command in front of the
/// parameter.
fn loses(system: &System, name: &str, to: &str) -> Option<&'static str> {
    let words = system.processes.iter().flat_map(|process| &process.start);
    let written = words.filter(|word| word.names().any(|of| of == name)).map(|word| {
        let text = word.fill(|_| None);
        text.split(&format!("{{{name}}}")).next().unwrap_or_default().to_owned()
    });
    std::iter::once(String::new()).chain(written).find_map(|written| durability::loses(name, &written, to))
}

/// Flags of `tenbin proxy` that set the delay, and the number of directions that share it.
const DELAYS: [(&str, u64); 2] = [("--delay", 1), ("--round-trip", 2)];

/// Name of a proxy between parts of the system, and its delay per direction in nanoseconds. `None` for the proxy in front of the system,
/// which simulates the network of the users.
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

/// Replaces the delay of a proxy.
fn set_delay(process: &mut Process, delay_us: u64) {
    while let Some(at) = process.start.iter().position(|text| {
        let flag = text.fill(|_| None);
        DELAYS.iter().any(|(name, _)| *name == flag)
    }) {
        process.start.drain(at..(at + 2).min(process.start.len()));
    }
    process.start.extend(["--delay", &format!("{delay_us}us")].map(Braced::read));
}
