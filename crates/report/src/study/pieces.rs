//! Texts and items of a report on a study.

use evidence::{
    COMMAND, Decision, Distorted, Distortion, EXTENSIONS_MAX, Level, NewRun, OUT_OF_TIME, Procedure,
    StudyState, UNLIKE_OK,
};
use judge::results::Scale;
use judge::words::blocks;
use judge::{Bottleneck, Eligibility};

use super::answer::{answer, winner};
use super::sentences::{self, row_name};
use super::troubles::{self, Group, Trouble, TroubleKind};
use super::validity::validity;
use super::{LoadView, StudyView, bottlenecks, explained, gates, of_baseline, others, written};
use crate::alike;
use crate::apart;
use crate::bottleneck;
use crate::breaches;
use crate::capacity;
use crate::events;
use crate::item::{Escape, Item, Tone};
use crate::spark;
use crate::text::{listed, sanitize, shell_quote, truncate_list};
use crate::units::count;
use crate::words;

/// Maximum number of characters of a text from outside.
const TEXT_CHARACTERS_MAX: usize = 300;
/// Maximum number of characters of a row's name.
const NAME_CHARACTERS_MAX: usize = 48;
/// Maximum number of lines in a list, such as the failures of a load or its gates.
const LINES_MAX: usize = 24;
/// Maximum number of rows that are named together.
const NAMES_MAX: usize = 8;
/// Width of the axis for intervals in columns.
const INTERVAL_COLUMNS: usize = 40;
/// Maximum number of kinds of errors under one load.
const ERRORS_MAX: usize = 12;

/// Makes the texts and items of a report on a study.
pub(crate) struct StudyPieces<'a> {
    view: &'a StudyView<'a>,
    pub(super) escape: Escape,
}

/// Failure or doubt of runs in a row.
pub(crate) struct FailureLine {
    pub(crate) tone: Tone,
    /// Name of the row, and number of its runs.
    pub(crate) place: String,
    pub(crate) sentence: String,
    /// Advice. May be empty.
    pub(crate) remedy: String,
    /// Output of its processes, line by line.
    pub(crate) quote: Vec<String>,
}

impl<'a> StudyPieces<'a> {
    pub(crate) fn new(view: &'a StudyView<'a>, escape: Escape) -> Self {
        Self { view, escape }
    }

    /// Question, results, and validity.
    pub(super) fn answers(&self) -> Vec<Item> {
        let (view, new) = (self.view, &self.view.study.new);
        let mut items = vec![Item::Title(self.text(new.question.as_ref().unwrap_or(&new.title)))];
        for load in &view.loads {
            let of_load =
                if view.loads.len() > 1 { format!(" ({})", self.text(load.name)) } else { String::new() };
            let failed = gates::failed(self, view, load);
            let open = of_baseline::undecided(self, view, load);
            let told = failed.into_iter().chain(open);
            items.extend(told.map(|told| Item::Text(Tone::Bad, format!("{told}{of_load}"))));
        }
        let so_far = if view.missing > 0 { " so far" } else { "" };
        if let Some(capacity) = &view.capacity {
            items.extend(capacity::answers(capacity, self.escape));
        }
        for load in view.loads.iter().filter(|_| view.capacity.is_none()) {
            let of_load =
                if view.loads.len() > 1 { format!(" ({})", self.text(load.name)) } else { String::new() };
            let sentence = answer(self, view, load).sentence();
            items.push(Item::Text(Tone::Strong, format!("Result{so_far}{of_load}: {sentence}.")));
        }
        let (level, sentence) = validity(view);
        let tone = match level {
            Level::Valid => Tone::Plain,
            Level::Suspect => Tone::Doubtful,
            Level::Invalid => Tone::Bad,
        };
        items.push(Item::Text(tone, sentence));
        items
    }

