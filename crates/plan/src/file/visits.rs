//! Expands the steps of a scenario into the visits of an iteration: repeated, conditional, or done once.

use load::{Condition, Guard, Visit};

use super::condition;
use super::reading::Reading;
use super::tree::Node;
use super::variables::Variables;

/// Max steps of an iteration, including repetitions.
const VISITS_MAX: usize = 10_000;

/// Step of an iteration, and the conditions under which it runs.
pub(crate) struct ReadVisit {
    pub(crate) visit: Visit,
    /// Weight in a mix.
    pub(crate) weight: f64,
}

/// Keys of an item in the list of steps, without its request.
struct Item {
    repeat: usize,
    guard: Option<Condition>,
    is_once: bool,
}

/// Visits of a scenario, in order.
#[derive(Default)]
pub(crate) struct Visits {
    /// Visits before the first iteration of a user.
    pub(crate) once: Vec<Visit>,
    pub(crate) list: Vec<ReadVisit>,
    /// Whether there are too many visits. This error is reported once.
    is_full: bool,
}

/// Steps of a list, including those within groups.
pub(crate) fn leaf_steps(items: &[Node]) -> Vec<&Node> {
    let of = |item| match group(item) {
        Some(steps) => leaf_steps(steps),
        None => vec![item],
    };
    items.iter().flat_map(of).collect()
}

fn group(node: &Node) -> Option<&[Node]> {
    Some(node.get("steps")?.items())
}

impl Visits {
    /// Reads the items of a scenario's list. `read` reads a step.
    pub(crate) fn read(
        items: &[Node],
        is_mix: bool,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
        read: &mut dyn FnMut(&Node, &mut Variables, &mut Reading<'_>) -> Option<ReadVisit>,
    ) -> Self {
        let mut visits = Self::default();
        for item in items {
            let is_first = match Item::is_once(item) {
                true => visits.once.is_empty(),
                false => visits.list.is_empty(),
            };
            let Some(of_item) = Item::read(item, is_first, is_mix, variables, reading) else { continue };
            if let Some(once) = item.entry("once").filter(|_| of_item.is_once && !visits.list.is_empty()) {
                let what = "a step that is done `once` comes before the steps of iterations";
                reading.at(once.key_at, what, "move it to the top of `steps`");
            }
            let before = visits.list.len();
            visits.take(item, &of_item, variables, reading, read);
            if of_item.is_once {
                visits.once.extend(visits.list.drain(before..).map(|read| read.visit));
            }
        }
        if let Some(last) = items.last().filter(|_| visits.list.is_empty() && !visits.once.is_empty()) {
            let what = "every step is done `once`, so that an iteration has none";
            reading.at(last.at, what, "add a step without `once`");
        }
        visits
    }

    /// Adds the visits of an item and its repetitions.
    fn take(
        &mut self,
        item: &Node,
        Item { repeat, guard, .. }: &Item,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
        read: &mut dyn FnMut(&Node, &mut Variables, &mut Reading<'_>) -> Option<ReadVisit>,
    ) {
        let before = self.list.len();
        match group(item) {
            None => self.list.extend(read(item, variables, reading)),
            Some(steps) => self.group(item, steps, variables, reading, read),
        }
        // The condition is evaluated before each repetition.
        self.guard(before, guard.as_ref());
        let one: Vec<Visit> = self.list[before..].iter().map(|read| read.visit.clone()).collect();
        if self.list.len() + one.len() * (repeat - 1) > VISITS_MAX {
            if !std::mem::replace(&mut self.is_full, true) {
                let what = format!("an iteration has more than {VISITS_MAX} steps, repetitions counted");
                reading.at(item.at, what, "lower `repeat`");
            }
            return;
        }
        for _ in 1..*repeat {
            self.list.extend(one.iter().map(|visit| ReadVisit { visit: visit.clone(), weight: 1.0 }));
        }
    }

    fn group(
        &mut self,
        item: &Node,
        steps: &[Node],
        variables: &mut Variables,
        reading: &mut Reading<'_>,
        read: &mut dyn FnMut(&Node, &mut Variables, &mut Reading<'_>) -> Option<ReadVisit>,
    ) {
        const GROUP_KEYS: [&str; 4] = ["steps", "repeat", "if", "once"];
        if let Some(entry) = item.entries().iter().find(|entry| !GROUP_KEYS.contains(&entry.key.as_str())) {
            let what = format!("a group of steps has no `{}`", entry.key);
            reading.at(entry.key_at, what, "move it into one of the steps");
        }
        for inner in steps {
            if let Some(once) = inner.entry("once") {
                let help = "move `once` to the group, or the step out of it";
                reading.at(once.key_at, "a step within a group cannot be done `once`", help);
            }
            let is_first = self.list.is_empty();
            let Some(of_item) = Item::read(inner, is_first, false, variables, reading) else { continue };
            self.take(inner, &of_item, variables, reading, read);
        }
    }

    /// Moves the condition of an item to its first visit, where it applies to all visits of the item.
    fn guard(&mut self, before: usize, condition: Option<&Condition>) {
        let visits = (self.list.len() - before) as u16;
        if let (Some(condition), Some(first)) = (condition, self.list.get_mut(before)) {
            first.visit.guards.insert(0, Guard { condition: condition.clone(), visits });
        }
    }

    /// Numbers of the steps that an iteration may skip.
    pub(crate) fn left_out(&self) -> Vec<u16> {
        let mut until = 0;
        let mut steps = Vec::new();
        for (at, ReadVisit { visit, .. }) in self.list.iter().enumerate() {
            let own = visit.guards.iter().map(|guard| at + usize::from(guard.visits)).max();
            until = until.max(own.unwrap_or(0));
            if at < until {
                steps.push(visit.step);
            }
        }
        steps
    }
}

impl Item {
    fn is_once(node: &Node) -> bool {
        node.text_of("once") == Some("true")
    }

    /// Reads the item. `is_first` means that nothing precedes it in an iteration, or before the first iteration.
    fn read(
        node: &Node,
        is_first: bool,
        is_mix: bool,
        variables: &mut Variables,
        reading: &mut Reading<'_>,
    ) -> Option<Self> {
        let is_once = Self::is_once(node);
        let repeat = node.text_of("repeat").and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
        for key in ["repeat", "if", "once", "steps"] {
            if let Some(entry) = node.entry(key).filter(|_| is_mix) {
                let what = format!("`{key}` requires steps in order, and these have weights");
                reading.at(entry.key_at, what, "remove the weights, or move it to another scenario");
                return None;
            }
        }
        let guard = match node.get("if") {
            Some(condition) if is_first => {
                let at = node.entry("if").map_or(condition.at, |entry| entry.key_at);
                reading.at(at, "the first step has no `if`: there is no reply before it", "remove it");
                None
            }
            Some(condition) => condition::read(condition, variables, reading),
            None => None,
        };
        Some(Self { repeat, guard, is_once })
    }
}
