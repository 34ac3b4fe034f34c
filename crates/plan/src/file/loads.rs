//! The section `load`: each load becomes a draft, which the rules of the command line check.

use load::Scenarios;

use super::quick::Quick;
use super::reading::Reading;
use super::span::Span;
use super::tree::{Node, Value};
use crate::draft::{Draft, Played};
use crate::fault::Fault;
use crate::study::StudyLoad;
use crate::units;

/// A URL for checking what does not hang on one.
pub(crate) const ANY_URL: &str = "http://127.0.0.1:1/";

/// A database, for the same.
const ANY_DATABASE: &str = "mysql://x@127.0.0.1/x?ssl-mode=DISABLED";
const ANY_WORKLOAD: &str = "select-only";

/// Flags in the texts of faults, and the keys that say the same; longer ones first, so that none hides in another.
const KEYS: [(&str, &str); 26] = [
    ("--ramp-from 10/s or --stages 0s:10/s,…", "`from: 10/s`"),
    ("write a rate such as 10s:100/s", "let a stage go `to` a rate such as 100/s"),
    ("write 10s:100/s,30s:500/s", "let a stage take some time, such as `for: 10s`"),
    ("add -R (or --stages)", "add `rate`, or `stages`"),
    ("such as -d 30s", "such as `for: 30s`"),
    ("--connect-timeout", "`connect-timeout`"),
    ("--latency-limit", "`latency-limit`"),
    ("--log-requests", "`log-requests`"),
    ("--no-room-check", "`room-check`"),
    ("--pool", "`pool`"),
    ("--throughput", "`throughput`"),
    ("--shed-after", "`shed-after`"),
    ("--ramp-from", "`from`"),
    ("--arrivals", "`arrivals`"),
    ("--warm-up", "`warm-up`"),
    ("--extend", "`extend`"),
    ("--ramp-up", "`ramp-up`"),
    ("--timeout", "`timeout`"),
    ("--threads", "`threads`"),
    ("--stages", "`stages`"),
    ("--pacing", "`pacing`"),
    ("--think", "`think`"),
    ("-R", "`rate`"),
    ("-d", "`for`"),
    ("-n", "`requests`"),
    ("-c", "`connections`"),
];

/// Reads every load; `quick` changes them.
pub(crate) fn read(
    node: Option<&Node>,
    seed: u64,
    quick: Option<&Quick<'_>>,
    reading: &mut Reading<'_>,
) -> Vec<StudyLoad> {
    let Some(node) = node else { return Vec::new() };
    let count = node.items().len();
    let mut loads: Vec<StudyLoad> = Vec::new();
    for node in node.items() {
        let named = node.get("name");
        match named.and_then(|named| Some((named, named.text()?))) {
            Some((named, name)) => {
                reading.own_name(name, named.at, "load");
                if loads.iter().any(|load| load.name == name) {
                    reading.at(named.at, format!("another load is named {name:?}"), "choose another name");
                }
            }
            None if count > 1 && !node.entries().is_empty() && named.is_none() => {
                let at = node.entries().first().map_or(node.at, |entry| entry.key_at);
                reading.at(at, "each of several loads needs a name", "add a name, such as `name: steady`");
            }
            None => {}
        }
        let text = LoadText { node, quick };
        let draft = text.draft(seed, reading);
        match draft.check() {
            Ok(plan) => loads.push(StudyLoad {
                name: named.and_then(Node::text).map_or_else(|| short_words(node), str::to_owned),
                words: plan.load_words(),
                stop_words: plan.stop_words(),
                warm_up_ns: plan.warm_up_ns,
                timeout_ns: plan.timeout_ns,
                run_ns: plan.planned_ns(),
                scenario: node.text_of("scenario").map(str::to_owned),
                draft,
            }),
            Err(faults) => faults.into_iter().for_each(|fault| text.tell(fault, reading)),
        }
    }
    loads
}

/// Loads that follow a scenario which is not there.
pub(crate) fn check_scenarios(node: Option<&Node>, scenarios: &Scenarios, reading: &mut Reading<'_>) {
    let names =
        || scenarios.list.iter().map(|scenario| scenario.name.as_str()).filter(|name| !name.is_empty());
    for node in node.map_or(&[][..], Node::items).iter().filter_map(|load| load.get("scenario")) {
        let Some(name) = node.text().filter(|name| !names().any(|known| known == *name)) else { continue };
        if names().next().is_none() {
            reading.at(node.at, "the only scenario has no name, and all loads follow it", "leave it out");
        } else {
            let what = format!("there is no scenario `{name}`");
            reading.findings.unknown(node.at, what, name, names(), "write one of");
        }
    }
}

