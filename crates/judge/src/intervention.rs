//! Interventions that confirm or refute a likely bottleneck: the list of their kinds, and the selection for a system.
//!
//! An experiment changes one parameter at a time, and predicts throughput in advance. Throughput follows a change of
//! the limit, and no other change.

use evidence::{Change, Changed, EvidenceError, IoLimits, Run};
use stats::median;

use crate::causes::Resource;
use crate::core_time::{Seconds, core_numbers, in_measured_time};
use crate::ladder::rungs_of;
use crate::measured::Measured;
use crate::signals::Signals;
use crate::waits::Waits;
use crate::words::decimal;

/// Min elasticity of throughput at which less of a resource shows that it is the limit, and more load that there is no
/// other limit.
const LESS_MIN_ELASTICITY: f64 = 0.5;
/// Like `LESS_MIN_ELASTICITY`, for more of a resource. It is lower, because the next limit may be near.
const MORE_MIN_ELASTICITY: f64 = 0.3;
/// Min share of time at which a core or a thread counts as saturated.
const SATURATED_MIN_SHARE: f64 = 0.9;
/// Min delay that is added to a dependency, in nanoseconds. A shorter one would have no visible effect.
const DELAY_NS: f64 = 2e6;
/// Min CPU limit that is set, in thousandths of a core.
const MILLICORES_MIN: u64 = 50;
/// Min I/O of a system, in bytes per second, at which less I/O is informative.
const IO_MIN_BYTES: f64 = 65_536.0;
/// Assumed factor of CPU time for a generator that gets cores of its own, compared with half of one before.
const OWN_CORES_FACTOR: f64 = 2.0;

/// Reason why a limit cannot be changed.
const NO_GROUP: &str = "Tenbin can set no control group here; run it as root, or in a unit with Delegate=yes";

impl Resource {
    /// A parameter in the plan, such as a number of workers, threads, or connections. No reading identifies it.
    pub const PARAMETER: Self = Self::new("parameter", "a parameter of the system");
    /// I/O limit in the plan. Readings identify the disk that the system waits for.
    pub const IO_LIMIT: Self =
        Self::new("io_limit", "I/O limit of the system").next("raise `io` in `resources` of the plan");
}

/// A kind of intervention.
pub struct Kind {
    /// Change, in words.
    pub what: &'static str,
    /// Resources of which one is the limit if throughput follows the change.
    pub tests: &'static [Resource],
    /// Whether none of these resources is the limit if throughput does not follow the change.
    pub can_refute: bool,
    /// Prediction for the case that the resource is the limit, in words.
    pub predicts: &'static str,
    /// Condition for trying it, in words.
    pub when: &'static str,
    /// Returns changes of this kind, or the reason why an informative change is not possible.
    changes: fn(&KnownFacts) -> Result<Vec<Candidate>, String>,
}

