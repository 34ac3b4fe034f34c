//! What can be changed to confirm or refute a likely bottleneck: the list of interventions, and which of them fit a system.
//!
//! One thing is changed at a time, and throughput is predicted before: it moves along with the limit, and with nothing else.

use stats::median;
use store::{Change, Changed, Run, StoreError};

use crate::causes::Resource;
use crate::measured::Measured;
use crate::signals::Signals;

/// From this elasticity on less of a resource shows that it is the limit, and more of the load that nothing else is.
const LIMIT_FROM_LESS: f64 = 0.5;
/// The same for more of what a system has: the next limit may be near.
const LIMIT_FROM_MORE: f64 = 0.3;
/// From this share of the time on a core or a thread is saturated.
const SATURATED: f64 = 0.9;
/// By how much a dependency is slowed down at least: less would not be seen.
const DELAY_NS: f64 = 2e6;
/// The least limit of CPU time that is set.
const MILLICORES_MIN: u64 = 50;

impl Resource {
    /// A number of workers, threads, or connections, say, that the plan gives the system. No reading names it.
    pub const PARAMETER: Self = Self::new("parameter", "a parameter of the system");
}

/// A kind of intervention.
pub struct Kind {
    /// What is changed.
    pub what: &'static str,
    /// Of which resources one is the limit if throughput moves along.
    pub tests: &'static [Resource],
    /// Whether none of these is the limit if it does not.
    pub can_refute: bool,
    /// What is predicted of the limit.
    pub predicts: &'static str,
    /// When it is tried.
    pub when: &'static str,
    changes: fn(&Known) -> Vec<Candidate>,
}

/// Every kind, the cheapest and most telling first.
pub const INTERVENTIONS: &[Kind] = &[
    Kind {
        what: "twice the users",
        tests: &[Resource::LOAD],
        can_refute: true,
        predicts: "throughput rises with the users, unless something is saturated",
        when: "the load has `users`",
        changes: |known| known.users_times(2, 1),
    },
    Kind {
        what: "CPU time of the system −20 %",
        tests: CPU,
        can_refute: true,
        predicts: "throughput falls by as much",
        when: "control groups can be set; not where other processes use most of saturated cores",
        changes: |known| known.cpu_times(0.8),
    },
    Kind {
        what: "a parameter under `limits` one step up",
        tests: &[Resource::PARAMETER],
        can_refute: true,
        predicts: "throughput rises",
        when: "the system has `limits`",
        changes: Known::parameters_up,
    },
    Kind {
        what: "CPU quota of the system +25 %",
        tests: &[Resource::CPU_QUOTA],
        can_refute: true,
        predicts: "throughput rises",
        when: "the system has `resources: { cpu: … }`, and the machine has more",
        changes: Known::quota_up,
    },
    Kind {
        what: "2 ms on a dependency, or a quarter of the response time if that is more",
        tests: &[Resource::DEPENDENCY],
        can_refute: true,
        predicts: "response time rises, and throughput falls by as much",
        when: "what the system calls is the likely bottleneck, and the plan has a proxy between them",
        changes: Known::dependencies_slower,
    },
    Kind {
        what: "CPU time of the system −10 %",
        tests: CPU,
        can_refute: false,
        predicts: "throughput falls by as much: half of the effect of −20 %",
        when: "CPU is the likely bottleneck",
        changes: |known| if known.is_cpu_suspected() { known.cpu_times(0.9) } else { Vec::new() },
    },
    Kind {
        what: "twice the threads of the generator",
        tests: &[Resource::GENERATOR],
        can_refute: false,
        predicts: "throughput rises",
        when: "the load has `threads`, and there are cores for twice as many",
        changes: Known::threads_up,
    },
    Kind {
        what: "half the users",
        tests: &[],
        can_refute: false,
        predicts: "throughput falls with the users, unless something is saturated",
        when: "the load has 2 `users` or more",
        changes: |known| known.users_times(1, 2),
    },
];

const CPU: &[Resource] = &[Resource::MACHINE_CPU, Resource::ONE_CORE, Resource::CPU_QUOTA];

