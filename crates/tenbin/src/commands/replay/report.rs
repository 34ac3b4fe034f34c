//! Reports of a log and of its replay. Statements are shown by fingerprint, so that no value of the log is printed.

use std::fmt::Write as _;

use replay::play::FingerprintOutcome;
use replay::{Recorded, SharedSessions};
use runner::{ReplayFigures, Replayed, Traffic};
use serde_json::{Value, json};

/// Number of rows of tables on a terminal.
const ROWS_MAX: usize = 20;
/// Number of characters of a fingerprint in a table.
const SHOWN_CHARS_MAX: usize = 72;

/// A replay that is over.
pub(super) struct FinishedReplay<'a> {
    pub(super) recorded: &'a Recorded,
    pub(super) traffic: &'a Traffic,
    pub(super) replayed: &'a Replayed,
    pub(super) to: &'a str,
    pub(super) speed: Option<f64>,
    /// Connections that sessions share. `None` if each session has its own.
    pub(super) shared: Option<SharedSessions>,
}

/// Report of a dry run.
pub(super) fn log_report(recorded: &Recorded, speed: Option<f64>) -> String {
    let Recorded { survey, format, lines, .. } = recorded;
    let noun = recorded.format.traffic.noun;
    let mut text = format!(
        "{} in {} ({}), {}{}\n",
        counted(survey.statements, noun),
        counted(*lines, "line"),
        format.name,
        sessions(recorded),
        counted(survey.fingerprints.len() as u64, "fingerprint")
    );
    let length_s = survey.length_ns() as f64 / 1e9;
    let _ = match speed {
        Some(factor) => writeln!(
            text,
            "expected duration {:.1} s at {factor}x ({length_s:.1} s in the log)",
            length_s / factor
        ),
        None => writeln!(text, "expected duration unknown without pauses ({length_s:.1} s in the log)"),
    };
    let _ = writeln!(text, "{} may write", counted(survey.writes, noun));
    if survey.has_whole_seconds && survey.statements > 0 {
        let _ = writeln!(text, "times are in whole seconds: {noun}s are spread evenly over each second");
    }
    let _ = writeln!(text, "\n{:>9}  {:>8}  {:>10}  {noun}", "count", "errors", "mean");
    let mut order: Vec<usize> = (0..survey.fingerprints.len()).collect();
    order.sort_by_key(|number| std::cmp::Reverse(survey.fingerprints[*number].count));
    order.retain(|number| survey.fingerprints[*number].count > 0);
    for number in order.iter().take(ROWS_MAX) {
        let counted = &survey.fingerprints[*number];
        let mean = mean(counted.duration_ns.0, counted.duration_ns.1);
        let _ = writeln!(
            text,
            "{:>9}  {:>8}  {mean:>10}  {}",
            counted.count,
            counted.errors,
            shown(&counted.text)
        );
    }
    more(&mut text, order.len());
    skipped(&mut text, recorded);
    text
}

/// Report of a dry run for programs.
pub(super) fn log_json(recorded: &Recorded, speed: Option<f64>) -> Value {
    let Recorded { survey, format, lines, skipped, .. } = recorded;
    let fingerprints: Vec<Value> = survey
        .fingerprints
        .iter()
        .filter(|counted| counted.count > 0)
        .map(|counted| {
            let (sum_ns, with_duration) = counted.duration_ns;
            json!({
                "text": counted.text,
                "count": counted.count,
                "errors": counted.errors,
                "writes": counted.writes,
                "mean_us": (with_duration > 0).then(|| sum_ns as f64 / 1e3 / with_duration as f64),
            })
        })
        .collect();
    let skipped: Vec<Value> = skipped
        .list()
        .map(|(reason, count, line)| {
            json!({ "reason": reason.key(), "words": reason.words(), "count": count, "first_line": line })
        })
        .collect();
    json!({
        "schema": "tenbin.replay/1",
        "tenbin_version": env!("CARGO_PKG_VERSION"),
        "log": {
            "format": format.name,
            "lines": lines,
            "statements": survey.statements,
            "writes": survey.writes,
            "sessions": survey.sessions(),
            "peak_sessions": survey.peak_sessions(),
            "length_s": survey.length_ns() as f64 / 1e9,
            "has_whole_seconds": survey.has_whole_seconds,
            "skipped": skipped,
        },
        "speed": speed,
        "expected_s": speed.map(|factor| survey.length_ns() as f64 / 1e9 / factor),
        "fingerprints": fingerprints,
    })
}

