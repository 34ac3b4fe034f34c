//! What a study says, in which order: all of it one below the other, or with details folded away.

use store::{StoreError, Unit};

use super::page::{Page, section};
use super::tables;
use super::{LoadView, StudyView, compact, course, sentences, tournament};
use crate::capacity;
use crate::item::{Escape, Item, Layout, Tone};

const COURSE: &str = "Run by run, and over time";

/// Everything that is said about a study, in order.
pub(crate) fn items(view: &StudyView<'_>, escape: Escape, layout: Layout) -> Result<Vec<Item>, StoreError> {
    let order = Order { view, page: Page::new(view, escape), escape };
    let mut items = order.page.answers();
    if layout == Layout::Whole {
        items.push(order.page.facts());
    }
    items.extend(order.page.stamps());
    if let Some(capacity) = &view.capacity {
        items.extend(capacity::items(capacity, view.noun(), escape));
        items.extend(view.loads.iter().flat_map(|load| order.wrongs_of_search(load)));
    }
    for load in view.loads.iter().filter(|_| view.capacity.is_none()) {
        items.extend(match layout {
            Layout::Whole => order.whole(load)?,
            Layout::Folded => order.folded(load)?,
        });
    }
    match layout {
        Layout::Whole => items.push(order.page.end()),
        Layout::Folded => items
            .push(Item::Fold("How it was measured".to_owned(), vec![order.page.facts(), order.page.end()])),
    }
    Ok(items)
}

struct Order<'a> {
    view: &'a StudyView<'a>,
    page: Page<'a>,
    escape: Escape,
}

impl Order<'_> {
    fn whole(&self, load: &LoadView<'_>) -> Result<Vec<Item>, StoreError> {
        let mut items = vec![Item::Head(self.page.head(load))];
        items.extend(self.tables(load));
        let pairs = self.page.pairs(load);
        if !pairs.is_empty() {
            items.push(Item::Head(self.page.head_of_pairs(load)));
            items.extend(pairs);
            items.push(Item::points(sentences::caveats(self.view, load)));
        }
        items.extend(self.tournament(load));
        let course = self.course(load)?;
        if !course.is_empty() {
            items.push(Item::Head(COURSE.to_owned()));
            items.extend(course);
        }
        items.extend(self.bottlenecks(load));
        items.extend(self.cores(load));
        items.extend(self.wrongs(load));
        items.extend(section("Gates", self.gates(load)));
        Ok(items)
    }

    fn folded(&self, load: &LoadView<'_>) -> Result<Vec<Item>, StoreError> {
        let mut items = vec![Item::Head(self.page.head(load))];
        let has_figures = load.rows.iter().any(|row| row.figures.is_some());
        if has_figures {
            items.push(Item::Table(compact::table(self.view, load, self.escape)));
        }
        items.extend(self.page.pairs(load));
        items.extend(self.tournament(load));
        items.extend(self.bottlenecks(load));
        let gates = self.page.gates(load);
        let are_held = gates.iter().all(|(tone, _)| *tone == Tone::Plain);
        let gates: Vec<String> = gates.into_iter().map(|(_, line)| line).collect();
        if !are_held {
            items.extend(section("Gates", gates.clone()));
        }
        let wrongs = self.wrongs(load);
        if !wrongs.is_empty() {
            items.push(Item::Fold("Errors, and what went wrong".to_owned(), wrongs));
        }
        let course = self.course(load)?;
        if !course.is_empty() {
            items.push(Item::Fold(COURSE.to_owned(), course));
        }
        let mut all = self.tables(load);
        all.extend(self.cores(load));
        let caveats = sentences::caveats(self.view, load);
        if !caveats.is_empty() {
            all.push(Item::points(caveats));
        }
        if are_held {
            all.extend(section("Gates", gates));
        }
        items.push(Item::Fold("All figures".to_owned(), all));
        Ok(items)
    }

    /// All figures of the load, and of its steps.
    fn tables(&self, load: &LoadView<'_>) -> Vec<Item> {
        let mut items = vec![Item::Table(tables::summary(self.view, load, self.escape))];
        if load.rows.iter().any(|row| row.figures.is_some()) {
            items.push(Item::Text(Tone::Plain, self.page.legend(load)));
        }
        if let Some(steps) = tables::steps(self.view.noun(), load, self.escape) {
            let head = match self.view.noun().unit {
                Unit::Requests => "Steps",
                Unit::Transactions => "Transactions",
            };
            items.extend([Item::Head(head.to_owned()), Item::Table(steps)]);
        }
        if let Some(statements) = tables::statements(load, self.escape) {
            items.extend([Item::Head("Statements".to_owned()), Item::Table(statements)]);
        }
        items
    }

    /// How the best settings went, drawn.
    fn course(&self, load: &LoadView<'_>) -> Result<Vec<Item>, StoreError> {
        let Some(course) = course::of_load(self.view, load, self.escape)? else { return Ok(Vec::new()) };
        Ok(vec![Item::Table(course.table), Item::Text(Tone::Plain, course.legend)])
    }

    /// How the best of many was found.
    fn tournament(&self, load: &LoadView<'_>) -> Vec<Item> {
        let sentences = tournament::sentences(self.view, load, &|name| self.page.short(name));
        section("How the best was found", sentences)
    }

    fn bottlenecks(&self, load: &LoadView<'_>) -> Vec<Item> {
        let head = "What probably limited each (suspected from readings; nothing has confirmed it)";
        section(head, self.page.bottlenecks(load))
    }

    fn cores(&self, load: &LoadView<'_>) -> Vec<Item> {
        let Some(cores) = tables::cores(self.view, load, self.escape) else { return Vec::new() };
        let head = "How busy the cores were (share of a second, median of all seconds and runs)";
        vec![Item::Head(head.to_owned()), Item::Table(cores)]
    }

    /// Errors, what systems wrote about them, and runs that went wrong.
    fn wrongs(&self, load: &LoadView<'_>) -> Vec<Item> {
        let mut items = self.page.errors(load);
        let head = "What systems with errors wrote most often, in their last run";
        items.extend(section(head, self.page.written(load)));
        items.extend(self.page.troubles(load));
        items
    }

    /// Runs of a search that went wrong: that some fail their objectives is what it is for.
    fn wrongs_of_search(&self, load: &LoadView<'_>) -> Vec<Item> {
        self.page.troubles(load)
    }

    fn gates(&self, load: &LoadView<'_>) -> Vec<String> {
        self.page.gates(load).into_iter().map(|(_, line)| line).collect()
    }
}
