//! A configuration: a variant of a system, as a study names it.

use evidence::{Study, StudyPlace};

/// A variant of a system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// Name of the system.
    pub system: String,
    /// Variant in words; empty if there is none.
    pub variant: String,
}

impl Setting {
    /// Returns the configuration of a place.
    pub fn of(place: &StudyPlace) -> Self {
        Self { system: place.system.clone(), variant: place.variant.clone() }
    }

    /// Returns whether a place belongs to this configuration.
    pub fn is_of(&self, place: &StudyPlace) -> bool {
        self.key() == (&place.system, &place.variant)
    }

    pub(crate) fn key(&self) -> (&str, &str) {
        (&self.system, &self.variant)
    }

    /// Returns the name in reports and plans: `system`, or `system variant`.
    pub fn name(&self) -> String {
        match self.variant.as_str() {
            "" => self.system.clone(),
            variant => format!("{} {variant}", self.system),
        }
    }
}

/// Max number of variants in a plan.
const SETTINGS_MAX: usize = 10_000;

/// Returns the configurations that a study has planned under a load, sorted by name, at most as many as a plan may
/// have. A procedure in progress may not have planned all of them yet.
pub fn settings(study: &Study, load: &str) -> Vec<Setting> {
    let places = study.new.planned.iter().filter(|place| place.load == load);
    let mut settings: Vec<Setting> = places.map(Setting::of).collect();
    settings.sort();
    settings.dedup();
    settings.truncate(SETTINGS_MAX);
    settings
}
