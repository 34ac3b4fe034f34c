//! Brief report on a study, on one screen: one table of all variants under all loads, and notes.

use evidence::Level;
use judge::results::{Scale, Verdict};
use judge::words::LASTS;
use judge::{Certainty, Resource};
use record::Percentile;

use super::answer::winner;
use super::pieces::StudyPieces;
use super::screen::{self, Urgency};
use super::troubles::{self, Group, TroubleKind};
use super::{
    LoadView, Pair, StudyView, VariantRow, bottlenecks, explained, grid, of_baseline, others, reference,
    rows_and_shards, sentences, tables, tournament,
};
use crate::alike;
use crate::apart;
use crate::bottleneck;
use crate::figures::ErrorLine;
use crate::item::{Fact, Item, Tone};
use crate::own_figures;
use crate::physical_cost;
use crate::table::{Cell, Table};
use crate::text::{listed, truncate_list};
use crate::trust;
use crate::units::{count, duration, percent_of, percent_with, rate};

/// Maximum width in columns of a row's name: short, long, and of a load's name.
const NAME_COLUMNS_MAX: usize = 28;
const LONG_NAME_COLUMNS_MAX: usize = 48;
const LOAD_COLUMNS_MAX: usize = 16;
/// Maximum number of rows in one line.
const NAMES_MAX: usize = 3;
/// Max numbers of lines of each kind. The first set that leaves room for all other lines applies.
const LINES_MAX: [LinesMax; 5] = [
    LinesMax { each: 4, troubles: 4, errors: 2, has_evidence: true },
    LinesMax { each: 4, troubles: 2, errors: 2, has_evidence: true },
    LinesMax { each: 4, troubles: 1, errors: 2, has_evidence: true },
    LinesMax { each: 2, troubles: 1, errors: 1, has_evidence: true },
    LinesMax { each: 1, troubles: 1, errors: 1, has_evidence: false },
];
/// Maximum number of conditions that were not judged.
const UNJUDGED_MAX: usize = 2;
/// Maximum number of baseline conditions.
const BASELINE_CONDITIONS_MAX: usize = 4;
/// Maximum number of lines of output.
const QUOTED_MAX: usize = 2;

/// Maximum number of figures that the plan defines. The details have all of them.
const OWN_FIGURES_MAX: usize = 3;

/// Beginnings of lines with advice, and of lines of output.
const HELP: &str = "help";
const QUOTE: char = '│';

/// Maximum numbers of lines.
#[derive(Clone, Copy)]
struct LinesMax {
    /// Limit for lists, such as the bottlenecks.
    each: usize,
    /// Kinds of trouble.
    troubles: usize,
    /// Kinds of errors.
    errors: usize,
    /// Whether evidence follows a bottleneck, and costs are shown.
    has_evidence: bool,
}

/// A load and the index of one of its rows.
type RowRef<'v, 'a> = (&'v LoadView<'a>, usize);

/// Makes the table and the lines below it.
pub(crate) struct Brief<'v, 'a> {
    pub(crate) view: &'v StudyView<'a>,
    pub(crate) page: &'v StudyPieces<'a>,
}

impl<'v, 'a> Brief<'v, 'a> {
    /// Appends the brief report to `above`. `room` returns the number of lines that items leave for facts.
    pub(super) fn items(&self, mut above: Vec<Item>, room: impl Fn(&[Item]) -> usize) -> Vec<Item> {
        let items = &mut above;
        items.extend([Item::Head(self.head()), Item::Table(self.table())]);
        for (title, grid) in self.loads().filter_map(|load| grid::of_load(self.view, load, self.page.escape))
        {
            items.extend([Item::Head(title), Item::Table(grid)]);
        }
        let has_pairs = self.loads().any(|load| !load.pairs.is_empty());
        let extended = sentences::extended(self.view.study).filter(|_| has_pairs);
        let swept = self.loads().find_map(|load| self.page.sweep_note(load));
        let name = |load: &LoadView<'_>, row: usize| self.page.row(load, row);
        let others = self.loads().find_map(|load| others::sentence(self.view, load, &name));
        let lines = self.legend().into_iter().chain(others).chain(swept).chain(extended);
        items.extend(lines.map(|line| Item::Text(Tone::Plain, line)));
        let facts = self.facts(room(items));
        items.extend(facts);
        above
    }