/// What is known of a configuration before anything is changed.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Of a load with users: how many.
    pub users: Option<u32>,
    /// The threads of the generator, if the plan says how many.
    pub threads: Option<u32>,
    /// How many cores the system may use.
    pub system_cores: usize,
    /// The same of the generator.
    pub generator_cores: usize,
    /// Whether its CPU time can be limited.
    pub can_limit_cpu: bool,
    /// The CPU time that the plan allows the system, in thousandths of a core.
    pub quota_millicores: Option<u64>,
    /// Parameters that may be changed.
    pub parameters: Vec<Parameter>,
    /// Proxies between parts of the system, by how many nanoseconds they delay each direction.
    pub proxies: Vec<(String, u64)>,
    /// The likely bottleneck.
    pub suspected: Option<Resource>,
    /// What was read.
    pub read: Readings,
}

/// A step of a parameter that may limit a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub from: String,
    /// The value to try.
    pub to: String,
    /// By how much that is more.
    pub factor: f64,
}

/// What was read in runs without any change, the median of all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readings {
    /// How many cores the machine has.
    pub cores: usize,
    /// How many cores the system used.
    pub used_cores: Option<f64>,
    /// The share of all cores that was busy.
    pub busy: Option<f64>,
    /// The share of a core that the busiest thread of the system used.
    pub busiest_thread: Option<f64>,
    /// The mean response time, in nanoseconds.
    pub response_ns: Option<f64>,
}

impl Readings {
    /// Of stored runs of one configuration.
    pub fn of(runs: &[&Run]) -> Result<Self, StoreError> {
        let (mut cores, mut used, mut busy, mut thread) = (0, Vec::new(), Vec::new(), Vec::new());
        let mut response = Vec::new();
        for run in runs {
            let measured = Measured::of(run)?;
            response.extend(measured.response.mean_ns);
            let of_system = measured.resources.as_ref().and_then(|all| all.cores_used(all.system.as_ref()?));
            used.extend(of_system);
            let signals = Signals::of(run);
            cores = cores.max(signals.as_ref().map_or(0, |signals| signals.cores));
            busy.extend(signals.as_ref().and_then(|signals| signals.busy));
            thread.extend(signals.as_ref().and_then(|signals| signals.busiest_thread));
        }
        Ok(Self {
            cores,
            used_cores: median(used),
            busy: median(busy),
            busiest_thread: median(thread),
            response_ns: median(response),
        })
    }
}

/// One change, before its kind says what it tests.
struct Candidate {
    name: String,
    change: Change,
    factor: f64,
    limit_from: f64,
    /// In place of those of its kind.
    tests: Option<Resource>,
}

/// The interventions that fit a configuration: those that test its likely bottleneck first.
pub fn interventions_for(known: &Known) -> Vec<Changed> {
    let mut all: Vec<Changed> = INTERVENTIONS.iter().flat_map(|kind| kind.changed(known)).collect();
    let is_about = |changed: &Changed| {
        known.suspected.is_some_and(|resource| {
            let tests =
                |code: &String| *code == resource.code || is_parameter(code) && may_be_parameter(resource);
            changed.tests.iter().any(tests)
        })
    };
    all.sort_by_key(|changed| !is_about(changed));
    (0..).zip(&mut all).for_each(|(rank, changed)| changed.rank = rank);
    all
}

fn is_parameter(code: &str) -> bool {
    code == Resource::PARAMETER.code
}

/// Whether what readings name may be the symptom of a parameter that is too low: too few workers leave cores idle, queues full,
/// and threads waiting.
fn may_be_parameter(resource: Resource) -> bool {
    let is_told = [Resource::LOAD, Resource::GENERATOR, Resource::MACHINE_CPU, Resource::CPU_QUOTA];
    !is_told.contains(&resource)
}

impl Kind {
    fn changed(&self, known: &Known) -> impl Iterator<Item = Changed> {
        (self.changes)(known).into_iter().filter(|candidate| candidate.factor != 1.0).map(|candidate| {
            let Candidate { name, change, factor, limit_from, tests } = candidate;
            let tests = tests.as_ref().map_or(self.tests, std::slice::from_ref);
            // The figure of a limit moves at least so much.
            let least = factor.powf(limit_from);
            let sign = if factor < 1.0 { "≤" } else { "≥" };
            Changed {
                prediction: format!("if it is the limit, throughput ×{factor:.2}, {sign} ×{least:.2}"),
                name,
                change,
                rank: 0,
                tests: tests.iter().map(|resource| resource.code.to_owned()).collect(),
                can_refute: self.can_refute,
                factor,
                limit_from,
            }
        })
    }
}