/// `100 users`, `500/s`.
fn short_words(node: &Node) -> String {
    match (node.text_of("users"), node.text_of("rate")) {
        (Some("1"), _) => "1 user".to_owned(),
        (Some(users), _) => format!("{users} users"),
        (None, Some(rate)) if rate.contains('/') => rate.to_owned(),
        (None, Some(rate)) => format!("{rate}/s"),
        (None, None) => "stages".to_owned(),
    }
}

struct LoadText<'a> {
    node: &'a Node,
    quick: Option<&'a Quick<'a>>,
}

impl LoadText<'_> {
    fn text(&self, key: &str) -> Option<String> {
        self.node.text_of(key).map(str::to_owned)
    }

    /// The value of a key, or what a quick run has instead.
    fn changed(&self, key: &str) -> Option<String> {
        self.quick.and_then(|quick| quick.node.text_of(key)).or(self.node.text_of(key)).map(str::to_owned)
    }

    fn draft(&self, seed: u64, reading: &mut Reading<'_>) -> Draft {
        let is_open = self.model(reading);
        let stages = self.stages();
        let measured = if stages.is_some() { self.text("for") } else { self.changed("for") };
        // A clash is told by the rules, but only for what the file itself says.
        let only = |key: &str, belongs: bool| self.text(key).filter(|_| belongs);
        Draft {
            url: if reading.is_sql { ANY_DATABASE } else { ANY_URL }.to_owned(),
            played: if reading.is_sql { vec![Played::Workload(ANY_WORKLOAD.to_owned())] } else { Vec::new() },
            pool: self.text("pool"),
            no_room_check: self.node.text_of("room-check") == Some("false"),
            latency_limit: self.text("latency-limit"),
            connections: if is_open { self.text("connections") } else { self.text("users") },
            requests: self.text("requests"),
            duration: measured,
            warm_up: self.changed("warm-up"),
            // A short form has no time for it.
            extend: self.text("extend").filter(|_| self.quick.is_none()),
            rate: only("rate", is_open),
            ramp_from: self.text("from"),
            stages: stages.filter(|_| is_open),
            arrivals: self.text("arrivals"),
            shed_after: self.text("shed-after"),
            think: self.text("think"),
            pacing: self.text("pacing"),
            ramp_up: self.text("ramp-up"),
            throughput: self.text("throughput"),
            timeout: self.text("timeout"),
            connect_timeout: self.text("connect-timeout"),
            no_keepalive: self.node.text_of("keep-alive") == Some("false"),
            threads: self.text("threads"),
            log_requests: self.text("log-requests"),
            seed: Some(seed.to_string()),
            ..Draft::default()
        }
    }

    /// Whether requests start at times of their own.
    fn model(&self, reading: &mut Reading<'_>) -> bool {
        let (users, open) =
            (self.node.entry("users"), ["rate", "stages"].into_iter().find_map(|key| self.node.entry(key)));
        match (users, open) {
            (Some(users), Some(open)) => {
                let second = if users.key_at < open.key_at { open } else { users };
                let what = format!(
                    "`users` wait for replies, `{}` waits for nothing: a load has one of them",
                    open.key
                );
                reading.at(second.key_at, what, "leave out one of the two");
                users.key_at < open.key_at
            }
            (Some(_), None) => {
                if let Some(connections) = self.node.entry("connections") {
                    let what = "`connections` goes with `rate`: each of the `users` has one of its own";
                    reading.at(connections.key_at, what, "leave it out");
                }
                false
            }
            (None, Some(_)) => true,
            (None, None) => {
                let entries = self.node.entries();
                let is_told = entries.iter().any(|entry| reading.findings.has_at(entry.key_at));
                if let Some(first) = entries.first().filter(|_| !is_told) {
                    let what = "this load does not say how much";
                    reading.at(first.key_at, what, "add `users: 10`, or `rate: 100/s`");
                }
                false
            }
        }
    }

    /// Stages as they are written on a command line; those of a quick run take its time together.
    fn stages(&self) -> Option<String> {
        let stages = self.node.get("stages")?.items().iter();
        let stages: Vec<(u64, &str)> = stages
            .filter_map(|stage| Some((units::duration_ns(stage.text_of("for")?).ok()?, stage.text_of("to")?)))
            .collect();
        let total_ns: u64 = stages.iter().map(|(for_ns, _)| *for_ns).fold(0, u64::saturating_add);
        let quick = self.quick.and_then(|quick| units::duration_ns(quick.node.text_of("for")?).ok());
        let quick_ns = quick.filter(|quick_ns| *quick_ns < total_ns);
        let scaled = |for_ns: u64| match quick_ns {
            Some(quick_ns) => (u128::from(for_ns) * u128::from(quick_ns) / u128::from(total_ns)) as u64,
            None => for_ns,
        };
        let stages = stages.iter().map(|(for_ns, to)| format!("{}ns:{to}", scaled(*for_ns)));
        Some(stages.collect::<Vec<_>>().join(","))
    }

    fn tell(&self, fault: Fault, reading: &mut Reading<'_>) {
        // About what goes with what, the key is wrong; else the value.
        let is_about_key = [
            "there is none",
            "for users who wait",
            "meant to be steady",
            "ends the load",
            "it is for databases",
            "both give",
            "say how long",
        ]
        .iter()
        .any(|words| fault.what.contains(words));
        let at = self.place(&fault.place, is_about_key).unwrap_or(self.node.at);
        let is_empty = self.node.get("stages").is_some_and(|stages| {
            stages.items().iter().any(|stage| {
                stage.entries().iter().any(|entry| {
                    reading.findings.has_at(entry.value.at) || reading.findings.has_at(entry.key_at)
                })
            })
        });
        if reading.findings.has_at(at) || (fault.place == "--stages" && is_empty) {
            return;
        }
        let both = if fault.place.contains(" and ") {
            format!("{}: ", in_keys(&fault.place))
        } else {
            String::new()
        };
        let when = if self.quick.is_some() { "in a quick run, " } else { "" };
        reading.at(at, format!("{when}{both}{}", in_keys(&fault.what)), in_keys(&fault.way_out));
    }

    fn place(&self, flag: &str, is_about_key: bool) -> Option<Span> {
        let key = match flag {
            "-R" | "-R and --stages" => "rate",
            "-d" | "-d and --stages" => "for",
            "-n" => "requests",
            "--extend and --stages" | "--extend and -n" => "extend",
            "-c" if self.node.get("users").is_some() => "users",
            "-c" => "connections",
            "--ramp-from" => "from",
            flag => flag.trim_start_matches('-'),
        };
        let quick = self.quick.and_then(|quick| quick.node.entry(key));
        let entry = quick.or_else(|| self.node.entry(key))?;
        let is_long = !matches!(entry.value.value, Value::Text(_));
        Some(if is_about_key || is_long { entry.key_at } else { entry.value.at })
    }
}