/// All kinds, cheapest and most informative first.
pub const INTERVENTIONS: &[Kind] = &[
    Kind {
        what: "twice the users",
        tests: &[Resource::LOAD],
        can_refute: true,
        predicts: "throughput rises with the users, unless something is saturated",
        when: "the load has `users`",
        changes: |known| Ok(known.double_users()),
    },
    Kind {
        what: "CPU time of the system −20 %",
        tests: CPU,
        can_refute: true,
        predicts: "throughput falls by as much",
        when: "control groups can be set; not where other processes use most of saturated cores",
        changes: |known| known.scale_cpu(0.8),
    },
    Kind {
        what: "a parameter under `limits` one step up",
        tests: &[Resource::PARAMETER],
        can_refute: true,
        predicts: "throughput rises",
        when: "the system has `limits`",
        changes: |known| Ok(known.raise_parameters()),
    },
    Kind {
        what: "CPU quota of the system +25 %",
        tests: &[Resource::CPU_QUOTA],
        can_refute: true,
        predicts: "throughput rises",
        when: "the system has `resources: { cpu: … }`, and the machine has more",
        changes: |known| Ok(known.raise_quota()),
    },
    Kind {
        what: "I/O limits of the system +25 %",
        tests: &[Resource::IO_LIMIT],
        can_refute: true,
        predicts: "throughput rises",
        when: "the system has `resources: { io: … }`",
        changes: KnownFacts::raise_io_limits,
    },
    Kind {
        what: "2 ms on a dependency, or a quarter of the time in which a request waits for it if that is more",
        tests: &[Resource::DEPENDENCY],
        can_refute: true,
        predicts: "throughput falls as the time in which a request waits for it rises",
        when: "what the system calls is the likely bottleneck, or none is known and requests waited half of the response time for it; the plan has a proxy between them",
        changes: |known| Ok(known.delay_dependencies()),
    },
    Kind {
        what: "I/O of the system −20 %",
        tests: &[Resource::IO_LIMIT, Resource::DISK],
        can_refute: false,
        predicts: "throughput falls by as much",
        when: "control groups can be set, and the system has `resources: { io: … }`; or disks are the likely bottleneck: then less than it used",
        changes: |known| known.scale_io(0.8),
    },
    Kind {
        what: "CPU time of the system −10 %",
        tests: CPU,
        can_refute: false,
        predicts: "throughput falls by as much: half of the effect of −20 %",
        when: "CPU is the likely bottleneck",
        changes: |known| if known.is_cpu_suspected() { known.scale_cpu(0.9) } else { Ok(Vec::new()) },
    },
    Kind {
        what: "I/O of the system −10 %",
        tests: &[Resource::IO_LIMIT, Resource::DISK],
        can_refute: false,
        predicts: "throughput falls by as much: half of the effect of −20 %",
        when: "control groups can be set, and the system has `resources: { io: … }`; or disks are the likely bottleneck: then less than it used",
        changes: |known| known.scale_io(0.9),
    },
    Kind {
        what: "twice the threads of the generator",
        tests: &[Resource::GENERATOR],
        can_refute: false,
        predicts: "throughput rises",
        when: "the load has `threads`, and there are cores for twice as many",
        changes: |known| Ok(known.add_threads()),
    },
    Kind {
        what: "the generator on cores that the system may not use",
        tests: &[Resource::GENERATOR],
        can_refute: false,
        predicts: "throughput rises",
        when: "the plan has no `pin`, and a cpuset or its affinity keeps the system from a core",
        changes: KnownFacts::move_generator,
    },
];

const CPU: &[Resource] = &[Resource::MACHINE_CPU, Resource::ONE_CORE, Resource::CPU_QUOTA];

/// Facts about a configuration before any change.
#[derive(Clone, Debug, Default)]
pub struct KnownFacts {
    /// Number of users; `None` for a load without users.
    pub users: Option<u32>,
    /// Number of generator threads; `None` if the plan does not set it.
    pub threads: Option<u32>,
    /// Number of cores that the plan lets the system use.
    pub system_cores: usize,
    /// Number of cores that the plan lets the generator use.
    pub generator_cores: usize,
    /// Cores to which the generator could be pinned; empty if the plan already pins it.
    pub generator_choice: Vec<usize>,
    /// Whether the CPU time of the system can be limited.
    pub can_limit_cpu: bool,
    /// Whether the I/O of the system can be limited.
    pub can_limit_io: bool,
    /// CPU quota of the system in the plan, in thousandths of a core; `None` if there is none.
    pub quota_millicores: Option<u64>,
    /// I/O limits of the system in the plan.
    pub io: IoLimits,
    /// Parameters that may be changed.
    pub parameters: Vec<Parameter>,
    /// Proxies between parts of the system, and the delay that each adds per direction, in nanoseconds.
    pub proxies: Vec<(String, u64)>,
    /// Likely bottleneck; `None` if no reading suggests one.
    pub suspected: Option<Resource>,
    /// Readings without any change.
    pub read: Readings,
}

/// Next value of a parameter that may limit a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// Current value.
    pub from: String,
    /// Value to try.
    pub to: String,
    /// Ratio of the value to try to the current value. Assumed if the values are words.
    pub factor: f64,
    /// Origin of the value to try if the plan does not list it, such as `doubled`; may be empty.
    pub note: &'static str,
    /// Data that can be lost with the value to try, in a sentence; `None` if it keeps durability.
    pub loses: Option<&'static str>,
}

impl Parameter {
    /// Returns the value to try, for people.
    pub fn shown(&self) -> String {
        if self.note.is_empty() { self.to.clone() } else { format!("{} ({})", self.to, self.note) }
    }
}