impl FinishedReplay<'_> {
    /// Report for people.
    pub(super) fn text(&self) -> String {
        let (noun, sums) = (self.recorded.format.traffic.noun, self.sums());
        let mut text = format!("{}\n", self.first_line(&sums));
        let Replayed { all, took, connections, threads, .. } = self.replayed;
        let took_s = took.as_secs_f64();
        let unsent = self.unsent();
        let _ = writeln!(
            text,
            "{:.0} {noun}s/s, p50 {}, p99 {}; {}{unsent} not sent; {}, {}",
            all.sent as f64 / took_s.max(1e-9),
            time(all.service_p50_ns),
            time(all.service_p99_ns),
            outcomes(all),
            counted(*connections, "connection"),
            counted(u64::from(*threads), "thread"),
        );
        let _ = writeln!(text, "{}", self.delays());
        if let Some(SharedSessions { own, connections, waiting, wait_max_ns }) = self.shared {
            let _ = writeln!(
                text,
                "{} share {}: {} waited for another one, for at most {} of the log",
                counted(own as u64, "session"),
                counted(connections as u64, "connection"),
                counted(waiting, "transaction"),
                time(Some(wait_max_ns)),
            );
        }
        let errors: Vec<String> =
            self.replayed.errors.iter().map(|(class, count)| format!("{class} {count}")).collect();
        if !errors.is_empty() {
            let _ = writeln!(text, "errors: {}", errors.join(", "));
        }
        text.push_str(&self.locks(&sums));
        if self.replayed.was_stopped {
            let _ = writeln!(text, "stopped early: {noun}s that were not due are not counted");
        }
        self.table(&mut text);
        self.differences(&mut text);
        skipped(&mut text, self.recorded);
        text
    }

    fn first_line(&self, sums: &FingerprintOutcome) -> String {
        let noun = self.recorded.format.traffic.noun;
        let head = format!(
            "replayed {}{} in {:.1} s on {}",
            counted(self.replayed.all.sent, noun),
            sessions_of(self.recorded),
            self.replayed.took.as_secs_f64(),
            self.to
        );
        let results = format!("{} same, {} differ, {} unknown", sums.same, sums.differs, sums.unknown);
        match sums.divergence() {
            Some(share) if share > FingerprintOutcome::DIVERGENCE_MAX => {
                format!("diverged: {:.1} % of results differ from the log; {head}: {results}", share * 100.0)
            }
            _ => format!("{head}: {results}"),
        }
    }

    /// Line about waits for locks that were ended. Empty if there were none.
    fn locks(&self, sums: &FingerprintOutcome) -> String {
        if sums.lock_waits + sums.deadlocks == 0 {
            return String::new();
        }
        format!(
            "locks: {} ended after {}, {} ended by the server; the log has none of them\n",
            counted(sums.lock_waits, "wait"),
            time(self.traffic.lock_wait_max_ns),
            counted(sums.deadlocks, "deadlock")
        )
    }

    /// Send delays, and the part of the generator in them.
    fn delays(&self) -> String {
        let Replayed { all, generator_delay_p99_ns, generator_delay_max_ns, .. } = self.replayed;
        if self.speed.is_none() {
            return "without pauses, so no send delay".to_owned();
        }
        format!(
            "send delay p99 {}, max {} (own delay of the generator: p99 {}, max {}); the rest waited for earlier replies of their session",
            time(all.delay_p99_ns),
            time(all.delay_max_ns),
            time(*generator_delay_p99_ns),
            time(Some(*generator_delay_max_ns)),
        )
    }

    /// Number of statements that were due and not sent: their transaction was lost, or no connection could be opened.
    fn unsent(&self) -> u64 {
        let outcomes = self.traffic.outcomes.list();
        let replies: u64 = outcomes.iter().map(|outcome| outcome.replies).sum();
        (self.traffic.trace.len() as u64).saturating_sub(replies)
    }

    fn sums(&self) -> FingerprintOutcome {
        self.traffic.outcomes.sums()
    }

    /// Fingerprints with their results, by total time.
    fn rows(&self) -> Vec<(usize, ReplayFigures, FingerprintOutcome)> {
        let outcomes = self.traffic.outcomes.list();
        let mut rows: Vec<(usize, ReplayFigures, FingerprintOutcome)> = outcomes
            .into_iter()
            .enumerate()
            .map(|(number, outcome)| {
                (number, self.replayed.by_fingerprint.get(number).copied().unwrap_or_default(), outcome)
            })
            .filter(|(_, _, outcome)| outcome.replies + outcome.unsent > 0)
            .collect();
        rows.sort_by_key(|(_, figures, _)| std::cmp::Reverse(figures.service_sum_ns));
        rows
    }

    fn table(&self, text: &mut String) {
        let heads = ["count", "time", "log mean", "mean", "p99", "errors", "rows", "differ"];
        let [count, time_head, before, now, p99, errors, rows_head, differ] = heads;
        let _ = writeln!(
            text,
            "\n{count:>9}  {time_head:>6}  {before:>9}  {now:>9}  {p99:>9}  {errors:>7}  {rows_head:>9}  {differ:>7}  {}",
            self.recorded.format.traffic.noun
        );
        let rows = self.rows();
        let all_ns: u64 = rows.iter().map(|(_, figures, _)| figures.service_sum_ns).sum();
        for (number, figures, outcome) in rows.iter().take(ROWS_MAX) {
            let logged = &self.recorded.survey.fingerprints[*number];
            let share = 100.0 * figures.service_sum_ns as f64 / (all_ns as f64).max(1.0);
            let _ = writeln!(
                text,
                "{:>9}  {share:>4.1} %  {:>9}  {:>9}  {:>9}  {:>7}  {:>9}  {:>7}  {}",
                outcome.replies,
                mean(logged.duration_ns.0, logged.duration_ns.1),
                mean(figures.service_sum_ns, figures.sent),
                time(figures.service_p99_ns),
                outcome.errors,
                outcome.rows,
                outcome.differs,
                shown(&logged.text)
            );
        }
        more(text, rows.len());
    }

    fn differences(&self, text: &mut String) {
        let differences = self.traffic.outcomes.differences();
        if differences.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n{:>9}  {:<20}  {:<20}  {}",
            "differ", "log", "replay", self.recorded.format.traffic.noun
        );
        for (difference, count) in differences.iter().take(ROWS_MAX) {
            let fingerprint = &self.recorded.survey.fingerprints[usize::from(difference.fingerprint)];
            let (logged, replayed) = (&difference.logged, &difference.replayed);
            let _ = writeln!(text, "{count:>9}  {logged:<20}  {replayed:<20}  {}", shown(&fingerprint.text));
        }
        more(text, differences.len());
    }

    /// Machine-readable report: the report of the log, with the results of the replay.
    pub(super) fn json(&self) -> Value {
        let (mut value, sums, Replayed { all, .. }) =
            (log_json(self.recorded, self.speed), self.sums(), self.replayed);
        let fingerprints: Vec<Value> = self
            .rows()
            .iter()
            .map(|(number, figures, outcome)| self.row(*number, figures, outcome))
            .collect();
        let differences: Vec<Value> = self
            .traffic
            .outcomes
            .differences()
            .iter()
            .map(|(difference, count)| {
                json!({
                    "text": self.recorded.survey.fingerprints[usize::from(difference.fingerprint)].text,
                    "log": difference.logged,
                    "replay": difference.replayed,
                    "count": count,
                })
            })
            .collect();
        let replay = json!({
            "to": self.to,
            "took_s": self.replayed.took.as_secs_f64(),
            "planned": all.planned,
            "sent": all.sent,
            "outcomes": all.outcomes.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<serde_json::Map<_, _>>(),
            "not_sent": self.unsent(),
            "was_stopped": self.replayed.was_stopped,
            "service_p50_us": microseconds(all.service_p50_ns),
            "service_p99_us": microseconds(all.service_p99_ns),
            "delay_p99_us": microseconds(all.delay_p99_ns),
            "delay_max_us": microseconds(all.delay_max_ns),
            "generator": {
                "delay_p99_us": microseconds(self.replayed.generator_delay_p99_ns),
                "delay_max_us": microseconds(Some(self.replayed.generator_delay_max_ns)),
                "cpu_s": self.replayed.generator_cpu_ns as f64 / 1e9,
                "threads": self.replayed.threads,
            },
            "connections": self.replayed.connections,
            "shared": self.shared.map(|shared| json!({
                "connections_of_log": shared.own,
                "connections": shared.connections,
                "transactions_waiting": shared.waiting,
                "wait_max_us": microseconds(Some(shared.wait_max_ns)),
            })),
            "errors": self.replayed.errors.iter().map(|(class, count)| json!({ "class": class, "count": count })).collect::<Vec<_>>(),
            "same": sums.same,
            "differs": sums.differs,
            "unknown": sums.unknown,
            "lost_with_transaction": sums.unsent,
            "lock_waits_ended": sums.lock_waits,
            "lock_wait_max_us": microseconds(self.traffic.lock_wait_max_ns),
            "deadlocks": sums.deadlocks,
            "divergence": sums.divergence(),
            "differences": differences,
        });
        if let Value::Object(object) = &mut value {
            object.insert("replay".to_owned(), replay);
            object.insert("fingerprints".to_owned(), Value::Array(fingerprints));
        }
        value
    }

    fn row(&self, number: usize, figures: &ReplayFigures, outcome: &FingerprintOutcome) -> Value {
        let logged = &self.recorded.survey.fingerprints[number];
        let (sum_ns, with_duration) = logged.duration_ns;
        json!({
            "text": logged.text,
            "count": outcome.replies,
            "errors": outcome.errors,
            "rows": outcome.rows,
            "same": outcome.same,
            "differs": outcome.differs,
            "unknown": outcome.unknown,
            "not_sent": outcome.unsent,
            "log": {
                "count": logged.count,
                "errors": logged.errors,
                "mean_us": (with_duration > 0).then(|| sum_ns as f64 / 1e3 / with_duration as f64),
            },
            "sum_us": figures.service_sum_ns as f64 / 1e3,
            "p50_us": microseconds(figures.service_p50_ns),
            "p99_us": microseconds(figures.service_p99_ns),
        })
    }
}

