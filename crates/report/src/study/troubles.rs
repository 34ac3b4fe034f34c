//! Failures and doubts of runs, grouped over all runs that share them.

use evidence::{Cause, Distortion, Level, Output};
use judge::Eligibility;

use super::{LoadView, StudyView};
use crate::view::View;

/// Failure or doubt of runs in one row. Arbitrary texts: escape them.
pub(crate) struct Trouble<'a> {
    pub(crate) row: usize,
    /// Number of runs.
    pub(crate) runs: usize,
    pub(crate) kind: TroubleKind<'a>,
}

/// Kind of failure or doubt.
pub(crate) enum TroubleKind<'a> {
    /// The system did not start, or died.
    Failure {
        stage: &'a str,
        process: Option<&'a str>,
        what: &'a str,
        way_out: &'a str,
        outputs: &'a [Output],
    },
    /// Doubt about some or all figures. At [`Level::Valid`], the observed effect of the generator was negligible.
    Doubt { level: Level, cause: &'a Cause },
    /// The run ended early without a failure.
    CutShort,
    /// Further notes, such as a system that had to be killed, or a command that failed afterwards.
    Note { text: &'a str, outputs: &'a [Output] },
}

/// Failures and doubts of a load: failures first, then runs that do not count, then suspect ones, then notes; by row.
pub(crate) fn of_load<'a>(view: &'a StudyView<'_>, load: &LoadView<'_>) -> Vec<Trouble<'a>> {
    let mut troubles: Vec<Trouble<'a>> = Vec::new();
    for (row, of_row) in load.rows.iter().enumerate() {
        for (run, eligibility) in of_row.runs.iter().chain(&of_row.others) {
            for kind in of_run(&view.runs[*run], *eligibility) {
                match troubles.iter_mut().find(|known| known.row == row && known.kind.is_similar(&kind)) {
                    Some(known) => known.runs += 1,
                    None => troubles.push(Trouble { row, runs: 1, kind }),
                }
            }
        }
    }
    troubles.sort_by_key(|trouble| (trouble.kind.rank(), trouble.row));
    troubles
}

/// Failure or doubt that runs of any rows share.
pub(crate) struct Group<'a> {
    /// Kind, as it was in the first run.
    pub(crate) kind: TroubleKind<'a>,
    /// Number of runs.
    pub(crate) runs: usize,
    /// Indexes of load and row, without duplicates.
    pub(crate) places: Vec<(usize, usize)>,
    /// Sentence for all runs: a doubt with medians of its figures, or a note without its varying parts. `None` if the sentence of
    /// the first run applies.
    pub(crate) sentence: Option<String>,
    /// Largest possible distortion of each figure in any of the runs.
    pub(crate) distorts: Vec<Distortion>,
}

/// Failures and doubts of the study, grouped over all runs, in the order of [`of_load`].
pub(crate) fn grouped<'a>(view: &'a StudyView<'_>) -> Vec<Group<'a>> {
    let mut groups: Vec<(Group<'a>, Vec<&'a str>)> = Vec::new();
    for (load, of_load) in view.loads.iter().enumerate() {
        for (row, of_row) in of_load.rows.iter().enumerate() {
            for (run, eligibility) in of_row.runs.iter().chain(&of_row.others) {
                for kind in of_run(&view.runs[*run], *eligibility) {
                    let said = match kind {
                        TroubleKind::Doubt { cause, .. } => &cause.sentence,
                        TroubleKind::Note { text, .. } => text,
                        _ => "",
                    };
                    match groups.iter_mut().find(|(known, _)| known.kind.is_similar(&kind)) {
                        Some((known, sentences)) => {
                            known.runs += 1;
                            known.add(&kind);
                            sentences.push(said);
                            if known.places.last() != Some(&(load, row)) {
                                known.places.push((load, row));
                            }
                        }
                        None => {
                            let places = vec![(load, row)];
                            let mut group =
                                Group { kind, runs: 1, places, sentence: None, distorts: Vec::new() };
                            group.distorts = group.kind.distorts().to_vec();
                            groups.push((group, vec![said]));
                        }
                    }
                }
            }
        }
    }
    groups.sort_by_key(|(group, _)| group.kind.rank());
    let with_sentence = |(group, sentences): (Group<'a>, Vec<&'a str>)| {
        let sentence = match group.kind {
            TroubleKind::Note { .. } => common_note(&sentences),
            _ => median_sentence(&sentences),
        };
        Group { sentence, ..group }
    };
    groups.into_iter().map(with_sentence).collect()
}

