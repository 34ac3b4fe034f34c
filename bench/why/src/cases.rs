//! Table of all cases. Each case has a plan in `cases/` that plants a bottleneck, and the resources that count as its name.

use crate::flags::Profile;
use crate::grade::NamedBottleneck;
use crate::neighbor::Neighbor;

/// Codes that name no resource. `waiting` means that the system waits for something of its own that was not identified.
pub(crate) const UNKNOWN: [&str; 3] = ["unknown", "waiting", "none"];

/// A bottleneck to plant.
pub(crate) struct Case {
    /// Name of its plan, without `.yaml`.
    pub(crate) name: &'static str,
    /// Codes of the resources that count as right, the closest first. Two at most; a comment gives the reason for a second one.
    pub(crate) accepts: &'static [&'static str],
    /// Word that the sentence must also contain. `None` if any sentence will do.
    pub(crate) mentions: Option<&'static str>,
    /// Words about a report of the system in instrumented runs of an experiment, which follows the run. `None` without an experiment.
    pub(crate) report: Option<Report>,
    /// Word that the error must contain if the program rejects the plan before the load. `None` if a rejection is not right.
    pub(crate) rejection: Option<&'static str>,
    /// CPU limit of the generator.
    pub(crate) generator: Generator,
    /// Load from other processes during the run. `None` if only `--noisy` adds one.
    pub(crate) neighbor: Option<Neighbor>,
    /// Whether the short profile includes the case.
    pub(crate) is_short: bool,
}

/// Words about the report of a system in instrumented runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Report {
    /// The report contains these words.
    Has(&'static str),
    /// The report does not contain these words.
    Lacks(&'static str),
}

/// Limit on the generator's cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Generator {
    Free,
    Quota(f64),
}