    /// Facts that every kind of study has, in at most `room` lines if possible.
    pub(super) fn facts(&self, room: usize) -> Option<Item> {
        let mut facts = Vec::new();
        for lines_max in LINES_MAX {
            let (fitted, is_enough) = screen::fitted(self.prioritized_facts(lines_max), room);
            facts = fitted;
            if is_enough {
                break;
            }
        }
        (!facts.is_empty()).then_some(Item::Facts(facts))
    }

    /// All facts, with these limits on the lines of each kind.
    fn prioritized_facts(&self, lines_max: LinesMax) -> Vec<(Urgency, Fact)> {
        let mut facts: Vec<(&str, String)> = Vec::new();
        if self.view.capacity.is_none() {
            facts.extend(self.loads().flat_map(|load| self.ties(load)).map(|line| ("tie", line)));
            facts.extend(self.why(lines_max).into_iter().map(|line| ("why", line)));
            facts.extend(self.limits(lines_max).into_iter().map(|line| ("bottleneck", line)));
            let costs = self.loads().filter(|_| lines_max.has_evidence).filter_map(|load| self.cost(load));
            facts.extend(costs.map(|line| ("cost", line)));
            facts.extend(self.rows_and_shards());
            facts.extend(self.also(lines_max).into_iter().map(|line| ("also", line)));
            facts.extend(of_baseline::facts(self.page, self.view).into_iter().map(|line| ("baseline", line)));
            facts.extend(self.conditions().into_iter().map(|line| ("conditions", line)));
            facts.extend(self.conditions_of_baseline().into_iter().map(|line| ("conditions", line)));
            // Costs of events are shown in a separate table.
            let has_costs = self.view.runs.iter().any(|view| !view.run.event_costs().is_empty());
            let events = if has_costs { Vec::new() } else { self.events(lines_max) };
            facts.extend(events.into_iter().map(|line| ("events", line)));
            facts.extend(self.statuses().map(|line| ("statuses", line)));
            facts.extend(self.errors(lines_max).into_iter().map(|line| ("errors", line)));
        }
        facts.extend(self.troubles(lines_max.troubles).into_iter().map(|line| ("runs", line)));
        facts.extend(self.page.next());
        facts.into_iter().map(|(name, words)| (urgency(&words), Fact::new(name, words))).collect()
    }

    /// The physical cost in which the variants of a load differ most.
    fn cost(&self, load: &LoadView<'_>) -> Option<String> {
        let names: Vec<String> = (0..load.rows.len()).map(|row| self.page.row(load, row)).collect();
        physical_cost::sentence(&self.view.runs, load, self.view.noun().one, &names)
    }

    /// Compares rows with outcomes, and the balance of shards, for each load.
    fn rows_and_shards(&self) -> Vec<(&'static str, String)> {
        let of_load = |load: &'v LoadView<'a>| {
            let facts = rows_and_shards::facts(self.page, self.view, load);
            facts.map(|(name, line)| (name, format!("{line}{}", self.of_load(load))))
        };
        self.loads().flat_map(of_load).collect()
    }

    fn loads(&self) -> impl Iterator<Item = &'v LoadView<'a>> + use<'v, 'a> {
        self.view.loads.iter()
    }

    /// Every row under every load, in order.
    fn places(&self) -> impl Iterator<Item = RowRef<'v, 'a>> + use<'v, 'a> {
        self.loads().flat_map(|load| (0..load.rows.len()).map(move |row| (load, row)))
    }

    /// The loads and their durations. Equal durations are mentioned once.
    fn head(&self) -> String {
        let heads: Vec<String> = self.loads().map(|load| self.page.head(load)).collect();
        let parts: Option<Vec<_>> = heads.iter().map(|head| head.rsplit_once(LASTS)).collect();
        match parts.as_deref() {
            Some([(_, lasts), others @ ..]) if others.iter().all(|(_, other)| other == lasts) => {
                let loads = parts.iter().flatten().map(|(load, _)| (*load).to_owned());
                format!("{}{LASTS}{lasts}", listed(loads, NAMES_MAX, "; "))
            }
            _ => listed(heads, NAMES_MAX, "; "),
        }
    }

