//! Settings of a study: the plan as its variants have it, where parameters stand outside of systems.

use super::Study;

/// Studies of all variants, if parameters are used outside of systems. Empty if there are no such parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Studies with the values of their parameters filled in.
    pub(crate) list: Vec<Study>,
    /// Index in `list` of the study of each variant.
    pub(crate) by_variant: Vec<usize>,
}

impl Study {
    /// Study of a variant: scenario, loads, and systems with the values of its parameters. `variant` must be an index of the study.
    pub fn setting(&self, variant: usize) -> &Self {
        let number = self.settings.by_variant.get(variant);
        number.and_then(|number| self.settings.list.get(*number)).unwrap_or(self)
    }

    /// Variants with different configurations, in the order of the study.
    pub fn variants_by_setting(&self) -> Vec<usize> {
        let mut first: Vec<usize> = Vec::new();
        for variant in 0..self.variants.len() {
            let is_known =
                first.iter().any(|known| std::ptr::eq(self.setting(*known), self.setting(variant)));
            if !is_known {
                first.push(variant);
            }
        }
        first
    }
}