    /// Facts on the procedure of the study.
    pub(super) fn facts(&self) -> Item {
        let mut facts = vec![("study", self.study())];
        if self.view.capacity.is_none() {
            facts.push(("compared", self.compared()));
        }
        facts.extend(of_baseline::facts(self, self.view).into_iter().map(|line| ("baseline", line)));
        facts.extend(self.stopped().map(|why| ("stopped", why)));
        facts.push(("machine", self.machine()));
        facts.extend(
            words::machine_figures(&self.view.study.new.host).map(|words| ("machine can", self.text(&words))),
        );
        let versions = self.versions();
        if !versions.is_empty() {
            facts.push(("versions", versions.join(", ")));
        }
        Item::facts(facts)
    }

    pub(super) fn stamps(&self) -> Vec<Item> {
        // Without a difference, there is nothing to accept.
        let is_alike = self.view.loads.iter().all(|load| load.unlike.is_empty());
        let stamps = self.view.study.new.stamps.iter().filter(|stamp| !is_alike || *stamp != UNLIKE_OK);
        let stamps = stamps.map(|stamp| Item::Text(tone(stamp), self.text(stamp)));
        let found = [self.view.unknown(), self.view.short_run_warning()].into_iter().flatten();
        stamps.chain(found.map(|sentence| Item::Text(Tone::Doubtful, sentence))).collect()
    }

    /// Formats the load, preceded by its name unless the text begins with it.
    pub(super) fn head(&self, load: &LoadView<'_>) -> String {
        let words = load.words.as_deref().unwrap_or(load.name);
        // A load without a name is named after its description, or after the start of it.
        match words.starts_with(load.name) || load.name.contains('{') {
            true => self.text(words),
            false => format!("{}: {}", self.text(load.name), self.text(words)),
        }
    }

    /// Heading above the comparisons.
    pub(super) fn pairs_heading(&self, load: &LoadView<'_>) -> String {
        match load.baseline {
            Some(baseline) => format!("All against {}, the baseline", self.row(load, baseline)),
            None => "Head-to-head".to_owned(),
        }
    }

    /// Comparisons by every metric, with all intervals on a common axis.
    pub(super) fn pairs(&self, load: &LoadView<'_>) -> Vec<Item> {
        let Some(by) = &self.view.metric else { return Vec::new() };
        let each = || load.pairs.iter().chain(&load.further);
        // Comparisons in another unit have no place on the axis.
        let on_axis = |pair: &super::Pair| pair.by.has_unit_of(by);
        let ends = each()
            .filter(|pair| on_axis(pair))
            .flat_map(|pair| pair.comparison.interval.into_iter().flatten());
        // The axis is wide enough that a negligible difference cannot fill it.
        let matters = self.view.study.new.compare.matters;
        let least = match by.scale() {
            Scale::Ratio => [1.0 / (1.0 + matters), 1.0 + matters],
            Scale::Difference => [-matters, matters],
        };
        let ends = ends.filter(|end| end.is_finite());
        let [low, high] = ends.fold(least, |[low, high], end| [low.min(end), high.max(end)]);
        let none = by.scale().none();
        let name = |load: &LoadView<'_>, row: usize| self.row(load, row);
        let drawing = |pair: &super::Pair| {
            let (middle, ends) =
                (pair.comparison.estimate.filter(|_| on_axis(pair))?, pair.comparison.interval?);
            let line = spark::interval(middle, ends, none, [low, high], INTERVAL_COLUMNS);
            let [low, high] = [low, high].map(|end| apart::alone(by, end));
            Some(format!("{low} {line} {high}"))
        };
        let told = each().map(|pair| (sentences::pair(self.view, load, pair, &name), drawing(pair)));
        let mut told: Vec<(String, Option<String>)> = told.collect();
        if told.iter().any(|(_, drawing)| drawing.is_some()) {
            let noun = apart::noun(by.scale());
            let sentence = format!(
                "● is the {noun} in its interval; │ is {none}, no difference (┼ within the interval, ◉ at the {noun})."
            );
            told.push((sentence, None));
        }
        if told.is_empty() { Vec::new() } else { vec![Item::Drawn(told)] }
    }

