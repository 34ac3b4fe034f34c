//! Likely causes of event costs as text, shared by all formats.

use evidence::{EventCost, Run};
use judge::event_causes::of_occurrences;
use judge::words::percent;
use judge::{Bottleneck, Certainty, EventCauses};

use crate::bottleneck;
use crate::event_costs::CostedEvent;
use crate::item::{Escape, Fact, Item};
use crate::text::{listed, sanitize, truncate_list};
use crate::view::View;

/// Maximum number of causes of an event in a line. The first one has its evidence.
const CAUSES_MAX: usize = 3;
/// Maximum number of lines about events.
pub(crate) const LINES_MAX: usize = 6;
const NAMES_MAX: usize = 3;
const NAME_CHARACTERS_MAX: usize = 28;

/// Causes of one occurrence. `None` if its cost is unknown or zero.
pub(crate) fn of_occurrence(view: &View<'_>, happened: &CostedEvent<'_>) -> Option<EventCauses> {
    of_occurrences(&[(view.run, happened.cost?)])
}

/// Causes over all occurrences of an event in several runs.
pub(crate) fn pooled(views: &[&View<'_>], name: &str) -> Option<EventCauses> {
    let runs = views.iter().map(|view| view.run);
    let all: Vec<(&Run, &EventCost)> =
        runs.flat_map(|run| run.event_costs().iter().map(move |of| (run, of))).collect();
    let of_event: Vec<(&Run, &EventCost)> = all.into_iter().filter(|(_, of)| of.name == name).collect();
    of_occurrences(&of_event)
}

/// Causes, their shares, and the evidence. May quote names: escape it.
pub(crate) fn words(found: &EventCauses) -> String {
    let mut parts = Vec::new();
    match (&found.why_unknown, found.causes.as_slice()) {
        (Some(why), _) => parts.push(format!("cause not known: {why}")),
        (None, [first, others @ ..]) => {
            parts.push(match first.certainty {
                Certainty::Unknown => format!("cause not known: {}", first.because),
                _ => format!("{}: {}", likely(first), first.because),
            });
            parts.extend(others.iter().take(CAUSES_MAX - 1).map(|cause| format!("then {}", likely(cause))));
        }
        (None, []) => return String::new(),
    }
    if found.why_unknown.is_none() && found.explained < found.felt {
        parts.push(format!("known of {} of {}", found.explained, found.felt));
    }
    parts.extend(meanwhile(found));
    parts.join("; ")
}

/// Data that the causes are based on, or the reason why the causes are unknown. May quote names: escape it.
pub(crate) fn about(found: &EventCauses) -> String {
    if let Some(why) = &found.why_unknown {
        return format!("not known: {why}");
    }
    let seconds =
        if found.seconds == 1 { "1 second".to_owned() } else { format!("{} seconds", found.seconds) };
    let known = match (found.explained, found.felt) {
        (1, 1) => String::new(),
        (explained, felt) => format!(", of {explained} of {felt} occurrences that cost something"),
    };
    let meanwhile = meanwhile(found).map_or_else(String::new, |words| format!("; {words}"));
    format!("suspected from the readings of {seconds} in which the event was felt{known}{meanwhile}")
}

/// Other events in the seconds of the cost. `None` if there were none.
fn meanwhile(found: &EventCauses) -> Option<String> {
    let names = found.meanwhile.iter().map(|name| sanitize(name, NAME_CHARACTERS_MAX));
    let names = listed(names, NAMES_MAX, ", ");
    (!names.is_empty()).then(|| format!("{names} went on in the same seconds, so it may be the cause"))
}

/// Most likely cause as a short phrase, without figures that vary between runs. May quote names: escape it.
pub(crate) fn short(found: &EventCauses) -> String {
    match found.causes.first() {
        Some(first) if first.certainty != Certainty::Unknown => bottleneck::likely(first),
        Some(_) => "cause not known: no reading of its seconds explains it".to_owned(),
        None => format!("cause not known: {}", found.why_unknown.as_deref().unwrap_or_default()),
    }
}

/// Formats the shares of the most likely causes: ` (90 % to 93 % of the response time)`. Empty if one is unknown.
pub(crate) fn shares<'f>(found: impl Iterator<Item = &'f EventCauses>) -> String {
    let shares = found.map(|found| found.causes.first().and_then(|cause| cause.share));
    let Some(mut shares) = shares.collect::<Option<Vec<f64>>>() else { return String::new() };
    shares.sort_by(f64::total_cmp);
    match (shares.first(), shares.last()) {
        (Some(least), Some(most)) => {
            let [least, most] = [least, most].map(|share| percent(*share, 0));
            let to = if least == most { most } else { format!("{least} to {most}") };
            format!(" ({to} of the response time)")
        }
        _ => String::new(),
    }
}

/// Formats a cause: `likely locks inside the database (93 % of the response time)`.
fn likely(cause: &Bottleneck) -> String {
    let share = cause.share.map(|share| format!(" ({} of the response time)", percent(share, 0)));
    format!("{}{}", bottleneck::likely(cause), share.unwrap_or_default())
}

/// Formats one line per event, with its name and causes.
pub(crate) fn facts(found: impl Iterator<Item = (String, EventCauses)>, escape: Escape) -> Vec<Fact> {
    let line = |(name, found): (String, EventCauses)| format!("{name}: {}", escape(&words(&found)));
    let mut lines: Vec<String> = found.map(line).collect();
    truncate_list(&mut lines, LINES_MAX, |more| format!("and {more} more"));
    lines.into_iter().map(|line| Fact::new("cause", line)).collect()
}

/// Item of these lines. `None` without any.
pub(crate) fn items(facts: Vec<Fact>) -> Option<Item> {
    (!facts.is_empty()).then_some(Item::Facts(facts))
}
