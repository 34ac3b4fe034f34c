//! Sentences and figures that several formats share.

use record::Counts;
use store::{Generator, Verdict};

use crate::units::{count, decimal, duration};
use crate::view::View;

/// The identity, in two lines.
pub(crate) fn identity(counts: &Counts) -> [String; 2] {
    let Counts { planned, sent, not_sent, ok, refused, failed, timed_out, unfinished } = counts.to_owned();
    [
        format!("planned {} = sent {} + not sent {}", count(planned), count(sent), count(not_sent)),
        format!(
            "sent {} = ok {} + refused {} + failed {} + timed out {} + unfinished {}",
            count(sent),
            count(ok),
            count(refused),
            count(failed),
            count(timed_out),
            count(unfinished)
        ),
    ]
}

/// The load, and how long it lasted.
pub(crate) fn load(view: &View<'_>) -> String {
    let new = &view.run.new;
    let mut words = new.load_words.clone();
    if let Some(duration_s) = view.duration_s() {
        words.push_str(&format!(" · {} s", decimal(duration_s, 1)));
    }
    if new.warm_up_ns > 0 {
        words.push_str(&format!(" after {} s of warm-up", decimal(new.warm_up_ns as f64 / 1e9, 1)));
    }
    words
}

/// Verdict and validity in a clause.
pub(crate) fn verdict(view: &View<'_>) -> String {
    let sentence = match view.verdict {
        Verdict::Complete => "complete",
        Verdict::Degraded => "degraded: it went to its end, with losses",
        Verdict::Partial => "partial: it ended early",
        Verdict::Aborted => "aborted: a rule stopped it",
        Verdict::Invalid => "invalid: its figures must not be used",
    };
    format!("{sentence} · numbers {}", view.validity.verdict)
}

/// What the generator used.
pub(crate) fn generator(view: &View<'_>, generator: &Generator) -> String {
    let threads =
        if generator.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", generator.threads) };
    let mut words = format!(
        "{threads}, {} s CPU (user {} + system {})",
        decimal(generator.cpu_user_s + generator.cpu_sys_s, 2),
        decimal(generator.cpu_user_s, 2),
        decimal(generator.cpu_sys_s, 2)
    );
    if let Some(us) = view.generator_us_per_request() {
        words.push_str(&format!(", {} µs per request", decimal(us, 1)));
    }
    if let Some(us) = generator.wake_lag_p99_us {
        words.push_str(&format!(", woke up to {} late (p99)", duration(us * 1e3)));
    }
    words
}
