//! Figures that a tool reports about its run.

use serde::Serialize;

/// Figures from the output of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Number of successful requests.
    pub(crate) requests: u64,
    /// Requests per second, as reported by the tool.
    pub(crate) requests_per_s: f64,
    /// Number of requests without a response, or with an error response.
    pub(crate) errors: u64,
    /// Median response time. `None` if the tool does not report it.
    pub(crate) median_us: Option<f64>,
    /// p99 response time. `None` if the tool does not report it.
    pub(crate) p99_us: Option<f64>,
    /// p99 send delay: time from the intended to the actual send time. `None` if the tool does not report it.
    pub(crate) lateness_p99_us: Option<f64>,
    /// Tool's objection to its own run. `None` if it has none.
    pub(crate) remark: Option<String>,
}

impl Measured {
    /// Returns the figures if they are plausible. Without this check, a run without requests could look like a very fast one.
    ///
    /// # Errors
    ///
    /// If no request succeeded, if the rate is not positive, or if a figure is negative or not finite.
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
