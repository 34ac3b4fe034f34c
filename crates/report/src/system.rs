//! Facts about the system under load, as JSON and as text.

use judge::{Resources, Usage};
use serde_json::{Map, Value, json};

use crate::text::sanitize;
use crate::units::{count, decimal, mebibytes};
use crate::view::View;

/// Name of the probe that reads the processes of the system.
const PROCESSES: &str = "processes of the system";
/// Maximum number of characters of a reason.
const REASON_CHARACTERS_MAX: usize = 300;
/// Maximum number of characters of a name or version.
const TEXT_CHARACTERS_MAX: usize = 80;

/// Name, variant, resource usage, and other stored facts of the system. `None` without any. The keys of the contract come first.
pub(crate) fn object(view: &View<'_>) -> Option<Map<String, Value>> {
    let (place, resources) = (view.place(), view.measured.resources.as_ref());
    let used = resources.and_then(|resources| Some((resources, resources.system.as_ref()?)));
    let kept = view.run.ending.as_ref().and_then(|ending| ending.system.as_ref()).and_then(Value::as_object);
    let version = view.run.new.system_version.as_ref();
    if place.is_none() && used.is_none() && kept.is_none() && version.is_none() {
        return None;
    }
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(place.map(|place| &place.system)));
    object.insert("variant".to_owned(), json!(place.map(|place| &place.variant)));
    object.insert("cpu_s".to_owned(), json!(used.map(|(_, usage)| usage.cpu_s())));
    let rss_peak_bytes = used.and_then(|(_, usage)| usage.rss_peak_bytes).map(whole);
    object.insert("rss_peak_bytes".to_owned(), json!(rss_peak_bytes));
    for (key, value) in kept.into_iter().flatten() {
        let own = object.entry(key.clone()).or_insert(Value::Null);
        if own.is_null() {
            *own = value.clone();
        }
    }
    if let Some(place) = place {
        let knobs = place.knobs.iter().map(|(knob, value)| (knob.clone(), json!(value))).collect();
        object.insert("knobs".to_owned(), Value::Object(knobs));
    }
    if let Some(version) = version {
        object.insert("version".to_owned(), json!(version));
    }
    if let Some((resources, usage)) = used {
        object.extend(details(usage));
        object.extend(limits(usage));
        object.insert("cores_used".to_owned(), json!(resources.cores_used(usage)));
        object.insert("cpu_us_per_request".to_owned(), json!(view.system_us_per_request()));
        if let Some(per_mb) = view.system_switches_per_mb() {
            object.insert("switches_per_mb".to_owned(), json!(per_mb));
        }
        object.insert("processes".to_owned(), processes(resources));
    }
    Some(object)
}

fn details(usage: &Usage) -> impl Iterator<Item = (String, Value)> + use<> {
    let counts = [
        ("processes_peak", usage.processes_peak),
        ("threads_peak", usage.threads_peak),
        ("swap_peak_bytes", usage.swap_peak_bytes),
        ("disk_read_bytes", usage.disk_read_bytes),
        ("disk_written_bytes", usage.disk_written_bytes),
        ("open_files_peak", usage.open_files_peak),
        ("listen_queue_peak", usage.listen_queue_peak),
        ("switches_voluntary", usage.switches_voluntary),
        ("switches_involuntary", usage.switches_involuntary),
    ];
    let times = [
        ("cpu_user_s", json!(usage.cpu_user_s)),
        ("cpu_sys_s", json!(usage.cpu_sys_s)),
        ("run_queue_wait_s", json!(usage.run_queue_wait_s)),
    ];
    let counts = counts.map(|(key, figure)| (key, json!(figure.map(whole))));
    times.into_iter().chain(counts).map(|(key, figure)| (key.to_owned(), figure))
}

/// Resource limits of a system, and its usage of them.
fn limits(usage: &Usage) -> impl Iterator<Item = (String, Value)> + use<> {
    let cpu = usage.cpu_quota_cores.map(|cores| ("cpu_quota_cores", json!(cores)));
    // The readings may include throttling without a quota of the system, such as that of the generator.
    let throttled = usage.throttled_s.filter(|_| cpu.is_some()).map(|time| ("throttled_s", json!(time)));
    let charged = usage.memory_charged_peak_bytes.filter(|_| usage.memory_limit_bytes.is_some());
    let charged = charged.map(|bytes| ("memory_charged_peak_bytes", json!(whole(bytes))));
    let limit = usage.memory_limit_bytes.map(|bytes| ("memory_limit_bytes", json!(whole(bytes))));
    [cpu, throttled, charged, limit].into_iter().flatten().map(|(key, figure)| (key.to_owned(), figure))
}