/// Readings of runs without any change: medians over all runs.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// Number of cores of the machine.
    pub cores: usize,
    /// Mean number of cores that the system used.
    pub used_cores: Option<f64>,
    /// Mean number of runnable threads of the system without a core.
    pub waiting: Option<f64>,
    /// Cores that the system's processes may run on; empty if not sampled.
    pub allowed: Vec<usize>,
    /// Bytes per second that the system read from disks and wrote to them.
    pub io_bytes_per_s: [Option<f64>; 2],
    /// Busy share of all cores.
    pub busy: Option<f64>,
    /// Share of a core that the busiest thread of the system used.
    pub busiest_thread: Option<f64>,
    /// Mean response time, in nanoseconds.
    pub response_ns: Option<f64>,
    /// Time that a request waits for dependencies of the system, in nanoseconds, by Little's law; `None` if no thread
    /// was sampled in such a wait.
    pub dependency_ns: Option<f64>,
}

impl Readings {
    /// Returns the readings of stored runs of one configuration.
    pub fn of(runs: &[&Run]) -> Result<Self, EvidenceError> {
        let (mut cores, mut used, mut busy, mut thread) = (0, Vec::new(), Vec::new(), Vec::new());
        let (mut waiting, mut response, mut allowed) = (Vec::new(), Vec::new(), Vec::new());
        let mut dependency = Vec::new();
        let mut io: [Vec<f64>; 2] = Default::default();
        for run in runs {
            let measured = Measured::of(run)?;
            response.extend(measured.response.mean_ns);
            dependency.extend(dependency_ns(run, &measured));
            if let Some((all, system)) =
                measured.resources.as_ref().and_then(|all| Some((all, all.system.as_ref()?)))
            {
                used.extend(all.cores_used(system));
                let per_s =
                    |sum: Option<f64>| sum.map(|sum| all.per_s(system, sum)).filter(|rate| rate.is_finite());
                waiting.extend(per_s(system.run_queue_wait_s));
                io[0].extend(per_s(system.disk_read_bytes));
                io[1].extend(per_s(system.disk_written_bytes));
            }
            let signals = Signals::of(run);
            cores = cores.max(signals.as_ref().map_or(0, |signals| signals.cores));
            busy.extend(signals.as_ref().and_then(|signals| signals.busy));
            thread.extend(signals.as_ref().and_then(|signals| signals.busiest_thread));
            allowed = cores_allowed(run).unwrap_or(allowed);
        }
        Ok(Self {
            cores,
            used_cores: median(used),
            waiting: median(waiting),
            allowed,
            io_bytes_per_s: io.map(median),
            busy: median(busy),
            busiest_thread: median(thread),
            response_ns: median(response),
            dependency_ns: median(dependency),
        })
    }
}

/// Returns the time that a request waits for dependencies: mean number of waiting threads ÷ answers per second.
fn dependency_ns(run: &Run, measured: &Measured) -> Option<f64> {
    let waits = Waits::during(run, Seconds::Measured);
    let threads: f64 = waits.workers.values().flat_map(|workers| workers.dependencies.values()).sum();
    let ok_per_s = measured.ok_per_s().filter(|per_s| *per_s > 0.0)?;
    Some(threads / ok_per_s * 1e9).filter(|ns| *ns > 0.0)
}

/// Returns the cores that the system could run on in the last sampled second.
fn cores_allowed(run: &Run) -> Option<Vec<usize>> {
    let listed = in_measured_time(run)
        .filter(|reading| reading.subject == "system" && reading.metric == "cores_allowed");
    let numbers = core_numbers(listed.last()?.label)?;
    Some(numbers.into_iter().map(|number| number as usize).collect())
}

/// A change before the tested resources of its kind are added.
struct Candidate {
    name: String,
    change: Change,
    factor: f64,
    limit_from: f64,
    /// Tested resource, overriding those of the kind.
    tests: Option<Resource>,
    /// Data that can be lost with the change. If set, the change also tests the log of the database.
    loses: Option<&'static str>,
}

/// Interventions chosen for a configuration.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Changes; those that test the likely bottleneck come first.
    pub changes: Vec<Changed>,
    /// Additional numbers of users, to measure how throughput scales with them.
    pub rungs: Vec<u32>,
    /// Informative changes that are not possible, each with the reason.
    pub left_out: Vec<String>,
}