    /// Explanations of the slower rows of pairs, as far as readings allow.
    pub(crate) fn why(&self, load: &LoadView<'_>) -> Vec<String> {
        let name = |load: &LoadView<'_>, row: usize| self.row(load, row);
        let text = |text: &str| self.short(text);
        let told = load.pairs.iter().take(LINES_MAX);
        told.filter_map(|pair| explained::sentence(self.view, load, pair, &name, &text)).collect()
    }

    /// All differences between the work of variants, one line each.
    pub(crate) fn unlike(&self, load: &LoadView<'_>) -> Vec<String> {
        alike::difference_lines(load, &|row| self.row(load, row), &|text| self.text(text))
    }

    pub(crate) fn study(&self) -> String {
        let (view, new) = (self.view, &self.view.study.new);
        let runs = match view.planned() {
            planned if planned == view.done() => runs(planned),
            planned => format!("{} of {}", count(view.done() as u64), runs(planned)),
        };
        let quick = if new.is_quick { ", quick" } else { "" };
        let most = blocks(view.study.blocks() as usize);
        let order = match &new.compare.procedure {
            Procedure::Capacity(_) => format!("(seed {})", new.seed),
            Procedure::Blocks => format!("in {most} (random order within each, seed {})", new.seed),
            Procedure::BestOfEach { sweep_blocks } => format!(
                "in a sweep of {} and a final of {most} (random order within each, seed {})",
                blocks(*sweep_blocks as usize),
                new.seed
            ),
            Procedure::Duel { slices: Some(rules), .. } => {
                let paused = if rules.pauses_idle { ", the idle system stopped" } else { "" };
                format!(
                    "in up to {most} of slices (both variants started for each, random balanced order{paused}, seed {})",
                    new.seed
                )
            }
            Procedure::RoundRobin { slices: rules, .. } => {
                let paused = if rules.pauses_idle { ", idle systems stopped" } else { "" };
                format!(
                    "in up to {most} of slices (all variants started for each, random mirrored order{paused}, seed {})",
                    new.seed
                )
            }
            Procedure::Best { slices: Some(rules), .. } => {
                let paused = if rules.pauses_idle { ", idle systems stopped" } else { "" };
                format!(
                    "in up to {most} of slices (all variants that are left started for each, random mirrored order{paused}, seed {})",
                    new.seed
                )
            }
            Procedure::Duel { .. } | Procedure::Best { .. } => {
                format!(
                    "in up to {} blocks (random order within each, seed {})",
                    view.study.blocks(),
                    new.seed
                )
            }
        };
        format!("{}{quick}: {runs} {order}, started {}", self.text(&new.title), view.started_at())
    }

    /// Reason why a procedure stopped. `None` while the study is running, and if all runs were planned in advance, unless time ran
    /// out.
    pub(crate) fn stopped(&self) -> Option<String> {
        let why = self.view.study.ending.as_ref()?.why.as_deref()?;
        let within = self
            .view
            .study
            .new
            .compare
            .within_s
            .map_or_else(String::new, |s| format!(" of {}", crate::units::duration(s * 1e9)));
        match (why, &self.view.study.new.compare.procedure) {
            (_, Procedure::Blocks | Procedure::BestOfEach { .. }) if why != OUT_OF_TIME => None,
            ("decided", _) => Some("the result was conclusive".to_owned()),
            ("blocks", _) => Some("all runs that it may have were made".to_owned()),
            (OUT_OF_TIME, _) => Some(format!("its time{within} was used up: missing runs were not made")),
            ("not fit", _) => {
                Some("too many runs were invalid: this machine is not fit to measure it".to_owned())
            }
            _ => None,
        }
    }

    pub(crate) fn compared(&self) -> String {
        let compare = &self.view.study.new.compare;
        if compare.looks_for_failures() {
            return "nothing: the plan asks what fails".to_owned();
        }
        let Some(by) = &self.view.metric else { return format!("by {}", self.text(&compare.by)) };
        let better = if compare.higher_is_better { "higher" } else { "lower" };
        let levels = self.view.loads.iter().find_map(|load| sentences::sliced(load.sliced.as_ref()?));
        let name = |load: &LoadView<'_>, row: usize| self.row(load, row);
        let others = self.view.loads.iter().find_map(|load| others::sentence(self.view, load, &name));
        let told: String = levels.into_iter().chain(others).map(|told| format!(" {told}")).collect();
        format!(
            "by {}, {better} is better; threshold {}{}{told}",
            by.words(self.view.noun().unit),
            self.view.matters(),
            if told.is_empty() { "" } else { "." }
        )
    }

