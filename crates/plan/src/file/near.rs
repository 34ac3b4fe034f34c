//! Finds the known name that an unknown one is probably meant to be: a synonym or a typo. Used for "did you mean …?".

use judge::METRICS;

/// Max length of names that are compared. Typos in longer names are unlikely, and the time grows with the product of the lengths.
const NAME_LENGTH_MAX: usize = 64;
const KNOWN_MAX: usize = 300;
const LISTED_MAX: usize = 30;

/// Words of other tools and of everyday use, with Tenbin's names. The first name that is known at the place wins. Synonyms of
/// metrics are in the list of metrics.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["duration", "time", "seconds", "period", "run-time"], &["for", "within"]),
    (&["vus", "virtual-users", "clients", "concurrency", "num-threads", "user-count"], &["users", "jobs"]),
    (&["rps", "qps", "tps", "arrival-rate", "requests-per-second", "constant-arrival-rate"], &["rate"]),
    (&["max-rate"], &["throughput"]),
    (&["iterations", "count", "loops", "loop-count", "n"], &["requests"]),
    (&["think-time", "wait-time", "pause", "sleep", "delay"], &["think"]),
    (&["ramp", "spawn-time", "ramp-time"], &["ramp-up"]),
    (&["warm-up-time", "warmup-time"], &["warm-up"]),
    (&["phases"], &["stages"]),
    (&["time-out", "max-duration"], &["timeout", "within"]),
    (&["time-limit", "time-budget", "budget", "max-time"], &["within"]),
    (&["target", "base-url", "host", "endpoint", "server", "address"], &["url"]),
    (&["steps", "flow"], &["scenario"]),
    (&["loads"], &["load"]),
    (&["variants", "services", "servers", "targets"], &["systems"]),
    (&["thresholds", "slo", "slos", "conditions", "assertions", "checks", "ensure"], &["gates", "expect"]),
    (&["comparison", "experiment"], &["compare"]),
    (&["title", "description"], &["question"]),
    (&["command", "cmd", "exec", "execute"], &["run"]),
    (&["command", "cmd", "run", "exec", "execute", "entrypoint"], &["start"]),
    (&["environment", "envs", "env-vars"], &["env"]),
    (&["cwd", "dir", "directory", "working-dir", "working-directory", "workdir"], &["in"]),
    (&["setup", "pre", "init"], &["before"]),
    (&["teardown", "cleanup", "post"], &["after"]),
    (&["depends-on", "requires"], &["needs"]),
    (&["health", "healthcheck", "wait-for", "readiness"], &["ready"]),
    (&["http", "path", "uri", "url"], &["get"]),
    (&["method"], &["request"]),
    (&["query", "statement"], &["sql"]),
    (&["parameters", "params", "matrix", "knobs"], &["vary"]),
    (&["include"], &["only"]),
    (&["exclude"], &["except"]),
    (&["capture", "extract", "store"], &["save"]),
    (&["status-code", "code"], &["status"]),
    (&["contains", "text"], &["body"]),
    (&["regex", "matches", "pattern"], &["body-matches", "body"]),
    (&["json-path", "pointer"], &["json"]),
    (&["file"], &["csv", "template", "script"]),
    (&["random", "range"], &["uniform"]),
    (&["metric"], &["by"]),
    (&["repeat", "repetitions", "rounds", "runs", "samples"], &["blocks"]),
    (&["effect", "min-difference", "threshold", "tolerance", "delta"], &["min-effect"]),
];

/// Lowercase name without separators: `thinkTime`, `think_time`, and `think-time` are equal.
fn normalize(name: &str) -> String {
    name.to_lowercase().replace(['_', ' ', '-'], "")
}

/// Known name that has this word as a synonym.
pub(crate) fn synonym<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = normalize(name);
    let stands_for = |words: &[&str]| words.iter().any(|word| normalize(word) == name);
    let keys = SYNONYMS.iter().filter(|(words, _)| stands_for(words)).flat_map(|(_, names)| *names);
    let metrics = METRICS.iter().filter(|metric| stands_for(metric.synonyms)).map(|metric| &metric.name);
    keys.chain(metrics).find_map(|name| known.iter().copied().find(|known| known == name))
}

/// Known name that was probably intended. `None` if none is close.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_LENGTH_MAX {
        return None;
    }
    let known: Vec<&str> = known.take(KNOWN_MAX).collect();
    if let Some(meant) = synonym(name, &known) {
        return Some(meant);
    }
    let dashed = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let wanted = dashed(name);
    let distances: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|known| known.len() <= NAME_LENGTH_MAX)
        .map(|known| {
            let candidate = dashed(known);
            // Some pairs are close at any length: `warmup` and `warm-up`, `users` and `user`, `connection` and `connections`.
            let is_same = candidate.replace('-', "") == wanted.replace('-', "");
            let distance = if is_same { 0 } else { strsim::osa_distance(&wanted, &candidate) };
            (distance, known)
        })
        .collect();
    let (distance, nearest) = *distances.iter().min_by_key(|(distance, _)| *distance)?;
    // If several names are equally close, none is suggested.
    if distances.iter().any(|(other, name)| *other == distance && *name != nearest) {
        return None;
    }
    let allowed = match wanted.chars().count().max(nearest.chars().count()) {
        0..=2 => 0,
        3..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    (distance <= allowed).then_some(nearest)
}

/// Joins names as `a`, `b`, `c`, and limits their number so that the list stays readable.
pub(crate) fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "(none)".to_owned();
    }
    let mut listed: Vec<String> = names.iter().take(LISTED_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > LISTED_MAX {
        listed.push(format!("and {} more", names.len() - LISTED_MAX));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["users", "warm-up", "for", "connections", "rate"];

    #[test]
    fn recognizes_slips_only() {
        let near = |name| nearest(name, KEYS.into_iter());
        assert_eq!(near("user"), Some("users"));
        assert_eq!(near("warmup"), Some("warm-up"));
        assert_eq!(near("Warm_Up"), Some("warm-up"));
        assert_eq!(near("conections"), Some("connections"));
        assert_eq!(near("raet"), Some("rate"));
        assert_eq!(near("durations"), None);
        assert_eq!(near("xx"), None);
        assert_eq!(nearest("p98", ["p90", "p95", "p99"].into_iter()), None);
        assert_eq!(near(&"u".repeat(10_000)), None);
    }

    #[test]
    fn maps_words_of_other_tools() {
        let near = |name| nearest(name, ["users", "for", "think", "rate", "requests"].into_iter());
        for (theirs, ours) in [
            ("duration", "for"),
            ("vus", "users"),
            ("think_time", "think"),
            ("thinkTime", "think"),
            ("rps", "rate"),
            ("iterations", "requests"),
        ] {
            assert_eq!(near(theirs), Some(ours), "{theirs}");
        }
        assert_eq!(nearest("avg", ["throughput", "mean", "p99"].into_iter()), Some("mean"));
        assert_eq!(nearest("command", ["start", "ready"].into_iter()), Some("start"));
        assert_eq!(nearest("duration", ["within"].into_iter()), Some("within"));
    }

    #[test]
    fn limits_length_of_list() {
        assert_eq!(listed(&["a", "b"]), "`a`, `b`");
        assert_eq!(listed(&[]), "(none)");
        assert!(listed(&["a"; 40]).ends_with("and 10 more"));
    }
}
