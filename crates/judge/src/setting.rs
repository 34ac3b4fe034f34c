//! A variant of a system, as a study names it.

use evidence::{Study, StudyPlace};

/// A variant of a system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// The name of the system.
    pub system: String,
    /// Its configuration in words; empty if it has none.
    pub variant: String,
}

impl Setting {
    /// That of a place.
    pub fn of(place: &StudyPlace) -> Self {
        Self { system: place.system.clone(), variant: place.variant.clone() }
    }

    /// Whether a place is of this setting.
    pub fn is_of(&self, place: &StudyPlace) -> bool {
        self.key() == (&place.system, &place.variant)
    }

    pub(crate) fn key(&self) -> (&str, &str) {
        (&self.system, &self.variant)
    }

    /// How reports and plans call it: `system`, or `system variant`.
    pub fn name(&self) -> String {
        match self.variant.as_str() {
            "" => self.system.clone(),
            variant => format!("{} {variant}", self.system),
        }
    }
}

/// As many variants as a plan may have.
const SETTINGS_MAX: usize = 10_000;

/// The settings that a study has planned under a load, in the order of their names, and no more than a plan may have. Of a
/// procedure that goes on some may be unknown yet.
pub fn settings(study: &Study, load: &str) -> Vec<Setting> {
    let places = study.new.planned.iter().filter(|place| place.load == load);
    let mut settings: Vec<Setting> = places.map(Setting::of).collect();
    settings.sort();
    settings.dedup();
    settings.truncate(SETTINGS_MAX);
    settings
}
