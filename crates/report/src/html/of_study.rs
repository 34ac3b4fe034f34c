//! Makes the document of a study.

use evidence::{EvidenceError, StudyState};
use judge::Eligibility;

use super::document::{
    Answer, Bottleneck, Compared, CostTable, Document, DocumentKind, Doubt, Fact, Knob, Load, Metric, Notice,
    Pair, Row, Run, SCHEMA, StatementTimes, Table, Tone, Validity,
};
use super::table::{self, RowSubject};
use super::{
    cpu_profiles, errors, event_costs, experiment, facts, figures, of_capacity, of_run, slower, spectrum,
};
use crate::apart;
use crate::item;
use crate::physical_cost;
use crate::study::troubles::{Group, TroubleKind};
use crate::study::{self, Brief, LoadView, StudyPieces, StudyView, tables, troubles, verdict_word};
use crate::text::{listed, sanitize, truncate_list, visible};
use crate::view::View;

/// Maximum number of characters of a parameter's name, and of its value.
const KNOB_CHARACTERS_MAX: usize = 60;
/// Maximum number of loads in one notice.
const LOADS_NAMED_MAX: usize = 8;
/// Maximum number of kinds of trouble.
const DOUBTS_MAX: usize = 60;
/// Maximum number of bytes of the plan.
const PLAN_BYTES_MAX: usize = 256 << 10;

/// The document of a study, without time series.
pub(super) fn document(view: &StudyView<'_>) -> Result<Document, EvidenceError> {
    let (new, page) = (&view.study.new, StudyPieces::new(view, str::to_owned));
    // A capacity search has runs at different rates, so their figures cannot be merged.
    let compared = view.loads.iter().filter(|_| view.capacity.is_none());
    let loads = compared.map(|load| of_load(view, &page, load)).collect::<Result<_, _>>()?;
    let of_runs = view.runs.iter().zip(places(view)).filter(|_| view.capacity.is_none());
    let runs = of_runs.map(|(run, place)| placed_run(view, place, run)).collect();
    Ok(Document {
        schema: SCHEMA,
        kind: DocumentKind::Study,
        title: page.text(&new.title),
        question: new.question.as_deref().map(|question| page.text(question)),
        id: view.study.id.to_string(),
        begun: facts::instant(view.started_at()),
        tenbin_version: page.short(&new.tenbin_version),
        counted: view.noun(),
        notices: notices(view, &page),
        validity: validity(view, &page),
        facts: facts::of_study(view, &page),
        loads,
        capacity: view.capacity.as_ref().map(|capacity| of_capacity::search(capacity, view.noun())),
        runs,
        charts: Vec::new(),
        commands: commands(view, &page),
        plan: Some(plan(&new.source)).filter(|text| !text.is_empty()),
    })
}