impl Known {
    fn users_times(&self, by: u32, over: u32) -> Vec<Candidate> {
        let Some(from) = self.users else { return Vec::new() };
        let Some(to) = from.checked_mul(by).map(|users| users / over).filter(|users| *users > 0) else {
            return Vec::new();
        };
        vec![Candidate {
            name: format!("users {from} → {to}"),
            change: Change::Users { users: to },
            factor: ratio(f64::from(to), f64::from(from)),
            limit_from: LIMIT_FROM_LESS,
            tests: None,
        }]
    }

    fn is_cpu_suspected(&self) -> bool {
        self.suspected.is_some_and(|resource| CPU.contains(&resource))
    }

    /// How many cores the system has at most, and which resource that is. Less than what it uses of cores that are not saturated
    /// would limit any system, and show nothing.
    fn cpu_at_most(&self) -> Option<(f64, Resource)> {
        if let Some(millicores) = self.quota_millicores {
            return Some((millicores as f64 / 1e3, Resource::CPU_QUOTA));
        }
        let Readings { used_cores, busy, busiest_thread, .. } = self.read;
        let (used, cores) = (used_cores?, self.system_cores as f64);
        let is_saturated = |share: Option<f64>| share.is_some_and(|share| share >= SATURATED);
        if self.suspected == Some(Resource::ONE_CORE) && is_saturated(busiest_thread) {
            return Some((used, Resource::ONE_CORE));
        }
        match is_saturated(busy) {
            true if used * 2.0 >= cores => Some((used, Resource::MACHINE_CPU)),
            true => None,
            false => Some((cores, Resource::MACHINE_CPU)),
        }
    }

    fn cpu_times(&self, factor: f64) -> Vec<Candidate> {
        let at_most = self.cpu_at_most().filter(|_| self.can_limit_cpu);
        let Some((at_most, resource)) = at_most else { return Vec::new() };
        let millicores = (at_most * factor * 1e3).round() as u64;
        if millicores < MILLICORES_MIN {
            return Vec::new();
        }
        vec![Candidate {
            name: format!("CPU {at_most:.2} → {:.2} cores", millicores as f64 / 1e3),
            change: Change::Cpu { millicores },
            factor,
            limit_from: LIMIT_FROM_LESS,
            tests: Some(resource),
        }]
    }

    fn quota_up(&self) -> Vec<Candidate> {
        let Some(from) = self.quota_millicores else { return Vec::new() };
        let to = from.saturating_mul(5) / 4;
        if to > self.system_cores as u64 * 1_000 {
            return Vec::new();
        }
        vec![Candidate {
            name: format!("CPU {:.2} → {:.2} cores", from as f64 / 1e3, to as f64 / 1e3),
            change: Change::Cpu { millicores: to },
            factor: ratio(to as f64, from as f64),
            limit_from: LIMIT_FROM_MORE,
            tests: None,
        }]
    }

    fn parameters_up(&self) -> Vec<Candidate> {
        let up = self.parameters.iter().map(|Parameter { name, from, to, factor }| Candidate {
            name: format!("{name} {from} → {to}"),
            change: Change::Parameter { name: name.clone(), value: to.clone() },
            factor: ratio(*factor, 1.0),
            limit_from: LIMIT_FROM_MORE,
            tests: None,
        });
        up.collect()
    }

    fn dependencies_slower(&self) -> Vec<Candidate> {
        let is_suspected = self.suspected == Some(Resource::DEPENDENCY);
        let Some(response_ns) = self.read.response_ns.filter(|_| is_suspected) else { return Vec::new() };
        let more_ns = DELAY_NS.max(response_ns / 4.0);
        let slower = self.proxies.iter().map(|(proxy, from_ns)| {
            let (from_us, to_us) = (*from_ns / 1_000, (*from_ns as f64 + more_ns / 2.0) as u64 / 1_000);
            Candidate {
                name: format!("round trip of proxy {proxy} +{:.1} ms", more_ns / 1e6),
                change: Change::Delay { proxy: proxy.clone(), delay_us: to_us.max(from_us) },
                factor: ratio(response_ns, response_ns + more_ns),
                limit_from: LIMIT_FROM_LESS,
                tests: None,
            }
        });
        slower.collect()
    }

    fn threads_up(&self) -> Vec<Candidate> {
        let Some(from) = self.threads else { return Vec::new() };
        let to = from.saturating_mul(2);
        if to as usize > self.generator_cores || self.users.is_some_and(|users| to > users) {
            return Vec::new();
        }
        vec![Candidate {
            name: format!("threads of the generator {from} → {to}"),
            change: Change::Threads { threads: to },
            factor: 2.0,
            limit_from: LIMIT_FROM_MORE,
            tests: None,
        }]
    }
}