/// Chooses the interventions that suit a configuration.
pub fn interventions_for(known: &KnownFacts) -> Chosen {
    let mut chosen = Chosen::default();
    for kind in INTERVENTIONS {
        match (kind.changes)(known) {
            Ok(candidates) => {
                chosen.changes.extend(candidates.into_iter().filter_map(|one| kind.changed(one)))
            }
            Err(why) if chosen.left_out.contains(&why) => {}
            Err(why) => chosen.left_out.push(why),
        }
    }
    let is_about = |changed: &Changed| {
        known.suspected.is_some_and(|resource| {
            let tests =
                |code: &String| *code == resource.code || is_parameter(code) && may_be_parameter(resource);
            changed.tests.iter().any(tests)
        })
    };
    chosen.changes.sort_by_key(|changed| !is_about(changed));
    (0..).zip(&mut chosen.changes).for_each(|(rank, changed)| changed.rank = rank);
    chosen.rungs = known.users.map_or_else(Vec::new, |users| rungs_of(users, known.threads.unwrap_or(1)));
    chosen
}

fn is_parameter(code: &str) -> bool {
    code == Resource::PARAMETER.code
}

/// Returns whether readings may be a symptom of a parameter that is too low. Too few workers leave cores idle, queues
/// full, and threads waiting.
fn may_be_parameter(resource: Resource) -> bool {
    let is_told = [Resource::LOAD, Resource::GENERATOR, Resource::MACHINE_CPU, Resource::CPU_QUOTA];
    !is_told.contains(&resource)
}

impl Kind {
    /// Completes a candidate; `None` if it changes nothing.
    fn changed(&self, candidate: Candidate) -> Option<Changed> {
        let Candidate { name, change, factor, limit_from, tests, loses } = candidate;
        let tests = tests.as_ref().map_or(self.tests, std::slice::from_ref).iter();
        // A database that does not wait for durability does not wait for its log either.
        let tests = tests.chain(loses.is_some().then_some(&Resource::DATABASE_LOG));
        // Throughput changes by at least this factor if the resource is the limit.
        let least = factor.powf(limit_from);
        let sign = if factor < 1.0 { "≤" } else { "≥" };
        (factor != 1.0).then(|| Changed {
            prediction: format!("if it is the limit, throughput ×{factor:.2}, {sign} ×{least:.2}"),
            name,
            change,
            rank: 0,
            tests: tests.map(|resource| resource.code.to_owned()).collect(),
            loses: loses.map(str::to_owned),
            can_refute: self.can_refute,
            factor,
            limit_from,
        })
    }
}

impl KnownFacts {
    fn double_users(&self) -> Vec<Candidate> {
        let Some(from) = self.users else { return Vec::new() };
        let Some(to) = from.checked_mul(2).filter(|users| *users > 0) else { return Vec::new() };
        vec![Candidate {
            name: format!("users {from} → {to}"),
            change: Change::Users { users: to },
            factor: ratio(f64::from(to), f64::from(from)),
            limit_from: LESS_MIN_ELASTICITY,
            tests: None,
            loses: None,
        }]
    }

    fn is_cpu_suspected(&self) -> bool {
        self.suspected.is_some_and(|resource| CPU.contains(&resource))
    }

    /// Returns the number of cores that the system may use, and whether the machine has more.
    fn cores(&self) -> (f64, bool) {
        let Readings { allowed, cores: machine, .. } = &self.read;
        let cores = if allowed.is_empty() { self.system_cores } else { self.system_cores.min(allowed.len()) };
        (cores as f64, cores < *machine)
    }

