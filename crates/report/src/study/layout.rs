//! Order of a report on a study: the brief report on one screen, then all details.

use evidence::{EvidenceError, Unit};

use super::brief::Brief;
use super::pieces::{StudyPieces, section};
use super::tables;
use super::{
    LoadView, StudyView, by_fingerprint, cpu_profiles, event_costs, experiment, over_runs, rows_and_shards,
    screen, sentences, tournament,
};
use crate::capacity;
use crate::item::{Escape, Item, Tone};
use crate::physical_cost;

/// All items of a report on a study, in order.
pub(crate) fn items(view: &StudyView<'_>, escape: Escape) -> Result<Vec<Item>, EvidenceError> {
    let order = Layout { view, page: StudyPieces::new(view, escape), escape };
    let mut items = order.page.answers();
    items.extend(order.page.stamps());
    let brief = Brief { view, page: &order.page };
    let mut below: Vec<Item> = view.loads.iter().flat_map(|load| order.events(load)).collect();
    let variants: usize = view.loads.iter().map(|load| load.rows.len()).sum();
    let room = |above: &[Item]| screen::room(above.iter().chain(&below), variants);
    match &view.capacity {
        Some(capacity) => {
            items.extend(capacity::brief(capacity, escape));
            items.extend(brief.facts(room(&items)));
        }
        None => items = brief.items(items, room),
    }
    items.append(&mut below);
    for load in &view.loads {
        items.extend(by_fingerprint::items(view, load, &order.of_load(load), escape)?);
    }
    items.extend(view.loads.iter().flat_map(|load| order.cpu_profiles(load)));
    items.extend(experiment::items(view, escape));
    let (id, again) = (&view.study.id, order.page.again());
    items.push(Item::Elsewhere(format!("All figures: tenbin report {id} --wide · measure again: {again}")));
    if let Some(capacity) = &view.capacity {
        items.extend(capacity::details(capacity, view.noun(), escape));
        for load in &view.loads {
            // Runs that missed their objectives are not failures of a search: finding them is its purpose.
            order.fold(&mut items, load, "Runs in doubt", order.page.troubles(load));
        }
    }
    for load in view.loads.iter().filter(|_| view.capacity.is_none()) {
        order.details(load, &mut items)?;
    }
    items.push(Item::Fold("How it was measured".to_owned(), vec![order.page.facts(), order.page.end()]));
    Ok(items)
}

struct Layout<'a> {
    view: &'a StudyView<'a>,
    page: StudyPieces<'a>,
    escape: Escape,
}

