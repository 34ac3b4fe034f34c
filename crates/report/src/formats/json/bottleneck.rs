//! Bottlenecks in JSON.

use serde::Serialize;

use judge::Bottleneck;

use crate::bottleneck;
use crate::study::StudyView;
use crate::view::View;

/// Bottleneck of one run. The most likely cause is at the top level.
#[derive(Serialize)]
pub(super) struct BottleneckObject {
    #[serde(flatten)]
    first: CauseObject,
    /// All causes, most likely first, including the one at the top level.
    causes: Vec<CauseObject>,
}

/// Bottleneck candidate and its evidence.
#[derive(Clone, Serialize)]
pub(super) struct CauseObject {
    resource: &'static str,
    because: String,
    certainty: &'static str,
    /// Rung of evidence.
    rung: &'static str,
    what: &'static str,
    scope: String,
    share: Option<f64>,
    #[serde(rename = "for")]
    for_: Vec<String>,
    against: Vec<String>,
    next: String,
}

/// Bottleneck of a variant under a load.
#[derive(Serialize)]
pub(super) struct RowBottleneck<'a> {
    load: &'a str,
    system: &'a str,
    variant: &'a str,
    #[serde(flatten)]
    bottleneck: BottleneckObject,
}

/// Bottleneck of one run. `None` if there is nothing to explain.
pub(super) fn of_run(view: &View<'_>) -> Option<BottleneckObject> {
    BottleneckObject::of(bottleneck::of_run(view))
}

/// Bottlenecks of all rows that have one, in the order of loads and rows.
pub(super) fn of_study<'a>(view: &'a StudyView<'_>) -> Vec<RowBottleneck<'a>> {
    let rows = view.loads.iter().flat_map(|load| load.rows.iter().map(move |row| (load.name, row)));
    let of_row = |(load, row): (&'a str, &'a crate::study::VariantRow<'_>)| {
        let bottleneck = BottleneckObject::of(bottleneck::of_row(view, row))?;
        Some(RowBottleneck { load, system: &row.place.system, variant: &row.place.variant, bottleneck })
    };
    rows.filter_map(of_row).collect()
}

impl BottleneckObject {
    pub(super) fn of(causes: Vec<Bottleneck>) -> Option<Self> {
        let causes: Vec<CauseObject> = causes.into_iter().map(CauseObject::of).collect();
        Some(Self { first: causes.first()?.clone(), causes })
    }
}

impl CauseObject {
    pub(super) fn of(cause: Bottleneck) -> Self {
        let Bottleneck {
            resource, what, because, rung, certainty, scope, share, for_, against, next, ..
        } = cause;
        let (resource, certainty, scope) = (resource.code, certainty.name(), scope.to_string());
        let rung = rung.name();
        Self { resource, because, certainty, rung, what, scope, share, for_, against, next }
    }
}
