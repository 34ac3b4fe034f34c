//! Checks which readings of a run refute the named bottleneck. Uses the result alone, and not the rules of the program.

use serde_json::Value;

/// Min cores in use by the system, or min busy share of the busiest core, if a single core is the limit.
const THREAD_BUSY_MIN: f64 = 0.4;
const CORE_BUSY_MIN: f64 = 0.75;
/// Min mean busy share of all cores if CPU time is the limit.
const MACHINE_BUSY_MIN: f64 = 0.6;
/// Mean busy share of all cores at which CPU time counts as exhausted.
const SATURATED: f64 = 0.9;
/// Share of the planned requests above which errors are significant.
const ERRORS_MAX: f64 = 0.05;

/// Min number of sleeps per answer that a contended lock causes.
const SLEEPS_MIN: f64 = 0.05;
/// Min ratio of the time that a system of low priority waits for a core to its CPU time.
const WAIT_MIN: f64 = 0.1;
/// Min number of cores in use by the system if garbage collection is the limit.
const COLLECTING_MIN: f64 = 0.1;
/// Size of a page. Less disk I/O or swap counts as none.
const BYTES_MIN: f64 = 4096.0;
const DISK_BYTES: [&str; 2] = ["/system/disk_read_bytes", "/system/disk_written_bytes"];
const MEMORY_BYTES: [&str; 2] = ["/system/disk_read_bytes", "/system/swap_peak_bytes"];
/// Median service times that a delayed ACK explains, in microseconds.
const DELAY_US: std::ops::Range<f64> = 35e3..65e3;

/// Returns a sentence for each reading that contradicts `resource`.
pub(crate) fn refutations(resource: &str, run: &Value) -> Vec<String> {
    let readings = Readings(run);
    let found = match resource {
        "one_core" => readings.no_busy_core(),
        "machine_cpu" => readings.idle_cores(),
        "generator" => readings.idle_generator(),
        "load" => readings.saturated(),
        "cpu_quota" => readings.zero("/system/throttled_s", "the quota never held the system back"),
        "request_queue" => readings.no_status(&["503"]),
        "rate_limit" if readings.errors() > ERRORS_MAX => readings.no_status(&["429", "503"]),
        "listen_queue" => readings.short_queue(),
        "lock" => readings.no_sleeps(),
        "disk" => readings.no_bytes(&DISK_BYTES, "the system read and wrote nothing on disks"),
        "memory" | "memory_limit" => {
            readings.no_bytes(&MEMORY_BYTES, "nothing was swapped, and the system read nothing from disks")
        }
        "errors" => readings.no_errors(),
        "priority" => readings.no_wait_for_a_core(),
        "garbage_collection" => readings.no_work(),
        "open_files" | "connection_limit" => readings.all_served(),
        "pool" => readings.nobody_waited(),
        "delayed_ack" => readings.other_times(),
        "bandwidth" => readings.late_first_byte(),
        _ => None,
    };
    found.into_iter().collect()
}

struct Readings<'a>(&'a Value);