    pub(crate) fn machine(&self) -> String {
        words::machine(&self.view.study.new.host).map_or("not known".to_owned(), |words| self.text(&words))
    }

    /// Versions that the systems reported, without duplicates.
    pub(crate) fn versions(&self) -> Vec<String> {
        let mut versions: Vec<String> = Vec::new();
        for view in &self.view.runs {
            if let (Some(place), Some(version)) = (view.place(), &view.run.new.system_version) {
                let version = match version.to_lowercase().contains(&place.system.to_lowercase()) {
                    true => self.short(version),
                    false => format!("{} {}", self.short(&place.system), self.short(version)),
                };
                if !versions.contains(&version) && versions.len() < LINES_MAX {
                    versions.push(version);
                }
            }
        }
        versions.sort();
        versions
    }

    /// Formats one line per bottleneck: its name, its rows, and the evidence of the first row.
    pub(super) fn bottlenecks(&self, load: &LoadView<'_>) -> Vec<String> {
        let name = |row: &usize| self.row(load, *row);
        let lines = |group: &bottlenecks::Group| {
            let names = listed(group.rows.iter().map(name), NAMES_MAX, ", ");
            let because = self.text(&bottleneck::evidence_and_advice(&group.bottleneck));
            let of_first = if group.rows.len() > 1 { "; of the first: " } else { ": " };
            let first = format!("{}: {names}{of_first}{because}", group.bottleneck.what);
            let of = self.row(load, group.rows[0]);
            let other = |cause: &Bottleneck| {
                let because = self.text(&bottleneck::evidence_and_advice(cause));
                format!("less likely, of {of}: {}: {because}", cause.what)
            };
            std::iter::once(first).chain(group.others.iter().map(other)).collect::<Vec<_>>()
        };
        bottlenecks::of_load(self.view, load).iter().flat_map(lines).collect()
    }

    /// Legend of the table.
    pub(crate) fn legend(&self, load: &LoadView<'_>) -> String {
        let mut legend = format!(
            "Times: response times of all valid runs together. Rates and cores: medians over runs. {}: over all runs. \
             Memory and queue: max over runs.",
            self.view.noun().us_per_one
        );
        if winner(load).is_some() {
            legend.push_str(&format!(" ★: the best {} in every comparison.", self.view.metric_words()));
        }
        if load.rows.iter().any(|row| !row.is_valid && row.figures.is_some()) {
            legend.push_str(" Rows without a valid run show invalid runs, and are not ranked.");
        }
        legend.extend(self.sweep_note(load).map(|words| format!(" {words}")));
        legend
    }

    /// Sentence that distinguishes rows of the final from rows of the sweep. `None` unless the table has both.
    pub(super) fn sweep_note(&self, load: &LoadView<'_>) -> Option<String> {
        let Procedure::BestOfEach { sweep_blocks } = self.view.study.new.compare.procedure else {
            return None;
        };
        let finalists = load.rows.iter().filter(|row| row.is_ranked).count();
        if finalists == 0 || finalists == load.rows.len() {
            return None;
        }
        let swept = blocks(sweep_blocks as usize);
        Some(format!(
            "The best variant of each system: {} of the final, the only ones that are compared. All others: {swept} of the sweep.",
            blocks(self.view.study.blocks() as usize)
        ))
    }

    /// Events during the load, one line for each row and event.
    pub(super) fn events(&self, load: &LoadView<'_>) -> Vec<String> {
        let of_row = |number: usize| {
            let row = &load.rows[number];
            let runs = row.runs.iter().chain(&row.others).map(|(run, _)| self.view.runs[*run].run);
            let lines = events::of_runs(runs, self.escape).into_iter();
            lines.map(move |line| format!("{}, {line}", self.row(load, number)))
        };
        first((0..load.rows.len()).flat_map(of_row).collect(), LINES_MAX)
    }