impl Case {
    const fn new(name: &'static str, accepts: &'static [&'static str]) -> Self {
        Self {
            name,
            accepts,
            mentions: None,
            report: None,
            rejection: None,
            generator: Generator::Free,
            neighbor: None,
            is_short: false,
        }
    }

    const fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    const fn mentioning(self, word: &'static str) -> Self {
        Self { mentions: Some(word), ..self }
    }

    const fn with_experiment(self, report: Report) -> Self {
        Self { report: Some(report), ..self }
    }

    const fn or_rejected(self, word: &'static str) -> Self {
        Self { rejection: Some(word), ..self }
    }

    const fn with_generator(self, cores: f64) -> Self {
        Self { generator: Generator::Quota(cores), ..self }
    }

    const fn next_to(self, neighbor: Neighbor) -> Self {
        Self { neighbor: Some(neighbor), ..self }
    }

    /// Whether `said` names the planted bottleneck.
    pub(crate) fn is_met_by(&self, said: &NamedBottleneck) -> bool {
        let has = |word: Option<&str>| word.is_none_or(|word| said.sentence.contains(word));
        let is_rejected = self.rejection.is_some() && said.resource == "none" && has(self.rejection);
        let has_error_at = match self.report {
            None => true,
            Some(Report::Has(words)) => said.report.contains(words),
            Some(Report::Lacks(words)) => !said.report.contains(words),
        };
        is_rejected || self.accepts.contains(&said.resource.as_str()) && has(self.mentions) && has_error_at
    }

    /// Whether `resource` contradicts the planted bottleneck: it blames the generator or the load for a limit of the system, or reports a
    /// limit where there is none.
    pub(crate) fn is_contradicted_by(&self, resource: &str) -> bool {
        if self.accepts.contains(&"load") {
            !UNKNOWN.contains(&resource) && !self.accepts.contains(&resource)
        } else {
            ["generator", "load"].contains(&resource) && !self.accepts.contains(&resource)
        }
    }
}

/// Cases in run order.
pub(crate) const CASES: &[Case] = &[
    // CPU time.
    Case::new("python-cpu", &["one_core"]).short(),
    Case::new("node-cpu", &["one_core"]),
    // The interpreter lock limits all threads to one core, so both names are right.
    Case::new("python-gil", &["one_core", "lock"]),
    Case::new("c-one-core", &["one_core"]),
    Case::new("python-both-cores", &["machine_cpu"]),
    Case::new("c-both-cores", &["machine_cpu"]).short(),
    Case::new("cpu-quota", &["cpu_quota"]).short(),
    // A low priority only slows the system down because cores are short, so both names are right.
    Case::new("nice-19", &["priority", "machine_cpu"]).next_to(Neighbor::Always),
    Case::new("pin-auto", &["one_core", "machine_cpu"]).mentioning("pin"),
    // Locks and pools.
    Case::new("c-mutex", &["lock"]).short(),
    Case::new("java-monitor", &["lock"]),
    // Threads that wait for a spinlock keep the cores busy. Only arithmetic on the readings shows that they spin.
    Case::new("c-spinlock", &["machine_cpu"]).mentioning("spin"),
    Case::new("c-pool", &["pool"]),
    Case::new("python-pool", &["pool"]),
    Case::new("java-pool", &["pool"]),
    Case::new("libuv-pool", &["pool"]),
    // The pool has one thread, which keeps one core busy.
    Case::new("libuv-one-thread", &["pool", "one_core"]),
    Case::new("database-pool", &["pool"]),
    // No thread waits for the full pool of an event loop, and the loop's connections do not show that they are busy.
    Case::new("pgbouncer-pool", &["unknown"]).mentioning("what limits them was not seen"),
    // Ruby's lock limits all threads to one core, so both names are right.
    Case::new("puma-one-lock", &["one_core", "lock"]),
    // All threads or workers wait for another server, and requests wait for them.
    Case::new("puma-upstream", &["pool", "dependency"]),
    Case::new("unicorn-workers", &["pool", "dependency"]),
    // Queues, limits, and rejections.
    Case::new("accept-backlog", &["listen_queue"]),
    Case::new("unix-backlog", &["listen_queue"]),
    Case::new("queue-503", &["request_queue"]).short(),
    // The queue rejects requests because the pool that drains it is full.
    Case::new("queue-503-late", &["request_queue", "pool"]),
    Case::new("limit-429", &["rate_limit"]),
    // Only the even spacing of the answers shows the limit, and spacing names no resource.
    Case::new("shaping", &["unknown"]).mentioning("at an even distance"),
    Case::new("nginx-limit-req", &["rate_limit"]),
    // A rate limit in bytes per second.
    Case::new("nginx-limit-rate", &["bandwidth", "rate_limit"]),
    // nginx limits its own connections.
    Case::new("nginx-connections", &["connections", "connection_limit"]),
    Case::new("open-files", &["open_files"]),
    Case::new("node-open-files", &["open_files"]),
    Case::new("errors-500", &["errors"]),
    // Databases.
    Case::new("postgres-row-lock", &["database_lock"]),
    Case::new("postgres-table-lock", &["database_lock"]),
    Case::new("mariadb-row-lock", &["database_lock"]),
    // Commits wait for the log, which waits for the disk.
    Case::new("postgres-fsync", &["database_log", "disk"]),
    // Rows that do not fit into the cache are read from the disk.
    Case::new("mariadb-reads", &["database_cache", "disk"]),
    Case::new("app-max-connections", &["connection_limit"]),
    Case::new("max-connections", &["connection_limit"]).short().or_rejected("connections"),
    Case::new("role-connections", &["connection_limit"]).or_rejected("connections"),
    // Redis: one thread runs all commands.
    Case::new("redis-keys", &["store_command"]).mentioning("KEYS"),
    Case::new("redis-eval", &["store_command"]).mentioning("EVAL"),
    Case::new("redis-sort", &["store_command"]).mentioning("SORT"),
    Case::new("redis-lrange", &["store_command"]).mentioning("LRANGE"),
    Case::new("redis-sunion", &["store_command"]).mentioning("SUNIONSTORE"),
    Case::new("redis-hgetall", &["store_command"]).mentioning("HGETALL"),
    Case::new("redis-zrange", &["store_command"]).mentioning("ZRANGE"),
    Case::new("redis-scan-count", &["store_command"]).mentioning("SCAN"),
    // Most calls of the command are fast. The slow log shows the others.
    Case::new("redis-big-key", &["store_command"]).mentioning("slow log"),
    // Memory above the limit of the control group is swapped.
    Case::new("redis-swap", &["memory", "memory_limit"]),
    Case::new("redis-one-core", &["one_core"]),
    Case::new("redis-hot-key", &["one_core"]),
    Case::new("redis-hot-key-sampled", &["one_core"]).with_experiment(Report::Has("were on the key hot")),
    // The store reports the time of its thread, and one command in eight is on each key.
    Case::new("redis-uniform-keys", &["one_core"]).with_experiment(Report::Lacks("were on the key")),
    Case::new("redis-evictions", &["store_memory"]),
    // Rejected writes count as errors, and the full memory causes them.
    Case::new("redis-noeviction", &["store_memory", "errors"]),
    Case::new("redis-aof-always", &["store_log", "disk"]),
    Case::new("redis-snapshots", &["store_fork"]),
    Case::new("redis-blpop", &["store_blocked"]),
    Case::new("redis-maxclients", &["connection_limit"]).or_rejected("connections"),
    Case::new("redis-bandwidth", &["bandwidth"]),
    Case::new("redis-cpu-quota", &["cpu_quota"]),
    Case::new("redis-freezes", &["stopped"]),
    Case::new("redis-lone-user", &["load"]),
    Case::new("redis-think-time", &["load"]),
    // Disks and memory.
    Case::new("fdatasync", &["disk"]),
    Case::new("iops-cap", &["disk"]).short(),
    Case::new("memory-limit", &["memory_limit"]),
    // Waits for other services, and pauses.
    // No resource is short: four users wait for a reply of 50 ms.
    Case::new("dependency-few-users", &["dependency", "load"]).short(),
    Case::new("dependency-proxy", &["dependency"]).short(),
    Case::new("jvm-full-gc", &["pauses", "garbage_collection"]),
    Case::new("freezes", &["stopped"]),
    Case::new("event-loop-pauses", &["pauses"]),
    Case::new("slow-log", &["log_pipe"]),
    Case::new("split-answers", &["delayed_ack"]),
    // The generator, and loads below capacity.
    Case::new("generator-one-thread", &["generator"]),
    Case::new("generator-quota", &["generator"]).with_generator(0.1),
    // The load has too few connections, and they belong to the generator.
    Case::new("open-5-connections", &["connections", "generator"]),
    Case::new("think-time", &["load"]).short(),
    Case::new("lone-user", &["load"]).short(),
    Case::new("open-answered", &["load"]).short(),
    Case::new("healthy-sleep", &["load"]),
    Case::new("healthy-nginx", &["load"]).short(),
];

/// Returns the case with this name. `None` if there is none.
pub(crate) fn named(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// Returns the cases named in `only`, or those of the profile if `only` is empty.
pub(crate) fn chosen(profile: Profile, only: &[String]) -> Result<Vec<&'static Case>, String> {
    if only.is_empty() {
        return Ok(CASES.iter().filter(|case| profile == Profile::Full || case.is_short).collect());
    }
    let unknown = |name: &String| {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        format!("there is no case {name}; there are {}", names.join(", "))
    };
    only.iter().map(|name| named(name).ok_or_else(|| unknown(name))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    #[test]
    fn every_case_has_a_plan_and_every_plan_is_a_case() {
        let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cases")).unwrap();
        let names = files.filter_map(|file| {
            file.unwrap().file_name().to_string_lossy().strip_suffix(".yaml").map(str::to_owned)
        });
        let cases: BTreeSet<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
        assert_eq!(names.collect::<BTreeSet<_>>(), cases);
        assert_eq!(cases.len(), CASES.len(), "a name is there twice");
    }

    #[test]
    fn one_resource_names_a_case_or_two_do() {
        for case in CASES {
            assert!((1..=2).contains(&case.accepts.len()), "{}", case.name);
            assert!(case.accepts.iter().all(|code| !case.is_contradicted_by(code)), "{}", case.name);
        }
    }

    #[test]
    fn cases_are_chosen_by_name_or_profile() {
        let chosen = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            chosen(Profile::Full, &only).map(|cases| cases.len())
        };
        assert_eq!(chosen(&[]), Ok(CASES.len()));
        assert_eq!(chosen(&["c-mutex", "c-pool"]), Ok(2));
        assert!(chosen(&["c-mutexes"]).is_err_and(|error| error.contains("c-mutex,")));
    }

    #[test]
    fn a_rejection_with_the_word_is_as_good() {
        let said = |why: &str| NamedBottleneck::without_bottleneck(why);
        let case = named("max-connections").unwrap();
        assert!(case.is_met_by(&said("error: the server takes 7 connections")));
        assert!(!case.is_met_by(&said("error: unknown key")));
        assert!(!named("c-mutex").unwrap().is_met_by(&said("a lock")));
    }
}