impl Layout<'_> {
    /// All details of a load, by subject.
    fn details(&self, load: &LoadView<'_>, items: &mut Vec<Item>) -> Result<(), EvidenceError> {
        self.fold(items, load, "All figures", self.tables(load));
        let mut pairs = self.page.pairs(load);
        if !pairs.is_empty() {
            pairs.push(Item::points(sentences::caveats(self.view, load)));
        }
        pairs.extend(points(self.page.unlike(load)));
        self.fold(items, load, &self.page.pairs_heading(load), pairs);
        let found = tournament::sentences(self.view, load, &|name| self.page.short(name));
        self.fold(items, load, "How the best was found", points(found));
        self.fold(items, load, "Run by run, and over time", self.run_drawings(load)?);
        let names: Vec<String> = (0..load.rows.len()).map(|row| self.page.row(load, row)).collect();
        let one = self.view.noun().one;
        let costs = physical_cost::table(&self.view.runs, load, one, &names, self.escape).map(Item::Table);
        let mut costs: Vec<Item> = costs.into_iter().collect();
        let legend = physical_cost::legend(load).filter(|_| !costs.is_empty());
        costs.extend(legend.map(|line| Item::Text(Tone::Plain, line)));
        self.fold(items, load, "Physical cost (medians over runs)", costs);
        let rows = rows_and_shards::table(&self.page, self.view, load).map(Item::Table);
        self.fold(items, load, "Rows and shards (sums over runs)", rows.into_iter().collect());
        let limits = match self.view.diagnosis {
            None => "Likely bottlenecks (suspected from readings, not confirmed)",
            Some(_) => "Bottlenecks (suspected from readings, unless an experiment is named)",
        };
        self.fold(items, load, limits, points(self.page.bottlenecks(load)));
        let cores = tables::cores(self.view, load, self.escape).map(Item::Table);
        let of_cores = "How busy the cores were (share of a second, median of all seconds and runs)";
        self.fold(items, load, of_cores, cores.into_iter().collect());
        self.fold(items, load, "Errors, and runs in doubt", self.error_items(load));
        self.fold(items, load, "Events", self.full_events(load));
        let gates = self.page.gates(load).into_iter().map(|(_, line)| line);
        self.fold(items, load, "Conditions", points(gates.collect()));
        Ok(())
    }

    /// Costs of events, with a row per variant and event.
    fn events(&self, load: &LoadView<'_>) -> Vec<Item> {
        let Some(table) = event_costs::table(self.view, load, false, self.escape) else { return Vec::new() };
        let of_load = self.of_load(load);
        let mut items =
            vec![Item::Head(format!("What events cost{of_load}: medians over runs")), Item::Table(table)];
        if let Some((from, table)) = event_costs::table_of_differences(self.view, load, self.escape) {
            let from = self.page.row(load, from);
            let head = format!("Difference from {from}{of_load}: medians over blocks, 95 % intervals");
            items.extend([Item::Head(head), Item::Table(table)]);
        }
        let row_name = |row: usize| self.page.row(load, row);
        let causes = event_costs::lines_of_causes(self.view, load, &row_name, self.escape);
        items.extend(
            (!causes.is_empty()).then(|| Item::facts(causes.into_iter().map(|line| ("cause", line)))),
        );
        items
    }

    /// Costs of events with all intervals, likely causes, and outcomes.
    fn full_events(&self, load: &LoadView<'_>) -> Vec<Item> {
        let table = event_costs::table(self.view, load, true, self.escape);
        let mut items: Vec<Item> = table.map(Item::Table).into_iter().collect();
        let row_name = |row: usize| self.page.row(load, row);
        items.extend(points(event_costs::all_causes(self.view, load, &row_name, self.escape)));
        items.extend(points(self.page.events(load)));
        items
    }

    /// CPU profiles of the variants.
    fn cpu_profiles(&self, load: &LoadView<'_>) -> Vec<Item> {
        cpu_profiles::items(self.view, load, &self.of_load(load), self.escape)
    }

    /// Formats the name of a load: `, NAME`. Empty if there is only one load.
    fn of_load(&self, load: &LoadView<'_>) -> String {
        match self.view.loads.len() {
            0 | 1 => String::new(),
            _ => format!(", {}", self.page.short(load.name)),
        }
    }

    /// Adds details under a heading, with their load if there are several. Does nothing without details.
    fn fold(&self, items: &mut Vec<Item>, load: &LoadView<'_>, head: &str, details: Vec<Item>) {
        if details.is_empty() {
            return;
        }
        let head = match self.view.loads.len() {
            0 | 1 => head.to_owned(),
            _ => format!("{}: {head}", self.page.short(load.name)),
        };
        items.push(Item::Fold(head, details));
    }

    /// All figures of the load and its steps.
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
        if let Some((title, statements)) = tables::statements(load, self.escape) {
            items.extend([Item::Head(title.to_owned()), Item::Table(statements)]);
        }
        items
    }

    /// Drawings of the best configurations.
    fn run_drawings(&self, load: &LoadView<'_>) -> Result<Vec<Item>, EvidenceError> {
        let Some(drawn) = over_runs::of_load(self.view, load, self.escape)? else { return Ok(Vec::new()) };
        Ok(vec![Item::Table(drawn.table), Item::Text(Tone::Plain, drawn.legend)])
    }

    /// Errors, output of systems with errors, and runs with failures or doubts.
    fn error_items(&self, load: &LoadView<'_>) -> Vec<Item> {
        let mut items = self.page.errors(load);
        let head = "Most frequent output of systems with errors, last run";
        items.extend(section(head, self.page.written(load)));
        items.extend(self.page.troubles(load));
        items
    }
}

fn points(points: Vec<String>) -> Vec<Item> {
    if points.is_empty() { Vec::new() } else { vec![Item::points(points)] }
}