    /// Returns the max number of cores available to the system, and the resource that limits it. On unsaturated cores,
    /// a limit below the system's use would slow any system, and show nothing.
    fn available_cpu(&self) -> Result<(f64, Resource), String> {
        if !self.can_limit_cpu {
            return Err(format!("CPU time: {NO_GROUP}"));
        }
        if let Some(millicores) = self.quota_millicores {
            return Ok((millicores as f64 / 1e3, Resource::CPU_QUOTA));
        }
        let Readings { used_cores, waiting, busy, busiest_thread, .. } = self.read;
        let used = used_cores.ok_or("CPU time: none of the system was read; use longer runs")?;
        let is_saturated = |share: Option<f64>| share.is_some_and(|share| share >= SATURATED_MIN_SHARE);
        if self.suspected == Some(Resource::ONE_CORE) && is_saturated(busiest_thread) {
            return Ok((used, Resource::ONE_CORE));
        }
        let (cores, is_confined) = self.cores();
        let resource = if is_confined && cores < 1.5 { Resource::ONE_CORE } else { Resource::MACHINE_CPU };
        // The busy share of all cores says little about the system's own cores.
        let of_its_own = waiting.map(|waiting| (used + waiting) / cores);
        match is_saturated(if is_confined { of_its_own.or(busy) } else { busy }) {
            true if used * 2.0 >= cores => Ok((used, resource)),
            true => Err(format!(
                "CPU time: other processes used most of its cores, and the system {} of {}, so less of it would show nothing; \
                 stop them, and run it again",
                decimal(used, 2),
                decimal(cores, 0)
            )),
            false => Ok((cores, resource)),
        }
    }

    fn scale_cpu(&self, factor: f64) -> Result<Vec<Candidate>, String> {
        let (at_most, resource) = self.available_cpu()?;
        let millicores = (at_most * factor * 1e3).round() as u64;
        if millicores < MILLICORES_MIN {
            return Err(format!(
                "CPU time: the system used {} cores, too little to take some away",
                decimal(at_most, 3)
            ));
        }
        Ok(vec![Candidate {
            name: format!("CPU {at_most:.2} → {:.2} cores", millicores as f64 / 1e3),
            change: Change::Cpu { millicores },
            factor,
            limit_from: LESS_MIN_ELASTICITY,
            tests: Some(resource),
            loses: None,
        }])
    }

