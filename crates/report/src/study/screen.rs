//! Fits a report on one screen of a terminal: moves less urgent lines to the details.

use crate::item::{Fact, Item};
use crate::text::wrap;

/// Maximum height of a report on two variants, which fits on the smallest terminal, and of any other one.
const PAIR_LINES_MAX: usize = 24;
const LINES_MAX: usize = 40;
/// Width of a screen.
const COLUMNS: usize = 100;
/// Width of the name of a fact.
const NAME_COLUMNS: usize = 12;
/// Lines at the end: two empty ones, a hint on how to see more, and a command that may take two lines.
const END_LINES: usize = 5;

/// Urgency of a line, which decides when it is omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    /// Fact that is never omitted.
    Fact,
    /// Advice, which the details and the page have, too.
    Help,
    /// Output of a process.
    Quote,
}

/// Number of lines that these items leave for facts, in a report on so many variants.
pub(super) fn room<'a>(items: impl IntoIterator<Item = &'a Item>, variants: usize) -> usize {
    let all = if variants <= 2 { PAIR_LINES_MAX } else { LINES_MAX };
    all.saturating_sub(items.into_iter().map(lines).sum::<usize>() + END_LINES)
}

/// Selects the facts that fit into `room` lines, in their order. Removes quotes first, then advice, beginning with the last. Also
/// returns whether the rest fits.
pub(super) fn fitted(mut facts: Vec<(Urgency, Fact)>, room: usize) -> (Vec<Fact>, bool) {
    let mut used: usize = facts.iter().map(|(_, fact)| fact_lines(fact)).sum();
    while used > room {
        let least = facts.iter().map(|(urgency, _)| *urgency).max().filter(|least| *least > Urgency::Fact);
        let Some(place) = facts.iter().rposition(|(urgency, _)| Some(*urgency) == least) else { break };
        used -= fact_lines(&facts.remove(place).1);
    }
    (facts.into_iter().map(|(_, fact)| fact).collect(), used <= room)
}

fn fact_lines(fact: &Fact) -> usize {
    let room = COLUMNS - NAME_COLUMNS;
    wrap(&fact.words, room, room).len()
}

/// Number of terminal lines of an item, including the empty line above it.
fn lines(item: &Item) -> usize {
    match item {
        Item::Title(text) | Item::Text(_, text) => wrap(text, COLUMNS, COLUMNS - 2).len(),
        Item::Head(text) => 1 + wrap(text, COLUMNS, COLUMNS - 2).len(),
        Item::Table(table) => 1 + table.rows.len(),
        Item::Drawn(points) => 2 * points.len(),
        Item::Facts(facts) => 1 + facts.iter().map(fact_lines).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_quotes_first_then_advice_from_the_last() {
        let facts = || {
            let of = |(urgency, words): (Urgency, &str)| (urgency, Fact::new("runs", words.to_owned()));
            let all = [
                (Urgency::Fact, "a failed"),
                (Urgency::Help, "help: a"),
                (Urgency::Quote, "│ a"),
                (Urgency::Fact, "b failed"),
                (Urgency::Help, "help: b"),
            ];
            all.map(of).into_iter().collect::<Vec<_>>()
        };
        let left = |room: usize| {
            let (fitted, is_enough) = fitted(facts(), room);
            assert_eq!(is_enough, room >= 2);
            fitted.into_iter().map(|fact| fact.words).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(left(5), "a failed, help: a, │ a, b failed, help: b");
        assert_eq!(left(4), "a failed, help: a, b failed, help: b");
        assert_eq!(left(3), "a failed, help: a, b failed");
        assert_eq!(left(0), "a failed, b failed", "what is wrong is always told");
    }
}