    /// Table with a row per variant and load.
    fn table(&self) -> Table {
        let places: Vec<RowRef<'v, 'a>> = self.places().collect();
        let rows = || places.iter().map(|(load, row)| &load.rows[*row]);
        let mut table = Table::of_names("", self.names(&places));
        if self.view.loads.len() > 1 {
            table.name("load", places.iter().map(|(load, _)| self.page.escaped(load.name, LOAD_COLUMNS_MAX)));
        }
        if rows().any(|row| row.figures.is_some()) {
            self.figures(&mut table, &rows().collect::<Vec<_>>());
            if self.is_compared() {
                let has_baseline = self.loads().any(|load| load.baseline.is_some());
                let head = match (sentences::scale(self.view), has_baseline) {
                    (Scale::Ratio, true) => "÷ baseline",
                    (Scale::Ratio, false) => "best ÷ this",
                    (Scale::Difference, true) => "− baseline",
                    (Scale::Difference, false) => "best − this",
                };
                table.column(head, "", places.iter().map(difference_cell));
            }
        }
        let verdicts: Vec<String> = places.iter().map(|place| self.verdict(place)).collect();
        if verdicts.iter().any(|verdict| !verdict.is_empty()) {
            table.words("verdict", verdicts);
        }
        table
    }

    /// Short names of rows, or long ones if some short ones would be equal, or if columns of comparisons and loads leave room.
    fn names(&self, places: &[RowRef<'v, 'a>]) -> Vec<String> {
        let cut = |columns_max: usize| {
            let name =
                |(load, row): &RowRef<'v, 'a>| self.page.escaped(&super::row_name(load, *row), columns_max);
            places.iter().map(name).collect::<Vec<String>>()
        };
        let count = |names: &[String]| names.iter().collect::<std::collections::BTreeSet<_>>().len();
        let (short, long) = (cut(NAME_COLUMNS_MAX), cut(LONG_NAME_COLUMNS_MAX));
        let has_room = !self.is_compared() && self.view.loads.len() == 1;
        if has_room || count(&short) < count(&long) { long } else { short }
    }

