//! Experiment for the page, with the figures of the terminal's table.

use judge::ladder::Rung;
use judge::{Diagnosis, Ladder};

use super::document::{ChangeEffect, Experiment, Fact, Scaling, ScalingStep};
use super::table;
use crate::item;
use crate::study::{self, LoadView, StudyView};
use crate::text::sanitize;

const TEXT_CHARACTERS_MAX: usize = 600;
/// Number of points on the curve of the scalability law.
const CURVE_POINTS: u32 = 48;

/// Experiment of a study under a load. `None` if there is none.
pub(super) fn of_load(view: &StudyView<'_>, load: &LoadView<'_>) -> Option<Experiment> {
    let diagnosis = view.diagnosis.as_ref().filter(|diagnosis| diagnosis.load == load.name)?;
    let text = |text: &str| sanitize(text, TEXT_CHARACTERS_MAX);
    let fact = |item::Fact { name, words, .. }| Fact { name, value: words };
    Some(Experiment {
        about: text(&diagnosis.setting.name()),
        table: table::of(study::experiment::table(diagnosis, text), &[]),
        facts: study::experiment::facts(diagnosis, text).into_iter().map(fact).collect(),
        effects: effects(diagnosis, text),
        scaling: diagnosis.ladder.as_ref().map(scaling),
    })
}

fn effects(diagnosis: &Diagnosis, text: impl Fn(&str) -> String) -> Vec<ChangeEffect> {
    let controls = diagnosis.controls.as_ref();
    let none = ChangeEffect {
        name: "none".to_owned(),
        in_blocks: diagnosis.of_controls.clone(),
        ratio: controls.map(|controls| controls.estimate),
        interval: controls.and_then(|controls| controls.interval),
        predicted: None,
        finding: "",
    };
    let tried = diagnosis.tried.iter().map(|tried| ChangeEffect {
        name: text(&tried.changed.name),
        in_blocks: tried.ratios.clone(),
        ratio: tried.effect.ratio,
        interval: tried.effect.interval,
        predicted: Some(tried.changed.factor),
        finding: study::experiment::finding(&tried.effect),
    });
    std::iter::once(none).chain(tried).collect()
}

fn scaling(ladder: &Ladder) -> Scaling {
    let step = |rung: &Rung| {
        let Rung { users, per_s, runs } = *rung;
        ScalingStep { users, per_s, per_user_per_s: rung.per_user_per_s(), runs }
    };
    let most = ladder.rungs.last().map_or(1.0, |rung| f64::from(rung.users));
    let at = |place: u32| 1.0 + (most - 1.0) * f64::from(place) / f64::from(CURVE_POINTS);
    let law = ladder.law.as_ref();
    let curve = law.map(|law| (0..=CURVE_POINTS).map(at).map(|users| [users, law.per_s(users)]).collect());
    Scaling {
        steps: ladder.rungs.iter().map(step).collect(),
        law: curve.unwrap_or_default(),
        saturated_at: ladder.saturated_at.map(|at| at.users),
        saturated_words: ladder.saturated_at.map_or_else(String::new, |at| at.words()),
    }
}