/// Outcomes that occurred, with their numbers, each followed by a comma.
fn outcomes(figures: &ReplayFigures) -> String {
    let occurred = figures.outcomes.iter().filter(|(_, count)| *count > 0);
    occurred.map(|(name, count)| format!("{count} {}, ", name.replace('_', " "))).collect()
}

/// A number with its noun: `1 request`, `2 requests`.
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn sessions(recorded: &Recorded) -> String {
    let survey = &recorded.survey;
    match survey.sessions() {
        0 => String::new(),
        count => format!("{}, {} at once, ", counted(count as u64, "session"), survey.peak_sessions()),
    }
}

fn sessions_of(recorded: &Recorded) -> String {
    match recorded.survey.sessions() {
        0 => String::new(),
        count => format!(" of {}", counted(count as u64, "session")),
    }
}

fn skipped(text: &mut String, recorded: &Recorded) {
    let skipped: Vec<_> = recorded.skipped.list().collect();
    if skipped.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{:>9}  skipped (first line)", "lines");
    for (reason, count, line) in skipped {
        let _ = writeln!(text, "{count:>9}  {} ({line})", reason.words());
    }
}

fn more(text: &mut String, rows: usize) {
    if rows > ROWS_MAX {
        let _ = writeln!(text, "{:>9}  further rows: --format json", rows - ROWS_MAX);
    }
}

fn shown(fingerprint: &str) -> String {
    let one_line = fingerprint.replace(['\n', '\r', '\t'], " ");
    match one_line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

fn mean(sum_ns: u64, count: u64) -> String {
    time(sum_ns.checked_div(count))
}

fn time(ns: Option<u64>) -> String {
    match ns {
        None => "-".to_owned(),
        Some(ns) if ns < 1_000_000 => format!("{:.0} µs", ns as f64 / 1e3),
        Some(ns) if ns < 1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        Some(ns) => format!("{:.2} s", ns as f64 / 1e9),
    }
}

fn microseconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e3)
}