    /// Returns the I/O limits of the plan; `None` if it has none, and an error if they cannot be changed.
    fn io_limits(&self) -> Result<Option<IoLimits>, String> {
        match (self.io.is_none(), self.can_limit_io) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(self.io)),
            (false, false) => Err(format!("I/O: {NO_GROUP}")),
        }
    }

    fn raise_io_limits(&self) -> Result<Vec<Candidate>, String> {
        let up = |limits: IoLimits| Candidate {
            name: "I/O limits +25 %".to_owned(),
            change: Change::Io { limits: limits.times(1.25) },
            factor: 1.25,
            limit_from: MORE_MIN_ELASTICITY,
            tests: None,
            loses: None,
        };
        Ok(self.io_limits()?.map(up).into_iter().collect())
    }

    /// Limits I/O to less than the plan allows, or to less than the system used if its disk is suspected. In other
    /// cases, less I/O would slow any system.
    fn scale_io(&self, factor: f64) -> Result<Vec<Candidate>, String> {
        let percent = decimal((1.0 - factor) * 100.0, 0);
        let (from, name, tests) = match self.io_limits()? {
            Some(limits) => (limits, format!("I/O limits −{percent} %"), Resource::IO_LIMIT),
            None if self.suspected == Some(Resource::DISK) => {
                (self.io_used()?, format!("I/O −{percent} % of what it used"), Resource::DISK)
            }
            None => return Ok(Vec::new()),
        };
        Ok(vec![Candidate {
            name,
            change: Change::Io { limits: from.times(factor) },
            factor,
            limit_from: LESS_MIN_ELASTICITY,
            tests: Some(tests),
            loses: None,
        }])
    }

    /// Returns the I/O that the system used, as limits.
    fn io_used(&self) -> Result<IoLimits, String> {
        if !self.can_limit_io {
            return Err(format!("I/O: {NO_GROUP}"));
        }
        let used = |rate: Option<f64>| rate.filter(|rate| *rate >= IO_MIN_BYTES).map(|rate| rate as u64);
        let [read_bytes_per_s, write_bytes_per_s] = self.read.io_bytes_per_s.map(used);
        let used = IoLimits { read_bytes_per_s, write_bytes_per_s, ..IoLimits::default() };
        if used.is_none() {
            return Err(
                "I/O: the system read and wrote less than 64 KiB/s, too little to take some away".to_owned()
            );
        }
        Ok(used)
    }

    fn raise_quota(&self) -> Vec<Candidate> {
        let Some(from) = self.quota_millicores else { return Vec::new() };
        let to = from.saturating_mul(5) / 4;
        if to > self.system_cores as u64 * 1_000 {
            return Vec::new();
        }
        vec![Candidate {
            name: format!("CPU {:.2} → {:.2} cores", from as f64 / 1e3, to as f64 / 1e3),
            change: Change::Cpu { millicores: to },
            factor: ratio(to as f64, from as f64),
            limit_from: MORE_MIN_ELASTICITY,
            tests: None,
            loses: None,
        }]
    }

    fn raise_parameters(&self) -> Vec<Candidate> {
        let up = self.parameters.iter().map(|parameter| Candidate {
            name: format!("{} {} → {}", parameter.name, parameter.from, parameter.shown()),
            change: Change::Parameter { name: parameter.name.clone(), value: parameter.to.clone() },
            factor: ratio(parameter.factor, 1.0),
            limit_from: MORE_MIN_ELASTICITY,
            tests: None,
            loses: parameter.loses,
        });
        up.collect()
    }

    /// Returns whether a dependency may be the limit: it is the likely bottleneck, or none is known and half of the
    /// response time was spent on it.
    fn is_dependency_suspected(&self) -> bool {
        let Readings { dependency_ns, response_ns, .. } = self.read;
        let is_half = dependency_ns.zip(response_ns).is_some_and(|(waits, response)| waits * 2.0 >= response);
        match self.suspected {
            Some(Resource::DEPENDENCY) => true,
            None | Some(Resource::UNKNOWN) => is_half,
            Some(_) => false,
        }
    }

    fn delay_dependencies(&self) -> Vec<Candidate> {
        // Behind a pool, a request waits longer than the pool's own call takes. In an event loop, the call time is
        // unknown.
        let waits_ns = self.read.dependency_ns.or(self.read.response_ns);
        let Some(waits_ns) = waits_ns.filter(|_| self.is_dependency_suspected()) else { return Vec::new() };
        let more_ns = DELAY_NS.max(waits_ns / 4.0);
        let slower = self.proxies.iter().map(|(proxy, from_ns)| {
            let (from_us, to_us) = (*from_ns / 1_000, (*from_ns as f64 + more_ns / 2.0) as u64 / 1_000);
            Candidate {
                name: format!("round trip of proxy {proxy} +{:.1} ms", more_ns / 1e6),
                change: Change::Delay { proxy: proxy.clone(), delay_us: to_us.max(from_us) },
                factor: ratio(waits_ns, waits_ns + more_ns),
                limit_from: LESS_MIN_ELASTICITY,
                tests: None,
                loses: None,
            }
        });
        slower.collect()
    }

    fn add_threads(&self) -> Vec<Candidate> {
        let Some(from) = self.threads else { return Vec::new() };
        let to = from.saturating_mul(2);
        if to as usize > self.generator_cores || self.users.is_some_and(|users| to > users) {
            return Vec::new();
        }
        vec![Candidate {
            name: format!("threads of the generator {from} → {to}"),
            change: Change::Threads { threads: to },
            factor: 2.0,
            limit_from: MORE_MIN_ELASTICITY,
            tests: None,
            loses: None,
        }]
    }

    fn move_generator(&self) -> Result<Vec<Candidate>, String> {
        let of_system = &self.read.allowed;
        let is_suspected = self.suspected == Some(Resource::GENERATOR);
        if self.generator_choice.is_empty() || of_system.is_empty() {
            return Ok(Vec::new());
        }
        let free = |core: &&usize| !of_system.contains(core);
        let cores: Vec<usize> = self.generator_choice.iter().filter(free).copied().collect();
        if cores.is_empty() {
            let why = "the generator on other cores: the system may use every core; use `pin: auto`";
            return if is_suspected { Err(why.to_owned()) } else { Ok(Vec::new()) };
        }
        let list = cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        Ok(vec![Candidate {
            name: format!("generator on core {list} only"),
            change: Change::GeneratorCores { cores },
            factor: OWN_CORES_FACTOR,
            limit_from: MORE_MIN_ELASTICITY,
            tests: None,
            loses: None,
        }])
    }
}

/// Rounds a ratio to four decimals, so that it survives the store unchanged.
fn ratio(to: f64, from: f64) -> f64 {
    (to / from * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests;
