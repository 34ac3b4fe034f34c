//! What a tool says of its own run.

use serde::Serialize;

/// The figures that are read from a tool's output.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Requests that were answered well.
    pub(crate) requests: u64,
    /// Those per second, as the tool reckons.
    pub(crate) requests_per_s: f64,
    /// Requests that were not answered, or not well.
    pub(crate) errors: u64,
    /// Median response time, where it was asked for.
    pub(crate) median_us: Option<f64>,
    /// The 99 % response time.
    pub(crate) p99_us: Option<f64>,
    /// The p99 send delay: how long after their intended time requests were sent.
    pub(crate) lateness_p99_us: Option<f64>,
    /// What the tool itself has against the run.
    pub(crate) remark: Option<String>,
}

impl Measured {
    /// The same, if it can be true.
    ///
    /// # Errors
    ///
    /// No request, or a figure that is none: a run without requests must not look like a very fast one.
    pub(crate) fn checked(self) -> Result<Self, String> {
        let times = [self.median_us, self.p99_us, self.lateness_p99_us];
        let is_number = |figure: f64| figure.is_finite() && figure >= 0.0;
        if self.requests == 0 {
            return Err(format!("no request was answered ({} errors)", self.errors));
        }
        if !is_number(self.requests_per_s)
            || self.requests_per_s == 0.0
            || !times.into_iter().flatten().all(is_number)
        {
            return Err("its output has a figure that is no number".to_owned());
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_never_a_result() {
        let good = Measured { requests: 1, requests_per_s: 1.0, ..Measured::default() };
        assert!(good.clone().checked().is_ok());
        assert!(Measured { requests: 0, ..good.clone() }.checked().is_err());
        assert!(Measured { requests_per_s: f64::NAN, ..good.clone() }.checked().is_err());
        assert!(Measured { requests_per_s: 0.0, ..good.clone() }.checked().is_err());
        assert!(Measured { p99_us: Some(f64::INFINITY), ..good }.checked().is_err());
    }
}
