//! Flags that change the hold times of the target while it runs.

use std::time::Duration;

use clap::Args;
use plan::units;
use target::{Drift, Pace, PaceStep, SlowStart};

use crate::arguments::with_seconds;
use crate::commands::flag_reader::{Reader, share};

/// Default factor of hold times during a slow start.
const SLOW_START: f64 = 3.0;

/// Times count from the first request.
#[derive(Args, Debug)]
pub(super) struct PaceFlags {
    /// Time from the first request in which holds take longer
    #[arg(long, value_name = "TIME")]
    slow_start: Option<String>,
    /// Factor of holds during --slow-start [default: 3]
    #[arg(long, value_name = "FACTOR")]
    slow_start_factor: Option<String>,
    /// Growth of holds every ten seconds, such as 1%
    #[arg(long, value_name = "SHARE")]
    drift: Option<String>,
    /// Time from the first request after which --step-factor applies
    #[arg(long, value_name = "TIME")]
    step_after: Option<String>,
    /// Factor of holds after --step-after
    #[arg(long, value_name = "FACTOR")]
    step_factor: Option<String>,
}

impl PaceFlags {
    pub(super) fn read(&self, reader: &mut Reader) -> Pace {
        let lasting = reader.read("--slow-start", self.slow_start.as_deref(), duration);
        let slower = reader.read("--slow-start-factor", self.slow_start_factor.as_deref(), factor);
        if slower.is_some() && self.slow_start.is_none() {
            reader.fault("--slow-start-factor", "it needs --slow-start".to_owned());
        }
        let after = reader.read("--step-after", self.step_after.as_deref(), duration);
        let changed = reader.read("--step-factor", self.step_factor.as_deref(), factor);
        if self.step_after.is_some() != self.step_factor.is_some() {
            reader.fault("--step-after and --step-factor", "each needs the other".to_owned());
        }
        Pace {
            slow_start: lasting.map(|lasting| SlowStart { factor: slower.unwrap_or(SLOW_START), lasting }),
            drift: reader
                .read("--drift", self.drift.as_deref(), share)
                .map(|share_per_10_s| Drift { share_per_10_s }),
            step: after.zip(changed).map(|(after, factor)| PaceStep { after, factor }),
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    units::duration_ns(&with_seconds(text)).map(Duration::from_nanos)
}

fn factor(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| format!("{text:?} is not a factor\n  help: write 3 or 1.05"))
}