impl Readings<'_> {
    fn number(&self, pointer: &str) -> Option<f64> {
        self.0.pointer(pointer).and_then(Value::as_f64)
    }

    fn cores(&self) -> Vec<f64> {
        let cores = self.0["cores"].as_array().map_or(&[][..], Vec::as_slice);
        cores.iter().filter_map(|core| core["busy"].as_f64()).collect()
    }

    fn busiest_core(&self) -> Option<f64> {
        self.cores().into_iter().reduce(f64::max)
    }

    /// Refutes that one core is the limit. The CPU use of the system is an upper bound for each of its threads.
    fn no_busy_core(&self) -> Option<String> {
        let (used, busiest) = (self.number("/system/cores_used")?, self.busiest_core()?);
        (used < THREAD_BUSY_MIN && busiest < CORE_BUSY_MIN).then(|| {
            format!(
                "the whole system used {used:.2} cores, and the busiest core was busy {:.0} %",
                busiest * 100.0
            )
        })
    }

    fn idle_cores(&self) -> Option<String> {
        let cores = self.cores();
        let busy = cores.iter().sum::<f64>() / cores.len() as f64;
        (busy < MACHINE_BUSY_MIN).then(|| format!("the cores were busy {:.0} % on average", busy * 100.0))
    }

    /// Refutes the generator if it was neither late nor short of CPU time.
    fn idle_generator(&self) -> Option<String> {
        let is_valid = self.0.pointer("/validity/verdict").is_some_and(|verdict| verdict == "valid");
        let busy = self.number("/generator/thread_cpu_share_max")?;
        let waited = self.number("/generator/run_queue_wait_share")?;
        (is_valid && busy < 0.5 && waited < 0.05).then(|| {
            format!(
                "the busiest thread of the generator used {:.0} % of a core, and waited {:.1} % for one",
                busy * 100.0,
                waited * 100.0
            )
        })
    }

    /// Refutes the load if the cores were exhausted, requests failed, or the backlog of an open load grew.
    fn saturated(&self) -> Option<String> {
        let used = self.number("/system/cores_used").unwrap_or(0.0);
        let cores = self.cores();
        let busy = cores.iter().sum::<f64>() / cores.len() as f64;
        if busy >= SATURATED && used >= 0.5 * cores.len() as f64 {
            return Some(format!("all cores were busy {:.0} %, the system used {used:.2}", busy * 100.0));
        }
        let errors = self.errors();
        if errors > ERRORS_MAX {
            return Some(format!("{:.0} % of the requests did not end ok", errors * 100.0));
        }
        let queue = (self.number("/window/backlog_end")?, self.number("/window/backlog_start")?);
        let is_open = self.0["model"] == "open";
        let ok = self.number("/outcomes/ok")?;
        (is_open && queue.0 - queue.1 > 0.1 * ok)
            .then(|| format!("the backlog rose from {} to {}", queue.1, queue.0))
    }

    fn errors(&self) -> f64 {
        let planned = self.number("/offered/planned").unwrap_or(0.0).max(1.0);
        let bad = ["/outcomes/rejected", "/outcomes/failed", "/outcomes/timed_out", "/offered/not_sent"];
        bad.iter().filter_map(|pointer| self.number(pointer)).sum::<f64>() / planned
    }

    fn zero(&self, pointer: &str, words: &str) -> Option<String> {
        (self.number(pointer)? == 0.0).then(|| words.to_owned())
    }

    fn no_status(&self, statuses: &[&str]) -> Option<String> {
        let count = |status: &&str| self.number(&format!("/statuses/{status}")).unwrap_or(0.0);
        let seen: f64 = statuses.iter().map(count).sum();
        (seen == 0.0).then(|| format!("no reply had the status {}", statuses.join(" or ")))
    }

    /// Refutes a lock if threads hardly slept: a thread that waits for a lock sleeps until it is woken.
    fn no_sleeps(&self) -> Option<String> {
        if self.number("/system/threads_peak")? < 2.0 {
            return Some("the system had one thread".to_owned());
        }
        let (sleeps, ok) = (self.number("/system/switches_voluntary")?, self.number("/outcomes/ok")?);
        (sleeps < SLEEPS_MIN * ok).then(|| format!("its threads slept {sleeps:.0} times for {ok:.0} answers"))
    }

    fn no_bytes(&self, of: &[&str; 2], words: &str) -> Option<String> {
        let bytes: f64 = of.iter().map(|pointer| self.number(pointer)).sum::<Option<f64>>()?;
        (bytes < BYTES_MIN).then(|| words.to_owned())
    }

    /// Refutes a limit on connections or files if each connection was answered more than once. A request in flight proves nothing: the
    /// kernel queues it even if no process accepts the connection.
    fn all_served(&self) -> Option<String> {
        let least = self.number("/spread/requests/min")?;
        (self.errors() == 0.0 && least >= 2.0)
            .then(|| format!("each connection was answered at least {least:.0} times, and no request failed"))
    }

    fn no_errors(&self) -> Option<String> {
        (self.errors() == 0.0).then(|| "all requests ended ok".to_owned())
    }

    /// Refutes a low priority if threads hardly waited for a core.
    fn no_wait_for_a_core(&self) -> Option<String> {
        let (waited, used) = (self.number("/system/run_queue_wait_s")?, self.number("/system/cpu_s")?);
        (waited < WAIT_MIN * used)
            .then(|| format!("its threads used {used:.2} s of CPU, and waited {waited:.2} s for it"))
    }

    /// Refutes garbage collection if the system used hardly any CPU time.
    fn no_work(&self) -> Option<String> {
        let used = self.number("/system/cores_used")?;
        (used < COLLECTING_MIN).then(|| format!("the system used {used:.2} cores"))
    }

    fn nobody_waited(&self) -> Option<String> {
        let in_flight = self.number("/generator/mean_in_flight")?;
        (in_flight < 1.2).then(|| format!("{in_flight:.1} requests were in flight"))
    }

    fn other_times(&self) -> Option<String> {
        let median = self.number("/service_time_us/p50")?;
        (!DELAY_US.contains(&median))
            .then(|| format!("half of the answers took up to {:.1} ms", median / 1e3))
    }

    fn late_first_byte(&self) -> Option<String> {
        let (first, all) = (self.number("/first_byte_us/mean")?, self.number("/service_time_us/mean")?);
        (first > 0.6 * all)
            .then(|| format!("the first byte came after {:.0} % of the time", first / all * 100.0))
    }

    /// Refutes a full listen queue if no connection waited in it and no request failed.
    fn short_queue(&self) -> Option<String> {
        let is_met = self.number("/system/listen_queue_peak")? > 0.0 || self.errors() > 0.0;
        (!is_met).then(|| "no connection waited to be accepted".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_threads_refute_one_core() {
        let mut run = serde_json::json!({ "system": { "cores_used": 0.1 }, "cores": [{ "busy": 0.3 }, { "busy": 0.2 }] });
        assert_eq!(refutations("one_core", &run).len(), 1);
        assert_eq!(refutations("machine_cpu", &run).len(), 1);
        run["cores"][0]["busy"] = 0.97.into();
        assert_eq!(refutations("one_core", &run), [""; 0]);
        run["system"]["cores_used"] = 1.9.into();
        run["cores"][1]["busy"] = 0.97.into();
        assert_eq!(refutations("load", &run).len(), 1);
        assert_eq!(refutations("machine_cpu", &run), [""; 0]);
    }

    #[test]
    fn resources_without_sleeps_or_waits_are_refuted() {
        let mut run = serde_json::json!({
            "connections": 8,
            "spread": { "requests": { "min": 120.0 } },
            "generator": { "mean_in_flight": 8.0 },
            "offered": { "planned": 1000 },
            "outcomes": { "ok": 1000 },
            "system": { "threads_peak": 9, "switches_voluntary": 10, "disk_read_bytes": 0, "disk_written_bytes": 0, "swap_peak_bytes": 0 },
            "service_time_us": { "p50": 5000.0, "mean": 5000.0 },
            "first_byte_us": { "mean": 4900.0 },
        });
        let all = ["lock", "disk", "memory", "memory_limit", "open_files", "delayed_ack", "bandwidth"];
        assert!(all.iter().all(|resource| refutations(resource, &run).len() == 1));
        assert_eq!(refutations("pool", &run), [""; 0]);
        run["system"] = serde_json::json!({
            "threads_peak": 9, "switches_voluntary": 2000, "disk_read_bytes": 1_000_000, "disk_written_bytes": 0, "swap_peak_bytes": 0
        });
        run["spread"]["requests"]["min"] = 0.0.into();
        run["service_time_us"] = serde_json::json!({ "p50": 44_000.0, "mean": 44_000.0 });
        assert!(all.iter().all(|resource| refutations(resource, &run).is_empty()));
        run["generator"]["mean_in_flight"] = 1.0.into();
        assert_eq!(refutations("pool", &run).len(), 1);
        run["system"]["threads_peak"] = 1.into();
        assert_eq!(refutations("lock", &run), ["the system had one thread"]);
    }

    #[test]
    fn errors_and_idle_generators_refute() {
        let run = serde_json::json!({
            "validity": { "verdict": "valid" },
            "generator": { "thread_cpu_share_max": 0.1, "run_queue_wait_share": 0.01 },
            "offered": { "planned": 100, "not_sent": 0 },
            "outcomes": { "ok": 60, "rejected": 40, "failed": 0, "timed_out": 0 },
            "statuses": { "200": 60, "500": 40 },
        });
        assert_eq!(refutations("generator", &run).len(), 1);
        assert_eq!(refutations("load", &run), ["40 % of the requests did not end ok"]);
        assert_eq!(refutations("request_queue", &run), ["no reply had the status 503"]);
        assert_eq!(refutations("rate_limit", &run).len(), 1);
        assert_eq!(refutations("errors", &run), [""; 0]);
        let run = serde_json::json!({
            "offered": { "planned": 60 },
            "outcomes": { "ok": 60 },
            "system": { "cores_used": 0.05, "cpu_s": 0.5, "run_queue_wait_s": 0.01 },
        });
        let all = ["errors", "priority", "garbage_collection"];
        assert!(all.iter().all(|resource| refutations(resource, &run).len() == 1));
    }
}