    pub(super) fn errors(&self, load: &LoadView<'_>) -> Vec<Item> {
        let of_row = |row: usize| {
            let figures = load.rows[row].figures.iter();
            let lines = figures.flat_map(|figures| &figures.errors).take(3);
            lines.map(move |line| {
                let (class, message) = (self.short(line.class.as_str()), self.text(&line.message));
                format!("{}: {} × {class}: {message}", self.row(load, row), count(line.count))
            })
        };
        let errors: Vec<String> = (0..load.rows.len()).flat_map(of_row).collect();
        section("Errors", first(errors, ERRORS_MAX))
    }

    /// Most frequent output of systems with errors, in the last run of each.
    pub(crate) fn written(&self, load: &LoadView<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, row) in load.rows.iter().enumerate() {
            let last = row.eligibility(Eligibility::Valid).last().filter(|_| row.error_share > Some(0.0));
            for habit in
                last.map(|run| written::frequent_lines(self.view.runs[run].run.outputs())).unwrap_or_default()
            {
                let at_least = if habit.is_cut { "at least " } else { "" };
                let (row, process) = (self.row(load, number), self.short(habit.process));
                let often = count(habit.lines as u64);
                lines.push(format!(
                    "{row}, {process}, {at_least}{often} lines like: {}",
                    self.text(&habit.line)
                ));
            }
        }
        first(lines, ERRORS_MAX)
    }

    pub(super) fn troubles(&self, load: &LoadView<'_>) -> Vec<Item> {
        let troubles = troubles::of_load(self.view, load);
        if troubles.is_empty() {
            return Vec::new();
        }
        let mut items = Vec::new();
        for trouble in troubles.iter().take(LINES_MAX) {
            items.extend(self.trouble(load, trouble));
        }
        if let Some(more @ 1..) = troubles.len().checked_sub(LINES_MAX) {
            items.push(Item::Text(Tone::Plain, format!("and {more} more")));
        }
        items
    }

    fn trouble(&self, load: &LoadView<'_>, trouble: &Trouble<'_>) -> Vec<Item> {
        let FailureLine { tone, place, sentence, remedy, quote } = self.told(load, trouble);
        let mut items = vec![Item::Text(tone, format!("{place}: {sentence}"))];
        if !remedy.is_empty() {
            items.push(Item::points([format!("help: {remedy}")]));
        }
        if !quote.is_empty() {
            items.push(Item::Quote(quote));
        }
        items
    }

    pub(crate) fn told(&self, load: &LoadView<'_>, trouble: &Trouble<'_>) -> FailureLine {
        let row = &load.rows[trouble.row];
        let of = row.runs.len() + row.others.len();
        let runs = match (trouble.runs, of) {
            (1, 1) => "the run".to_owned(),
            (2, 2) => "both runs".to_owned(),
            (runs, of) if runs == of => format!("all {of} runs"),
            (runs, of) => format!("{runs} of {of} runs"),
        };
        let place = format!("{}, {runs}", self.row(load, trouble.row));
        FailureLine { place, ..self.kind_line(&trouble.kind, None, &[]) }
    }

    /// Failure line of a group, for all its runs.
    pub(crate) fn of_group(&self, group: &Group<'_>) -> FailureLine {
        self.kind_line(&group.kind, group.sentence.as_deref(), &group.distorts)
    }

    /// Failure line without its place. `instead` replaces the sentence. `distorts` combines the distortions of all runs with this
    /// doubt.
    fn kind_line(
        &self,
        kind: &TroubleKind<'_>,
        instead: Option<&str>,
        distorts: &[Distortion],
    ) -> FailureLine {
        let tail = |outputs, process| {
            words::tail(outputs, process).iter().map(|line| self.text(line)).collect::<Vec<_>>()
        };
        let (tone, sentence, remedy, quote) = match *kind {
            TroubleKind::Failure { stage, process, what, way_out, outputs } => {
                let of_process =
                    process.map_or_else(String::new, |process| format!(", {}", self.short(process)));
                let sentence = format!("failed ({}{of_process}): {}", self.short(stage), self.text(what));
                (Tone::Bad, sentence, self.text(way_out), tail(outputs, process))
            }
            TroubleKind::Doubt { level, cause } => {
                let spoiled = cause.distorts.iter().filter(|of| of.level == Level::Invalid);
                let spoiled: Vec<Distorted> = spoiled.map(|of| of.figure).collect();
                let (tone, word, remedy) = match level {
                    Level::Invalid => (Tone::Bad, level.name().to_owned(), &*cause.remedy),
                    // The doubt concerns a figure that the study is not about.
                    Level::Suspect if !spoiled.is_empty() => (
                        Tone::Doubtful,
                        format!("invalid{}", words::doubtful_figures(&spoiled)),
                        &*cause.remedy,
                    ),
                    Level::Suspect => (Tone::Doubtful, level.name().to_owned(), &*cause.remedy),
                    Level::Valid => (Tone::Plain, "too little to matter".to_owned(), ""),
                };
                let distorts = if distorts.is_empty() { &cause.distorts } else { distorts };
                let sentence = judge::validity::said(distorts, instead.unwrap_or(&cause.sentence));
                (tone, format!("{word}: {}", self.text(&sentence)), self.text(remedy), Vec::new())
            }
            TroubleKind::CutShort => (Tone::Doubtful, "cut short".to_owned(), String::new(), Vec::new()),
            TroubleKind::Note { text, outputs } => {
                (Tone::Doubtful, self.text(instead.unwrap_or(text)), String::new(), tail(outputs, None))
            }
        };
        FailureLine { tone, place: String::new(), sentence, remedy, quote }
    }

    /// Results of the gates, one line each.
    pub(crate) fn gates(&self, load: &LoadView<'_>) -> Vec<(Tone, String)> {
        let mut lines = self.gates_of_runs(load);
        lines.extend(
            of_baseline::lines(self, self.view, load).into_iter().map(|(tone, _, line)| (tone, line)),
        );
        lines
    }

    /// Results of the gates that every run must pass.
    pub(super) fn gates_of_runs(&self, load: &LoadView<'_>) -> Vec<(Tone, String)> {
        let gates = gates::of_load(self.view, load);
        let mut lines = Vec::new();
        let mut texts: Vec<(&str, Option<&str>)> = gates.iter().map(|gate| (gate.text, gate.step)).collect();
        texts.dedup();
        for (text, step) in texts {
            let of_text = || gates.iter().filter(move |gate| (gate.text, gate.step) == (text, step));
            let runs: usize = of_text().map(|gate| gate.runs).sum();
            let held: usize = of_text().map(|gate| gate.held).sum();
            let undecided: usize = of_text().map(|gate| gate.undecided).sum();
            let text = self.text(text);
            let units = if self.view.is_in_slices() { "starts" } else { "valid runs" };
            let of = match runs {
                1 => "the valid run".to_owned(),
                runs if held == runs => format!("all {runs} {units}"),
                runs => format!("{held} of {runs} {units}"),
            };
            let (tone, line) = match held {
                held if held == runs => (Tone::Plain, format!("held in {of}")),
                held if held + undecided == runs => {
                    let line = format!("undecided in {undecided} of {runs} {units}, and held in the others");
                    (if self.view.study.new.is_quick { Tone::Doubtful } else { Tone::Bad }, line)
                }
                0 => (Tone::Bad, format!("failed, held in none of {runs} {units}")),
                _ => (Tone::Bad, format!("failed, held in {of}")),
            };
            lines.push((tone, format!("{text}: {line}")));
            for gate in of_text().filter(|gate| gate.held < gate.runs) {
                let worst = match gate.worst.decision {
                    Decision::Undecided => breaches::why_undecided(gate.worst, None),
                    _ => format!("at worst {}", words::observed(gate.worst)),
                };
                let (row, worst) = (self.row(load, gate.row), (self.escape)(&worst));
                let of = gates::judged_count(self.view, gate.runs);
                let line = format!("· {row}: held in {} of {of}, {worst}", gate.held);
                lines.push((tone, line));
            }
        }
        for row in gates::unjudged(self.view, load) {
            let why = gates::why_unjudged(load, row);
            let line = format!("not judged for {}: {why}", self.row(load, row));
            lines.push((Tone::Bad, line));
        }
        let failed: usize = load.rows.iter().map(|row| row.count(Eligibility::Failed)).sum();
        if failed > 0 && !self.view.study.new.gates.is_empty() {
            lines.push((Tone::Bad, format!("failed: {} failed, and meet no condition", runs(failed))));
        }
        truncate_list(&mut lines, LINES_MAX, |more| (Tone::Plain, format!("and {more} more")));
        lines
    }

    /// Facts on where the study is stored, and how to measure it again.
    pub(super) fn end(&self) -> Item {
        let id = &self.view.study.id;
        let mut facts = vec![
            ("kept", format!("as {id}; show again: tenbin report {id}")),
            ("measure again", self.again()),
        ];
        let superseded = self.view.study.superseded.len();
        if superseded > 0 {
            let why = "cut short or repeated since, in none of these figures";
            facts.push(("superseded", format!("{}, {why}", runs(superseded))));
        }
        Item::facts(facts)
    }

    /// Missing runs, and the number of blocks that may be conclusive.
    pub(super) fn next(&self) -> Vec<(&'static str, String)> {
        let (view, mut facts) = (self.view, Vec::new());
        if view.missing > 0 {
            let way_out = match view.study.state {
                StudyState::Running => "the study is still running".to_owned(),
                _ if self.cannot_resume() => {
                    format!("to start again: {}", self.command(&self.plan_file()))
                }
                _ => format!("to run them: {}", self.resuming(&self.plan_file())),
            };
            facts.push(("missing", format!("{}; {way_out}", runs(view.missing))));
        }
        if let Some(blocks) = self.blocks_to_add() {
            let command = format!("{} --blocks {blocks}", self.resuming(&self.plan_file()));
            facts.push(("extend", format!("{blocks} blocks may be conclusive: {command}")));
        }
        facts
    }

    /// Number of blocks that may decide a pair that is inconclusive after all planned blocks. `None` if an extension is impossible
    /// or useless.
    fn blocks_to_add(&self) -> Option<u32> {
        let study = self.view.study;
        let is_for = study.new.compare.procedure.can_be_extended();
        let is_over =
            is_for && study.state == StudyState::Complete && study.extensions.len() < EXTENSIONS_MAX;
        let pairs = self.view.loads.iter().flat_map(|load| &load.pairs).filter(|_| is_over);
        let open = pairs.filter(|pair| pair.comparison.verdict == judge::results::Verdict::Inconclusive);
        // If lost blocks were replaced, the number of planned blocks differs from the number of blocks that count.
        let is_fixed =
            matches!(study.new.compare.procedure, Procedure::Blocks | Procedure::BestOfEach { .. });
        let least = if is_fixed { study.blocks() + 1 } else { 0 };
        let of_pairs = open.filter_map(super::Pair::next_look_blocks).max().map(|blocks| blocks.max(least));
        of_pairs.max(of_baseline::blocks_to_add(self.view).filter(|_| is_over))
    }

    /// The command that resumes the study.
    pub(crate) fn resuming(&self, plan: &str) -> String {
        let study = self.view.study;
        let is_out_of_time =
            study.ending.as_ref().is_some_and(|ending| ending.why.as_deref() == Some(OUT_OF_TIME));
        let more_time = if is_out_of_time { " --within TIME" } else { "" };
        let command = match self.own_command() {
            Some(command) if self.cannot_resume() => return command,
            // The new time limit replaces the one in the command.
            Some(command) if is_out_of_time => without_flag(&command, "--within"),
            _ => self.command(plan),
        };
        format!("{command} --resume {}{more_time}", study.id)
    }

    /// Whether the command that made the study cannot resume it. A comparison of two URLs cannot be resumed, because it has no plan file.
    pub(crate) fn cannot_resume(&self) -> bool {
        self.own_command().is_some() && self.view.capacity.is_none()
    }

    /// The command that measures again.
    pub(crate) fn again(&self) -> String {
        self.command(&self.plan_file())
    }

    /// Path of the plan file, quoted for a shell. A placeholder if no run has it.
    fn plan_file(&self) -> String {
        let mut runs = self.view.study.runs.iter();
        let file = runs.find_map(|run| run.new.plan_json[NewRun::PLAN_FILE].as_str());
        self.text(&file.map_or_else(|| "<plan file>".to_owned(), shell_quote))
    }

    /// Command that took the plan as arguments. `None` if the plan came from a file.
    pub(crate) fn own_command(&self) -> Option<String> {
        let first = self.view.study.new.source.lines().next()?;
        first.strip_prefix(COMMAND).map(|command| self.text(command))
    }

    /// Formats the command that runs this kind of study from a plan.
    pub(crate) fn command(&self, plan: &str) -> String {
        if let Some(command) = self.own_command() {
            return command;
        }
        let quick = if self.view.study.new.is_quick { " --quick" } else { "" };
        match &self.view.capacity {
            Some(capacity) => {
                let asked = self.text(&capacity.asked.join(", "));
                format!("tenbin capacity {plan} --slo '{asked}'{quick}")
            }
            None => format!("tenbin run {plan}{quick}"),
        }
    }

    /// Escapes a text from outside, and cuts it to `columns_max` columns.
    pub(super) fn escaped(&self, text: &str, columns_max: usize) -> String {
        (self.escape)(&sanitize(text, columns_max))
    }

    /// Escapes a text from outside, and cuts it.
    pub(crate) fn text(&self, text: &str) -> String {
        (self.escape)(&sanitize(text, TEXT_CHARACTERS_MAX))
    }

    pub(crate) fn short(&self, text: &str) -> String {
        (self.escape)(&sanitize(text, NAME_CHARACTERS_MAX))
    }

    pub(crate) fn row(&self, load: &LoadView<'_>, row: usize) -> String {
        self.short(&row_name(load, row))
    }
}