impl Group<'_> {
    /// Keeps the largest distortion of each figure.
    fn add(&mut self, kind: &TroubleKind<'_>) {
        for more in kind.distorts() {
            match self.distorts.iter_mut().find(|known| known.figure == more.figure) {
                Some(known) => {
                    let farther = |a: Option<f64>, b: Option<f64>| match (a, b) {
                        (Some(a), Some(b)) => Some(if b.abs() > a.abs() { b } else { a }),
                        // An unknown distortion may be larger.
                        _ => None,
                    };
                    known.by_us = farther(known.by_us, more.by_us);
                    known.by_share = farther(known.by_share, more.by_share);
                    known.level = known.level.max(more.level);
                }
                None => self.distorts.push(*more),
            }
        }
    }
}

/// Note without the parts that vary between runs, such as process IDs. `None` if all notes are equal.
fn common_note(notes: &[&str]) -> Option<String> {
    let first = notes.first()?;
    (!notes.iter().all(|note| note == first)).then(|| without_parentheses(first))
}

/// Removes parts in parentheses, and the space before each.
fn without_parentheses(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" (") {
        let Some((_, after)) = after.split_once(')') else { break };
        kept += before;
        rest = after;
    }
    kept + rest
}

/// Replaces each figure of the sentences by its median: `… waited 7 % of the time (medians of the runs)`. `None` if all sentences
/// are equal, or if they differ in their words.
fn median_sentence(sentences: &[&str]) -> Option<String> {
    let first = sentences.first()?;
    let split: Vec<Vec<&str>> = sentences.iter().map(|sentence| split_figures(sentence)).collect();
    let words = |parts: &[&str]| -> Vec<bool> { parts.iter().map(|part| figure(part).is_some()).collect() };
    let is_alike = |parts: &Vec<&str>| {
        words(parts) == words(&split[0])
            && parts.iter().zip(&split[0]).all(|(part, other)| part == other || figure(part).is_some())
    };
    if sentences.iter().all(|sentence| sentence == first) || !split.iter().all(is_alike) {
        return None;
    }
    let middle = |place: usize| {
        let mut of_place: Vec<&str> = split.iter().map(|parts| parts[place]).collect();
        of_place.sort_by(|a, b| figure(a).unwrap_or(0.0).total_cmp(&figure(b).unwrap_or(0.0)));
        of_place[(of_place.len() - 1) / 2]
    };
    let sentence: String = (0..split[0].len()).map(middle).collect();
    Some(format!("{sentence} (medians of the runs)"))
}