/// With few digits, so that a store returns it as it was.
fn ratio(to: f64, from: f64) -> f64 {
    (to / from * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known { users: Some(8), system_cores: 2, generator_cores: 2, can_limit_cpu: true, ..Known::default() }
    }

    fn names(known: &Known) -> Vec<String> {
        interventions_for(known).into_iter().map(|changed| changed.name).collect()
    }

    #[test]
    fn what_tests_the_likely_bottleneck_comes_first() {
        let read = Readings {
            used_cores: Some(0.97),
            busy: Some(0.6),
            busiest_thread: Some(0.96),
            cores: 2,
            ..Readings::default()
        };
        let one_core = Known { suspected: Some(Resource::ONE_CORE), read, ..known() };
        assert_eq!(
            names(&one_core),
            ["CPU 0.97 → 0.78 cores", "CPU 0.97 → 0.87 cores", "users 8 → 16", "users 8 → 4"]
        );
        let waiting = Known {
            suspected: Some(Resource::UNKNOWN),
            parameters: vec![Parameter {
                name: "workers".to_owned(),
                from: "2".to_owned(),
                to: "3".to_owned(),
                factor: 1.5,
            }],
            read: Readings {
                used_cores: Some(0.2),
                busy: Some(0.3),
                busiest_thread: Some(0.1),
                cores: 2,
                ..Readings::default()
            },
            threads: Some(1),
            ..known()
        };
        assert_eq!(
            names(&waiting),
            [
                "workers 2 → 3",
                "users 8 → 16",
                "CPU 2.00 → 1.60 cores",
                "threads of the generator 1 → 2",
                "users 8 → 4"
            ]
        );
        assert_eq!(interventions_for(&waiting)[0].factor, 1.5);
    }

    #[test]
    fn cpu_is_never_limited_below_what_an_unsaturated_system_uses() {
        let at = |used, busy, thread, suspected| {
            let read = Readings {
                used_cores: Some(used),
                busy: Some(busy),
                busiest_thread: Some(thread),
                cores: 2,
                ..Readings::default()
            };
            Known { read, suspected: Some(suspected), ..known() }.cpu_at_most()
        };
        assert_eq!(
            at(1.0, 0.6, 0.3, Resource::ONE_CORE),
            Some((2.0, Resource::MACHINE_CPU)),
            "no thread is busy"
        );
        assert_eq!(at(1.5, 0.97, 0.9, Resource::MACHINE_CPU), Some((1.5, Resource::MACHINE_CPU)));
        assert_eq!(at(0.5, 0.97, 0.4, Resource::MACHINE_CPU), None, "others use most of the cores");
        let quota = Known { quota_millicores: Some(400), suspected: Some(Resource::CPU_QUOTA), ..known() };
        assert_eq!(
            names(&quota)[..3],
            ["CPU 0.40 → 0.32 cores", "CPU 0.40 → 0.50 cores", "CPU 0.40 → 0.36 cores"]
        );
        assert!(known().cpu_at_most().is_none(), "nothing was read");
    }

    #[test]
    fn a_dependency_is_slowed_down_where_it_is_the_likely_bottleneck() {
        let read = Readings { response_ns: Some(40e6), ..Readings::default() };
        let proxies = vec![("far".to_owned(), 5_000_000)];
        let suspected = Known { read, proxies, suspected: Some(Resource::DEPENDENCY), ..known() };
        let first = &interventions_for(&suspected)[0];
        assert_eq!(first.name, "round trip of proxy far +10.0 ms");
        assert_eq!(
            (&first.change, first.factor),
            (&Change::Delay { proxy: "far".to_owned(), delay_us: 10_000 }, 0.8)
        );
        let other = Known { suspected: Some(Resource::LOCK), ..suspected };
        assert!(names(&other).iter().all(|name| !name.contains("proxy")));
    }

    #[test]
    fn changes_that_change_nothing_are_left_out() {
        let one = Known { users: Some(1), ..known() };
        assert_eq!(names(&one), ["users 1 → 2"]);
        let open = Known { users: None, ..known() };
        assert!(names(&open).is_empty());
        let none = Known { can_limit_cpu: false, quota_millicores: Some(400), ..known() };
        assert!(names(&none).iter().all(|name| !name.starts_with("CPU 0.40 → 0.32")));
        let all = Known { quota_millicores: Some(2_000), ..known() };
        assert!(names(&all).iter().all(|name| !name.contains("2.50")), "the machine has no more");
    }
}