/// Notices at the top: the procedure of the study, and failed gates.
fn notices(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Vec<Notice> {
    let stamps = view.study.new.stamps.iter();
    let mut notices: Vec<Notice> = stamps.map(|stamp| notice(study::tone(stamp), page.text(stamp))).collect();
    let found = [view.unknown(), view.short_run_warning()].into_iter().flatten();
    notices.extend(found.map(|text| Notice { tone: Tone::Doubtful, text }));
    let is_breached =
        |load: &&LoadView<'_>| page.gates(load).iter().any(|(tone, _)| *tone == item::Tone::Bad);
    let breached: Vec<&LoadView<'_>> = view.loads.iter().filter(is_breached).collect();
    if breached.is_empty() {
        return notices;
    }
    // Other studies report failed gates in the results of a load. A search has no such results.
    let failed = breached.first().filter(|_| view.capacity.is_some());
    let failed = failed.and_then(|load| study::failed(page, view, load));
    let text = match (failed, view.loads.len()) {
        (Some(failed), 1) => failed,
        (_, 1) => "GATES: failed".to_owned(),
        _ => {
            let names = breached.iter().map(|load| page.short(load.name));
            format!("GATES: failed under {}", listed(names, LOADS_NAMED_MAX, ", "))
        }
    };
    notices.insert(0, Notice { tone: Tone::Bad, text });
    notices
}

/// Names the columns of names after their contents. The legend below the table states that the times are response times.
fn name_columns(mut table: Table) -> Table {
    if let Some(head) = table.heads.first_mut() {
        "system".clone_into(&mut head.text);
    }
    table
}

fn notice(tone: item::Tone, text: String) -> Notice {
    Notice { tone: convert_tone(tone), text }
}

fn convert_tone(tone: item::Tone) -> Tone {
    match tone {
        item::Tone::Plain | item::Tone::Strong => Tone::Plain,
        item::Tone::Good => Tone::Good,
        item::Tone::Doubtful => Tone::Doubtful,
        item::Tone::Bad => Tone::Bad,
    }
}

/// Whether a row is the best of its system, and whether it is the winner.
fn marks(load: &LoadView<'_>, row: usize) -> [bool; 2] {
    [load.best_rows().any(|best| best.row == row), study::winner(load) == Some(row)]
}

fn of_load(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Result<Load, EvidenceError> {
    let name = |load: &LoadView<'_>, row: usize| page.row(load, row);
    let winner = study::winner(load);
    let about: Vec<RowSubject> = (0..load.rows.len())
        .map(|row| RowSubject { row: Some(row), is_winner: winner == Some(row) })
        .collect();
    let of_steps: Vec<RowSubject> = load
        .rows
        .iter()
        .zip(&about)
        .flat_map(|(row, about)| row.steps.iter().map(|_| RowSubject { is_winner: false, ..*about }))
        .collect();
    let of_statements: Vec<RowSubject> = load
        .rows
        .iter()
        .zip(&about)
        .flat_map(|(row, about)| {
            row.steps
                .iter()
                .flat_map(|step| &step.statements)
                .map(|_| RowSubject { is_winner: false, ..*about })
        })
        .collect();
    let rows = load.rows.iter().enumerate();
    let rows = rows.map(|(place, row)| {
        let compared = study::compared(load, place);
        let compared = compared.map(|(text, verdict)| Compared { text, verdict });
        Ok(Row { compared, ..of_row(view, page, row, name(load, place), marks(load, place))? })
    });
    let has_figures = load.rows.iter().any(|row| row.figures.is_some());
    let gates = page.gates(load).into_iter().map(|(tone, text)| match tone {
        item::Tone::Plain => Notice { tone: Tone::Good, text },
        tone => notice(tone, text),
    });
    Ok(Load {
        name: page.text(load.name),
        words: page.text(load.words.as_deref().unwrap_or(load.name)),
        answer: answer(view, page, load),
        metric: metric(view, page),
        rows: rows.collect::<Result<_, EvidenceError>>()?,
        table: name_columns(table::of(tables::summary(view, load, str::to_owned), &about)),
        legend: if has_figures { sentences(&page.legend(load)) } else { Vec::new() },
        steps: tables::steps(view.noun(), load, str::to_owned)
            .map(|steps| name_columns(table::of(steps, &of_steps))),
        statements: tables::statements(load, str::to_owned)
            .map(|(_, statements)| name_columns(table::of(statements, &of_statements))),
        baseline: load.baseline,
        pairs: load.pairs.iter().map(|one| pair(view, load, one, &name)).collect(),
        costs: costs(view, page, load),
        measures: Vec::new(),
        caveats: caveats(view, page, load),
        bottlenecks: bottlenecks(view, page, load),
        errors: errors::of_rows(load.rows.iter().map(|row| row.figures.as_ref())),
        written: page.written(load),
        gates: gates.collect(),
        event_costs: event_costs::of_load(view, page, load),
        experiment: experiment::of_load(view, load),
        slower: slower::of_load(view, page, load),
        statement_times: statement_times(view, load),
        cpu_profiles: cpu_profiles::of_load(view, page, load),
    })
}

/// Physical costs, with a column for each row.
fn costs(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Option<CostTable> {
    let names: Vec<String> = (0..load.rows.len()).map(|row| page.row(load, row)).collect();
    let table = physical_cost::table(&view.runs, load, view.noun().one, &names, str::to_owned)?;
    Some(CostTable { table: table::of(table, &[]), legend: physical_cost::legend(load).unwrap_or_default() })
}

/// Sentences on the search for the best, further metrics, explanations, and the method.
fn caveats(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Vec<String> {
    let mut sentences = study::tournament::sentences(view, load, &|name| page.short(name));
    let name = |load: &LoadView<'_>, row: usize| page.row(load, row);
    sentences.extend(load.further.iter().map(|pair| format!("{}.", study::pair(view, load, pair, &name))));
    sentences.extend(page.unlike(load));
    sentences.extend(page.why(load).into_iter().map(|why| format!("{why}.")));
    sentences.extend(study::caveats(view, load));
    sentences
}

fn statement_times(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<StatementTimes> {
    let of_row = |(place, row): (usize, &study::VariantRow<'_>)| {
        super::statement_times::of_row(place, row.shown().map(|run| &view.runs[run]))
    };
    load.rows.iter().enumerate().filter_map(of_row).collect()
}

fn bottlenecks(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Vec<Bottleneck> {
    let of_row = |(place, row)| {
        super::bottlenecks::of_row(place, &crate::bottleneck::of_row(view, row), |text| page.text(text))
    };
    load.rows.iter().enumerate().filter_map(of_row).collect()
}

fn answer(view: &StudyView<'_>, page: &StudyPieces<'_>, load: &LoadView<'_>) -> Answer {
    let crate::answer::Answer { text, certainty, how_sure, besides } = study::headline(page, view, load);
    let text = if besides.is_empty() { text } else { format!("{text}; {besides}") };
    let begins_with_name =
        load.best_rows().next().is_some_and(|best| text.starts_with(&page.row(load, best.row)));
    let text = match (view.missing > 0, begins_with_name) {
        (true, _) => format!("So far: {text}."),
        (false, true) => format!("{text}."),
        (false, false) => of_run::sentence(&text),
    };
    let failed = study::failed(page, view, load).map_or_else(String::new, |failed| format!("{failed} "));
    Answer { certainty: certainty.name(), text: format!("{failed}{text}"), how_sure }
}

fn metric(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Metric {
    let compare = &view.study.new.compare;
    let (name, words, unit) = match &view.metric {
        Some(by) => (by.label(), view.metric_words(), figures::unit(by.metric)),
        None => (page.short(&compare.by), page.short(&compare.by), "count"),
    };
    let matters = match &view.metric {
        Some(by) if by.is_of_events() => figures::in_unit(by.metric, compare.matters).unwrap_or(0.0),
        _ => compare.matters,
    };
    let (scale, matters_text) = (apart::noun(study::scale(view)), view.matters());
    Metric { name, words, unit, higher_is_better: compare.higher_is_better, scale, matters, matters_text }
}

fn of_row(
    view: &StudyView<'_>,
    page: &StudyPieces<'_>,
    row: &study::VariantRow<'_>,
    name: String,
    [is_best, is_winner]: [bool; 2],
) -> Result<Row, EvidenceError> {
    let knob = |text: &str| sanitize(text, KNOB_CHARACTERS_MAX);
    let is_valid = |run: &&View<'_>| run.eligibility_by(view.metric.as_ref()) == Eligibility::Valid;
    let valid = row.runs.iter().map(|(run, _)| &view.runs[*run]).filter(is_valid);
    Ok(Row {
        name,
        system: page.short(&row.place.system),
        variant: page.short(&row.place.variant),
        knobs: row
            .place
            .knobs
            .iter()
            .map(|(name, value)| Knob { name: knob(name), value: knob(value) })
            .collect(),
        runs: row.runs.iter().map(|(run, _)| *run).collect(),
        median_run: study::median_run(view, row),
        shown: row.shown().collect(),
        is_best,
        is_winner,
        is_valid: row.is_valid,
        figures: figures::of_row(row, view.metric.as_ref()),
        fairness: figures::row_fairness(valid),
        metric: view
            .metric
            .as_ref()
            .zip(row.metric)
            .and_then(|(by, spread)| figures::spread(by.metric, spread)),
        compared: None,
        spectrum: row.tally(&view.runs)?.as_ref().and_then(spectrum::of),
    })
}

fn pair(view: &StudyView<'_>, load: &LoadView<'_>, pair: &study::Pair, name: study::Name<'_>) -> Pair {
    let comparison = &pair.comparison;
    let by = &pair.by;
    let finite = |figure: Option<f64>| figure.filter(|figure: &f64| figure.is_finite());
    let in_unit = |apart: Option<f64>| match by.scale() {
        judge::results::Scale::Ratio => finite(apart),
        judge::results::Scale::Difference => figures::in_unit(by.metric, apart?),
    };
    let in_blocks: Vec<f64> = pair.in_blocks.iter().copied().filter(|apart| apart.is_finite()).collect();
    let ends = comparison.estimate.zip(comparison.interval);
    Pair {
        estimate_text: comparison.estimate.map(|estimate| apart::alone(by, estimate)),
        ends_text: ends.map(|(of, ends)| apart::each_bound(by, of, ends)),
        in_blocks_text: in_blocks.iter().map(|one| apart::alone(by, *one)).collect(),
        first: pair.first,
        second: pair.second,
        estimate: in_unit(comparison.estimate),
        low: in_unit(comparison.interval.map(|[low, _]| low)),
        high: in_unit(comparison.interval.map(|[_, high]| high)),
        confidence: finite(comparison.confidence),
        verdict: match comparison.verdict {
            judge::results::Verdict::Differs { below_matters: true } if !pair.has_more_errors => {
                "differs_below"
            }
            _ => verdict_word(pair),
        },
        blocks: comparison.blocks,
        in_blocks: in_blocks.iter().filter_map(|one| in_unit(Some(*one))).collect(),
        sentence: study::pair(view, load, pair, name),
    }
}

/// Indexes of load and row for every run.
fn places(view: &StudyView<'_>) -> Vec<(usize, usize)> {
    let mut places = vec![(0, 0); view.runs.len()];
    for (load, of_load) in view.loads.iter().enumerate() {
        for (row, of_row) in of_load.rows.iter().enumerate() {
            of_row.runs.iter().chain(&of_row.others).for_each(|(run, _)| places[*run] = (load, row));
        }
    }
    places
}

/// A run of the study.
fn placed_run(view: &StudyView<'_>, (load, row): (usize, usize), run: &View<'_>) -> Run {
    Run { load, row, block: run.place().map(|place| place.block), ..of_run::run(run, view.metric.as_ref()) }
}

fn validity(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Validity {
    let (level, sentence) = study::validity(view);
    Validity { level: level.name(), sentence, doubts: doubts(view, page) }
}

/// Failures and doubts, grouped over runs.
fn doubts(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Vec<Doubt> {
    let (brief, groups) = (Brief { view, page }, troubles::grouped(view));
    let of_group = |group: &Group<'_>| {
        let told = page.of_group(group);
        let tone = match group.kind {
            TroubleKind::Note { .. } => Tone::Plain,
            _ => convert_tone(told.tone),
        };
        let (sentence, remedy, quote) = (told.sentence, told.remedy, told.quote);
        Doubt { tone, place: brief.of_runs(group), sentence, remedy, quote }
    };
    let mut doubts: Vec<Doubt> = groups.iter().map(of_group).collect();
    truncate_list(&mut doubts, DOUBTS_MAX, |more| Doubt {
        tone: Tone::Plain,
        place: String::new(),
        sentence: format!("and {more} more"),
        remedy: String::new(),
        quote: Vec::new(),
    });
    doubts
}

fn commands(view: &StudyView<'_>, page: &StudyPieces<'_>) -> Vec<Fact> {
    let id = &view.study.id;
    let command = page.command("plan.yaml");
    let mut commands = vec![
        match page.own_command() {
            Some(command) => Fact::new("measure again", command),
            None => Fact::new("measure again, with the plan below as plan.yaml", command.clone()),
        },
        Fact::new("see it in a terminal", format!("tenbin report {id}")),
        Fact::new("make this page again", format!("tenbin report {id} --format html -o report.html")),
    ];
    if view.missing > 0 && view.study.state == StudyState::Interrupted && !page.cannot_resume() {
        commands.insert(1, Fact::new("make the runs that are missing", page.resuming("plan.yaml")));
    }
    commands
}

/// Text of the plan with its line breaks, cut to [`PLAN_BYTES_MAX`].
fn plan(source: &str) -> String {
    let mut end = source.len().min(PLAN_BYTES_MAX);
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let lines: Vec<String> = source[..end].lines().map(|line| visible(&line.replace('\t', "    "))).collect();
    let mut text = lines.join("\n");
    if end < source.len() {
        text.push_str("\n…");
    }
    text
}

/// Splits a paragraph into sentences.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = text.split(". ").map(|sentence| format!("{sentence}.")).collect();
    if let Some(last) = sentences.last_mut()
        && last.ends_with("..")
    {
        last.pop();
    }
    sentences
}