/// Splits a sentence into words and figures.
fn split_figures(sentence: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), sentence);
    let is_of_figure = |character: char| character.is_ascii_digit() || character == '.' || character == ',';
    while let Some(first) = rest.chars().next() {
        let is_figure = first.is_ascii_digit();
        let end = match is_figure {
            true => rest.find(|character| !is_of_figure(character)),
            false => rest.find(|character: char| character.is_ascii_digit()),
        };
        let end = end.unwrap_or(rest.len());
        // A comma or a full stop after a figure belongs to the sentence.
        let end = if is_figure { rest[..end].trim_end_matches(['.', ',']).len() } else { end };
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

fn figure(part: &str) -> Option<f64> {
    part.replace(',', "").parse().ok().filter(|_| part.starts_with(|first: char| first.is_ascii_digit()))
}

fn of_run<'a>(view: &'a View<'_>, eligibility: Eligibility) -> Vec<TroubleKind<'a>> {
    let mut kinds = Vec::new();
    let failure = view.run.ending.as_ref().and_then(|ending| ending.failure.as_ref());
    if let Some(evidence::Failure { stage, process, what, way_out }) = failure {
        let process = process.as_deref();
        kinds.push(TroubleKind::Failure { stage, process, what, way_out, outputs: view.run.outputs() });
    } else if eligibility == Eligibility::CutShort {
        kinds.push(TroubleKind::CutShort);
    }
    let notes = view.run.ending.iter().flat_map(|ending| &ending.notes);
    kinds.extend(notes.enumerate().map(|(number, text)| {
        // The output of a run's system is shown only once.
        let is_shown = failure.is_some() || number > 0;
        TroubleKind::Note { text, outputs: if is_shown { &[] } else { view.run.outputs() } }
    }));
    // Figures of a system that failed cannot be in doubt.
    if matches!(eligibility, Eligibility::Valid | Eligibility::Invalid) {
        // A run counts as suspect if its invalid figures do not include the metric of the study.
        let worst = if eligibility == Eligibility::Invalid { Level::Invalid } else { Level::Suspect };
        let doubt = |cause| TroubleKind::Doubt { level: worst, cause };
        kinds.extend(view.validity.causes.iter().map(doubt));
        let unharmed = view.validity.notes.iter();
        kinds.extend(unharmed.map(|cause| TroubleKind::Doubt { level: Level::Valid, cause }));
    }
    kinds
}

impl TroubleKind<'_> {
    fn distorts(&self) -> &[Distortion] {
        match self {
            Self::Doubt { cause, .. } => &cause.distorts,
            _ => &[],
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Failure { .. } => 0,
            Self::Doubt { level: Level::Invalid, .. } => 1,
            Self::CutShort => 2,
            Self::Doubt { level: Level::Suspect, .. } => 3,
            Self::Note { .. } | Self::Doubt { level: Level::Valid, .. } => 4,
        }
    }

    /// Whether both can share one sentence. The sentence has the figures of the first run.
    fn is_similar(&self, other: &TroubleKind<'_>) -> bool {
        match (self, other) {
            (
                Self::Failure { stage, process, what, .. },
                TroubleKind::Failure { stage: other_stage, process: other_process, what: other_what, .. },
            ) => (stage, process, what) == (other_stage, other_process, other_what),
            (Self::Doubt { level, cause }, TroubleKind::Doubt { level: other_level, cause: other }) => {
                (level, &cause.code) == (other_level, &other.code)
            }
            (Self::CutShort, TroubleKind::CutShort) => true,
            (Self::Note { text, .. }, TroubleKind::Note { text: other, .. }) => {
                without_parentheses(text) == without_parentheses(other)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_differ_in_parentheses_are_grouped() {
        let note =
            |process: u32| format!("SHARED: the system (tenbin, process {process}) is here (and there)");
        let (one, other) = (note(1), note(2));
        assert_eq!(common_note(&[&one, &other]).unwrap(), "SHARED: the system is here");
        assert_eq!(common_note(&[&one, &one]), None, "they say the same");
        let kind = |text| TroubleKind::Note { text, outputs: &[] };
        assert!(kind(&one).is_similar(&kind(&other)));
        assert!(!kind(&one).is_similar(&kind("SHARED: another system (tenbin, process 1) is here")));
        assert_eq!(without_parentheses("left open (as here"), "left open (as here");
    }

    #[test]
    fn figures_of_several_runs_become_medians() {
        let waited =
            |percent: &str| format!("the generator waited for a core {percent} % of the time, of 1,500 ms");
        let of =
            |sentences: &[String]| median_sentence(&sentences.iter().map(String::as_str).collect::<Vec<_>>());
        let all = ["7.1", "10.0", "3"].map(waited);
        assert_eq!(of(&all).unwrap(), format!("{} (medians of the runs)", waited("7.1")));
        assert_eq!(of(&all[..1]), None);
        assert_eq!(of(&[waited("3"), waited("3")]), None, "they say the same");
        assert_eq!(of(&[waited("3"), "it was 3 % short".to_owned()]), None, "other words");
        assert_eq!(of(&[]), None);
    }
}