fn processes(resources: &Resources) -> Value {
    let one = |(name, usage): &(String, Usage)| {
        let cores_used = resources.cores_used(usage);
        json!({
            "name": name, "cpu_s": usage.cpu_s(), "cores_used": cores_used,
            "rss_peak_bytes": usage.rss_peak_bytes.map(whole),
        })
    };
    resources.processes.iter().map(one).collect()
}

/// Lines about the system: name, version, and resource usage in the measured time. Control characters are escaped, and texts
/// shortened.
pub(crate) fn words(view: &View<'_>) -> Vec<String> {
    let short = |text: &str| sanitize(text, TEXT_CHARACTERS_MAX);
    let name = view.place().map(|place| place.system.as_str());
    let version = view.run.new.system_version.as_deref();
    let mut lines: Vec<String> = match (name, version) {
        (Some(name), Some(version)) => vec![format!("{} ({})", short(name), short(version))],
        (name, version) => name.or(version).map(short).into_iter().collect(),
    };
    let missing = view.run.ending.iter().flat_map(|ending| &ending.not_available);
    let unread = missing.filter(|(probe, _)| probe == PROCESSES);
    lines.extend(unread.map(|(_, why)| format!("not read: {}", sanitize(why, REASON_CHARACTERS_MAX))));
    let Some(resources) = &view.measured.resources else { return lines };
    let Some(usage) = &resources.system else { return lines };
    if let Some(cores) = resources.cores_used(usage) {
        let share = |cpu_s: f64| decimal(resources.per_s(usage, cpu_s), 2);
        let (user, sys) = (share(usage.cpu_user_s), share(usage.cpu_sys_s));
        let mut cpu = format!("{} cores (user {user} + system {sys})", decimal(cores, 2));
        if let Some(us) = view.system_us_per_request() {
            cpu.push_str(&format!(", {} µs per {}", decimal(us, 1), view.noun().one));
        }
        lines.push(cpu);
    }
    if let Some(per_mb) = view.system_switches_per_mb() {
        lines.push(format!("{} context switches per MB", decimal(per_mb, 1)));
    }
    let memory = usage.rss_peak_bytes.map(|bytes| format!("{} MiB max", mebibytes(whole(bytes))));
    let many = |figure: Option<f64>, name: &str| match figure {
        Some(1.0) => Some(format!("1 {name}")),
        Some(figure) => {
            Some(format!("{} {name}{}", count(whole(figure)), if name.ends_with('s') { "es" } else { "s" }))
        }
        None => None,
    };
    let (processes, threads) = (many(usage.processes_peak, "process"), many(usage.threads_peak, "thread"));
    let size: Vec<String> = [memory, processes, threads].into_iter().flatten().collect();
    if !size.is_empty() {
        lines.push(size.join(", "));
    }
    lines.extend(limit_words(resources, usage));
    lines
}

/// Formats limits: `limits: 0.40 of 0.40 cores, held back for 5.8 s, summed over cores; 61.2 of 64.0 MiB`.
fn limit_words(resources: &Resources, usage: &Usage) -> Option<String> {
    let cpu = usage.cpu_quota_cores.map(|quota| {
        let used = resources.cores_used(usage).map_or("n/a".to_owned(), |cores| decimal(cores, 2));
        let held_back = usage
            .throttled_s
            .map(|time| format!(", held back for {} s, summed over cores", decimal(time, 1)));
        format!("{used} of {} cores{}", decimal(quota, 2), held_back.unwrap_or_default())
    });
    let memory = usage
        .memory_limit_bytes
        .zip(usage.memory_charged_peak_bytes)
        .map(|(limit, charged)| format!("{} of {} MiB", mebibytes(whole(charged)), mebibytes(whole(limit))));
    let both: Vec<String> = [cpu, memory].into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("limits: {}", both.join("; ")))
}

/// Converts a stored figure back to the count that it was.
pub(crate) fn whole(figure: f64) -> u64 {
    figure.clamp(0.0, u64::MAX as f64) as u64
}