/// A text about flags, as a text about keys.
fn in_keys(text: &str) -> String {
    KEYS.iter().fold(text.to_owned(), |text, (flag, key)| text.replace(flag, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fault_of_a_load_speaks_of_flags() {
        let some = |text: &str| Some(text.to_owned());
        let base = || Draft { url: ANY_URL.to_owned(), ..Draft::default() };
        let drafts = [
            Draft {
                rate: some("5/s"),
                stages: some("1s:5/s"),
                duration: some("5s"),
                think: some("1s"),
                ..base()
            },
            Draft { shed_after: some("1s"), arrivals: some("even"), ramp_from: some("1/s"), ..base() },
            Draft { rate: some("5/s"), ramp_from: some("1/s"), requests: some("5"), ..base() },
            Draft {
                rate: some("5/s"),
                ramp_from: some("0/s"),
                warm_up: some("5s"),
                duration: some("5s"),
                ..base()
            },
            Draft { stages: some("0s:5/s"), shed_after: some("1us"), ..base() },
            Draft { stages: some("5s:0/s"), timeout: some("1s"), connect_timeout: some("2s"), ..base() },
            Draft {
                ramp_up: some("20s"),
                threads: some("60"),
                log_requests: some("1M"),
                requests: some("0"),
                ..base()
            },
            Draft {
                connections: some("0"),
                throughput: some("0/s"),
                pacing: some("1s"),
                duration: some("0s"),
                ..base()
            },
        ];
        let faults: Vec<Fault> = drafts.iter().filter_map(|draft| draft.check().err()).flatten().collect();
        assert!(faults.len() > 14, "{faults:?}");
        for fault in faults {
            let text = format!("{} {}", in_keys(&fault.what), in_keys(&fault.way_out));
            let is_flag = |word: &str| word.starts_with('-') && word.len() > 1;
            assert!(!text.split([' ', '(', '`']).any(is_flag), "{text}");
        }
    }
}