/// Removes a flag and its value from a command. The value must not contain spaces.
fn without_flag(command: &str, flag: &str) -> String {
    let (mut words, mut left) = (command.split(' '), Vec::new());
    while let Some(word) = words.next() {
        match word.strip_prefix(flag) {
            Some("") => drop(words.next()),
            Some(value) if value.starts_with('=') => {}
            _ => left.push(word),
        }
    }
    left.join(" ")
}

/// Tone of a stamp.
pub(crate) fn tone(stamp: &str) -> Tone {
    let is_warning = ["SHARED:", "QUICK:"].iter().any(|word| stamp.starts_with(word));
    if is_warning { Tone::Doubtful } else { Tone::Plain }
}

pub(crate) fn runs(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{} runs", count(runs as u64)) }
}

/// A heading and its points. Empty without any points.
pub(super) fn section(head: &str, points: Vec<String>) -> Vec<Item> {
    if points.is_empty() {
        return Vec::new();
    }
    vec![Item::Head(head.to_owned()), Item::points(points)]
}

/// The first `lines_max` lines, and the number of omitted ones.
fn first(mut lines: Vec<String>, lines_max: usize) -> Vec<String> {
    truncate_list(&mut lines, lines_max, |more| format!("and {more} more"));
    lines
}

#[cfg(test)]
mod tests {
    use super::without_flag;

    #[test]
    fn removes_flag_with_its_value() {
        let without = |command: &str| without_flag(command, "--within");
        assert_eq!(without("tenbin capacity x --within 6s --quick"), "tenbin capacity x --quick");
        assert_eq!(without("tenbin capacity x --within=6s"), "tenbin capacity x");
        assert_eq!(without("tenbin capacity x --within 6s"), "tenbin capacity x");
        assert_eq!(without("tenbin capacity x --withinx 6s"), "tenbin capacity x --withinx 6s");
    }
}
