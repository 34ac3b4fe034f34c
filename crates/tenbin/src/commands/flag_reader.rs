//! Reads the values of flags, and collects all errors.

use plan::{Fault, split_help};

/// Errors found so far.
#[derive(Default)]
pub(crate) struct Reader(pub(crate) Vec<Fault>);

impl Reader {
    /// Value of a flag. `None` if it is not given, or has an error.
    pub(crate) fn read<T>(
        &mut self,
        place: &str,
        text: Option<&str>,
        read: fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        read(text?).map_err(|what| self.fault(place, what)).ok()
    }

    /// Adds an error. `what` may include help.
    pub(crate) fn fault(&mut self, place: &str, what: String) {
        let (what, help) = split_help(&what);
        let usual = if place.starts_with("--") {
            "correct the value, or leave it out"
        } else {
            "correct the address"
        };
        self.0.push(Fault::new(place, what, help.unwrap_or(usual)));
    }
}

/// Reads a percentage as a share: `3%` is 0.03.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.trim().strip_suffix('%').and_then(|number| number.trim().parse().ok());
    percent
        .filter(|percent| percent.is_finite())
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("{text:?} is not a share\n  help: write 1% or 0.5%"))
}