    /// Adds the columns of figures: first the metric of the study, then ok/s, median, tail, and errors.
    fn figures(&self, table: &mut Table, rows: &[&VariantRow<'_>]) {
        let by = self.view.metric.as_ref().filter(|by| by.metric.name != "throughput");
        if let Some(by) = by {
            let cells = rows.iter().map(|row| row.metric.map(|spread| spread.median));
            let cells = cells.map(|figure| Cell::figure(figure, by.metric.kind.writer()));
            table.column(&by.label(), "", cells);
        }
        let own = own_figures::columns(self.view, rows).into_iter();
        let own = own.filter(|column| by.is_none_or(|by| by.own.as_ref() != Some(&column.figure)));
        for column in own.take(OWN_FIGURES_MAX) {
            let medians = column.rows.iter().map(|spread| spread.map(|spread| spread.median));
            let cells = medians.map(|median| Cell::figure(median, column.figure.metric().kind.writer()));
            table.column(&column.figure.label(), "", cells);
        }
        let per_s = rows.iter().map(|row| row.throughput.map(|spread| spread.median));
        table.column("ok/s", "", per_s.map(|per_s| Cell::figure(per_s, rate)));
        for percentile in [Percentile::P50, Percentile::P99] {
            let name = crate::durations::name(percentile);
            // The metric of the study already has a column over runs.
            if by.is_some_and(|by| by.metric.name == name) {
                continue;
            }
            let at = |row: &&VariantRow<'_>| row.figures.as_ref()?.response.all.at(percentile);
            table.column(&name, "", rows.iter().map(|row| Cell::figure(at(row), duration)));
        }
        table.column("errors", "", rows.iter().map(|row| Cell::figure(row.error_share, percent_of)));
    }

    fn verdict(&self, (load, row): &RowRef<'v, 'a>) -> String {
        let word = match reference::pair_with_reference(load, *row) {
            _ if winner(load) == Some(*row) => "★ best",
            _ if load.baseline == Some(*row) => "baseline",
            Some(pair) => verdict_word(pair, *row),
            None if self.is_sweep_only(&load.rows[*row]) => "sweep",
            None if reference::is_reference(load, *row) => "reference",
            None => "",
        };
        let note = tables::note(load, *row, str::to_owned);
        let word =
            if word.is_empty() && note.is_empty() && self.is_compared() { "not compared" } else { word };
        [word, &note].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Whether a row only has runs of a sweep, although other rows are in the final.
    fn is_sweep_only(&self, row: &VariantRow<'_>) -> bool {
        self.view.study.new.compare.procedure.sweep_blocks().is_some() && !row.is_ranked
    }

    /// Whether a column shows the difference between rows.
    fn is_compared(&self) -> bool {
        self.places().any(|(load, row)| reference::pair_with_reference(load, row).is_some_and(Pair::has_look))
    }

    /// Legend of the table.
    fn legend(&self) -> Option<String> {
        let pairs = self.loads().flat_map(|load| &load.pairs).filter(|pair| pair.has_look());
        let confidence = pairs.filter_map(|pair| pair.comparison.confidence).reduce(f64::min)?;
        let levels = self.loads().find_map(|load| sentences::slice_doubts(load.sliced.as_ref()?));
        let levels = levels.map_or(String::new(), |levels| format!(" {levels}"));
        self.is_compared().then(|| {
            format!(
                "{} of {}: blocks that both share, {} confidence; p50, p99: all valid runs.{levels}",
                match sentences::scale(self.view) {
                    Scale::Ratio => "Ratios",
                    Scale::Difference => "Differences",
                },
                self.view.metric_words(),
                percent_with(confidence, 1)
            )
        })
    }

    /// Variants that are not distinguishable from the best. `None` if blocks of the confirmation have decided since.
    fn ties(&self, load: &LoadView<'_>) -> Option<String> {
        if winner(load).is_some() {
            return None;
        }
        tournament::tie(self.view, load, &|name| self.page.short(name))
    }

    /// Formats one line for each pair that differs.
    fn why(&self, lines_max: LinesMax) -> Vec<String> {
        let of_load = |load: &'v LoadView<'a>| {
            let lines = self.page.why(load).into_iter();
            lines.map(move |line| format!("{line}{}", self.of_load(load)))
        };
        let mut lines: Vec<String> = self.loads().flat_map(of_load).collect();
        truncate_list(&mut lines, lines_max.each, |more| format!("and {more} more"));
        lines
    }

    /// Formats one line for each comparison by a further metric of the plan, those with a verdict first.
    fn also(&self, lines_max: LinesMax) -> Vec<String> {
        let of_load = |load: &'v LoadView<'a>| load.further.iter().map(move |pair| (load, pair));
        let mut all: Vec<_> = self.loads().flat_map(of_load).filter(|(_, pair)| pair.has_look()).collect();
        all.sort_by_key(|(_, pair)| !reference::is_conclusive(pair));
        let line = |(load, pair): &(&LoadView<'a>, &Pair)| {
            let words = sentences::further(self.view, pair, &|row| self.page.row(load, row));
            format!("{words}{}", self.of_load(load))
        };
        let mut lines: Vec<String> = all.iter().map(line).collect();
        truncate_list(&mut lines, lines_max.each, |more| format!("and {more} more"));
        lines
    }

    /// Formats one line for each bottleneck of each load.
    fn limits(&self, lines_max: LinesMax) -> Vec<String> {
        let line = |load: &LoadView<'_>, group: &bottlenecks::Group, is_alone: bool| {
            let names = listed(group.rows.iter().map(|row| self.page.row(load, *row)), NAMES_MAX, ", ");
            // Evidence of one row does not apply to others, so a line about several rows has none. An unknown cause shows its evidence only
            // if there is no other line.
            let is_shown = is_alone || group.bottleneck.certainty != Certainty::Unknown;
            let because = match group.rows.len() {
                1 if is_shown && lines_max.has_evidence => {
                    format!("; {}", self.page.text(&bottleneck::evidence_and_advice(&group.bottleneck)))
                }
                _ => String::new(),
            };
            format!("{names}{}: {}{because}", self.of_load(load), bottleneck::likely(&group.bottleneck))
        };
        let groups = self.loads().flat_map(|load| {
            bottlenecks::of_load(self.view, load).into_iter().map(move |group| (load, group))
        });
        // Effects of the load generator are reported among the doubts.
        let groups = groups.filter(|(_, group)| group.bottleneck.resource != Resource::GENERATOR);
        let groups: Vec<_> = groups.collect();
        let is_alone = groups.len() == 1;
        let mut lines: Vec<String> = groups.iter().map(|(load, group)| line(load, group, is_alone)).collect();
        truncate_list(&mut lines, lines_max.each, |more| format!("and {more} more"));
        lines
    }

    /// Conditions that held, in one line, then those that were not judged. Failed ones are in the first lines of the report.
    fn conditions(&self) -> Vec<String> {
        let (mut held, mut unjudged): (Vec<(String, Vec<String>)>, Vec<String>) = (Vec::new(), Vec::new());
        for load in self.loads() {
            let lines = self.page.gates_of_runs(load).into_iter().filter(|(_, line)| !line.starts_with('·'));
            for (tone, line) in lines {
                match held.iter_mut().find(|(known, _)| *known == line) {
                    _ if tone == Tone::Bad => {}
                    _ if tone == Tone::Doubtful => unjudged.push(format!("? {line}{}", self.of_load(load))),
                    Some((_, loads)) => loads.push(self.of_load(load)),
                    None => held.push((line, vec![self.of_load(load)])),
                }
            }
        }
        let told = held.into_iter().map(|(line, loads)| match loads.len() {
            every if every == self.view.loads.len() && every > 1 => format!("{line} under each load"),
            _ => line + &loads.concat(),
        });
        let held = listed(told, NAMES_MAX, "; ");
        truncate_list(&mut unjudged, UNJUDGED_MAX, |more| format!("? and {more} more"));
        (!held.is_empty()).then(|| format!("✓ {held}")).into_iter().chain(unjudged).collect()
    }

    /// Baseline conditions that did not fail, one line each.
    fn conditions_of_baseline(&self) -> Vec<String> {
        let of_load = |load: &'v LoadView<'a>| {
            let lines = of_baseline::lines(self.page, self.view, load).into_iter();
            let lines = lines.filter(|(tone, ..)| *tone != Tone::Bad);
            lines.map(move |(_, mark, line)| format!("{mark} {line}{}", self.of_load(load)))
        };
        let mut lines: Vec<String> = self.loads().flat_map(of_load).collect();
        truncate_list(&mut lines, BASELINE_CONDITIONS_MAX, |more| format!("and {more} more"));
        lines
    }

    /// Formats the name of a load: ` (75/s)`. Empty if there is only one load.
    fn of_load(&self, load: &LoadView<'_>) -> String {
        match self.view.loads.len() {
            0 | 1 => String::new(),
            _ => format!(" ({})", self.page.escaped(load.name, LOAD_COLUMNS_MAX)),
        }
    }

    fn events(&self, lines_max: LinesMax) -> Vec<String> {
        let of_load = |load| {
            let lines = self.page.events(load).into_iter();
            lines.map(move |line| format!("{line}{}", self.of_load(load)))
        };
        let mut lines: Vec<String> = self.loads().flat_map(of_load).collect();
        truncate_list(&mut lines, lines_max.each, |more| format!("and {more} more"));
        lines
    }

    /// Statuses of each row with ok replies other than 2xx.
    fn statuses(&self) -> Option<String> {
        let of_row = |(load, row): RowRef<'v, 'a>| {
            let statuses = alike::accepted_statuses(load.rows[row].figures.as_ref()?)?;
            Some(format!("{}{} {statuses}", self.page.row(load, row), self.of_load(load)))
        };
        let mut rows = self.places().filter_map(of_row).peekable();
        rows.peek()?;
        Some(listed(rows, NAMES_MAX, "; "))
    }

    /// Errors grouped by class and message, most frequent first, and advice.
    fn errors(&self, lines_max: LinesMax) -> Vec<String> {
        let mut kinds: Vec<(&ErrorLine, u64, Vec<RowRef<'v, 'a>>)> = Vec::new();
        for (load, row) in self.places() {
            for error in load.rows[row].figures.iter().flat_map(|figures| &figures.errors) {
                let is_same = |(known, ..): &&mut (&ErrorLine, u64, Vec<_>)| {
                    (&known.class, &known.message) == (&error.class, &error.message)
                };
                match kinds.iter_mut().find(is_same) {
                    Some((_, all, places)) => {
                        *all = all.saturating_add(error.count);
                        places.push((load, row));
                    }
                    None => kinds.push((error, error.count, vec![(load, row)])),
                }
            }
        }
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        let line = |(error, all, places): &(&ErrorLine, u64, Vec<RowRef<'v, 'a>>)| {
            let (class, message) = (self.page.short(error.class.as_str()), self.page.text(&error.message));
            format!("{} × {class}: {message} ({})", count(*all), self.named(places))
        };
        let mut lines: Vec<String> = kinds.iter().map(line).collect();
        truncate_list(&mut lines, lines_max.errors, |more| format!("and {more} more"));
        let help = kinds.first().and_then(|(error, ..)| error.class.known());
        lines.extend(help.map(|class| format!("{HELP} ({}): {}", class.name(), class.help())));
        lines
    }

    fn named(&self, places: &[RowRef<'v, 'a>]) -> String {
        match places {
            few if few.len() <= NAMES_MAX => listed(
                few.iter().map(|(load, row)| self.page.row(load, *row) + &self.of_load(load)),
                NAMES_MAX,
                ", ",
            ),
            many => format!("{} of {} variants", many.len(), self.places().count()),
        }
    }

    /// Failures, and doubts that the line on trust does not mention, grouped over runs. Without this line, all doubts.
    fn troubles(&self, kinds_max: usize) -> Vec<String> {
        let mut groups = troubles::grouped(self.view);
        if trust::line_of_study(self.view).is_some() {
            let is_of_trust = |kind: &TroubleKind<'_>| match kind {
                TroubleKind::Doubt { level, .. } => *level != Level::Invalid,
                _ => false,
            };
            groups.retain(|group| !is_of_trust(&group.kind));
        }
        let more = groups.len().saturating_sub(kinds_max);
        groups.truncate(kinds_max);
        let mut lines: Vec<String> = groups.iter().flat_map(|group| self.trouble(group)).collect();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// Formats the number of runs and their rows: `8 runs of puma workers=1`, or `all 24 runs`.
    pub(crate) fn of_runs(&self, group: &Group<'_>) -> String {
        if self.places().count() == 1 {
            return super::runs(group.runs);
        }
        if group.runs == self.view.runs.len() && group.places.len() > 1 {
            return format!("all {}", super::runs(group.runs));
        }
        let places: Vec<RowRef<'v, 'a>> =
            group.places.iter().map(|(load, row)| (&self.view.loads[*load], *row)).collect();
        format!("{} of {}", super::runs(group.runs), self.named(&places))
    }

    fn trouble(&self, group: &Group<'_>) -> Vec<String> {
        let told = self.page.of_group(group);
        let link = if matches!(group.kind, TroubleKind::Note { .. }) { ":" } else { "" };
        let mut lines = vec![format!("{}{link} {}", self.of_runs(group), told.sentence)];
        lines.extend((!told.remedy.is_empty()).then(|| format!("{HELP}: {}", told.remedy)));
        let from = told.quote.len().saturating_sub(QUOTED_MAX);
        lines.extend(told.quote[from..].iter().map(|line| format!("{QUOTE} {line}")));
        lines
    }
}

/// Urgency of a line, by its beginning.
fn urgency(words: &str) -> Urgency {
    match words {
        words if words.starts_with(QUOTE) => Urgency::Quote,
        words if words.starts_with(HELP) || words.starts_with(explained::NO_READING_EXPLAINS) => {
            Urgency::Help
        }
        _ => Urgency::Fact,
    }
}

fn difference_cell((load, row): &RowRef<'_, '_>) -> Cell {
    match reference::apart(load, *row) {
        Some((estimate, ends, pair)) => {
            Cell { text: apart::for_column(&pair.by, estimate, ends), value: Some(estimate) }
        }
        None => reference::why_no_ratio(load, *row).unwrap_or_default().into(),
    }
}

/// Verdict on the row that is not the reference.
fn verdict_word(pair: &Pair, row: usize) -> &'static str {
    let is_ahead = pair.ahead().0 == row;
    match pair.comparison.verdict {
        _ if pair.has_more_errors => "no verdict",
        Verdict::Differs { below_matters: true } => "below threshold",
        Verdict::Differs { .. } if is_ahead => "better",
        Verdict::Differs { .. } => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::MoreErrors(_) | Verdict::None(_) => "no verdict",
    }
}
