//! Conditions as people write them: `p99<200ms, errors<0.1%`.

use record::Percentile;

use super::figure::Figure;

/// Conditions in one text.
const SLOS_MAX: usize = 16;
const METRICS: &str = "p99<200ms, mean<50ms, max<1s, errors<0.1%, outage<500ms or throughput>500/s";

/// A condition that a run must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    /// As it was written.
    pub text: String,
    /// What is held against the limit.
    pub figure: Figure,
    /// Whether it must stay below the limit, or above it.
    pub is_below: bool,
    /// In the unit of the figure: nanoseconds, a share, or a number per second. Finite and above zero.
    pub limit: f64,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{condition:?}: {what}; {way_out}")]
pub struct SloError {
    /// The condition, as it was written.
    pub condition: String,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub way_out: String,
}

impl Slo {
    /// Conditions with commas between them.
    pub fn parse(text: &str) -> Result<Vec<Self>, SloError> {
        let slos: Vec<Self> = text.split(',').take(SLOS_MAX + 1).map(one).collect::<Result<_, _>>()?;
        match slos.len() {
            0..=SLOS_MAX => Ok(slos),
            _ => Err(wrong(text, "these are too many conditions", format!("write {SLOS_MAX} at most"))),
        }
    }

    /// The longest time that it allows, if it is about time, in nanoseconds.
    pub fn limit_ns(&self) -> Option<u64> {
        self.figure.is_time().then_some(self.limit as u64)
    }

    /// Whether a figure holds it.
    pub fn holds(&self, observed: f64) -> bool {
        if self.is_below { observed < self.limit } else { observed > self.limit }
    }
}

fn wrong(condition: &str, what: impl Into<String>, way_out: impl Into<String>) -> SloError {
    SloError { condition: condition.trim().to_owned(), what: what.into(), way_out: way_out.into() }
}

fn one(text: &str) -> Result<Slo, SloError> {
    let text = text.trim();
    let Some(sign) = text.find(['<', '>']) else {
        let what = "a condition compares a figure with a limit by < or >";
        return Err(wrong(text, what, format!("write it like {METRICS}")));
    };
    let (name, limit) = (text[..sign].trim(), text[sign + 1..].trim());
    if limit.starts_with('=') {
        return Err(wrong(text, "only < and > are known", "leave out the ="));
    }
    let figure = figure(name).ok_or_else(|| {
        let what = format!("nothing is measured that is called {name:?}");
        wrong(text, what, format!("write something like {METRICS}"))
    })?;
    let is_below = text[sign..].starts_with('<');
    if is_below == (figure == Figure::Throughput) {
        let sign = if is_below { '>' } else { '<' };
        return Err(wrong(text, format!("{name} is held by {sign}"), format!("turn the sign to {sign}")));
    }
    let value = limit_of(figure, limit).filter(|value| value.is_finite() && *value > 0.0);
    let Some(limit) = value else {
        let way_out = match figure {
            Figure::Errors => "write a share above 0, such as 0.1%",
            Figure::Throughput => "write a rate above 0, such as 500/s",
            _ => "write a time above 0 with its unit, such as 200ms or 1.5s",
        };
        return Err(wrong(text, format!("{limit:?} is no limit of {name}"), way_out));
    };
    Ok(Slo { text: text.to_owned(), figure, is_below, limit })
}

fn figure(name: &str) -> Option<Figure> {
    match name {
        "mean" => Some(Figure::Mean),
        "median" => Some(Figure::Percentile(Percentile::P50)),
        "max" => Some(Figure::Max),
        "errors" => Some(Figure::Errors),
        "throughput" => Some(Figure::Throughput),
        "outage" => Some(Figure::Outage),
        _ => {
            let number = name.strip_prefix('p')?;
            let number = number.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(number);
            percentile(number).map(Figure::Percentile)
        }
    }
}

/// A percentile between 0 and 100, both left out, in digits and at most one point.
fn percentile(number: &str) -> Option<Percentile> {
    let ppm = plain(number)? * 10_000.0;
    let is_between = (1.0..=999_999.0).contains(&ppm);
    is_between.then(|| Percentile::from_ppm(ppm.round() as u32)).flatten()
}

fn limit_of(figure: Figure, text: &str) -> Option<f64> {
    let with = |unit: &str| text.strip_suffix(unit).and_then(|number| plain(number.trim_end()));
    match figure {
        Figure::Errors => with("%").map(|percent| percent / 100.0).or_else(|| plain(text)),
        Figure::Throughput => with("/s").or_else(|| plain(text)),
        _ => {
            // The longer unit first: every one of them ends in an s.
            let units = [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
            units.into_iter().find_map(|(unit, ns)| Some(with(unit)? * ns))
        }
    }
}

/// A number in digits and at most one point: what `f64` reads besides is no number to people.
fn plain(text: &str) -> Option<f64> {
    let is_plain = text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ppm(slo: &Slo) -> Option<u32> {
        match slo.figure {
            Figure::Percentile(percentile) => Some(percentile.ppm()),
            _ => None,
        }
    }

    #[test]
    fn conditions_are_read_as_people_write_them() {
        let slos = Slo::parse("p99<200ms, errors<0.1%,throughput>500/s").unwrap();
        let limits: Vec<f64> = slos.iter().map(|slo| slo.limit).collect();
        assert_eq!(limits, [200e6, 0.001, 500.0]);
        assert_eq!(slos.iter().map(|slo| slo.is_below).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(slos[1].text, "errors<0.1%");
        for (text, expected) in [
            ("p(99) < 0.2 s", 990_000),
            ("p99.9<1s", 999_000),
            ("p50<80us", 500_000),
            ("median<1ms", 500_000),
        ] {
            assert_eq!(ppm(&Slo::parse(text).unwrap()[0]), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_a_way_out() {
        let many = vec!["p99<1s"; 40].join(",");
        for text in [
            "",
            ",",
            "p99",
            "p99<",
            "p99<200",
            "p99>200ms",
            "p99<=200ms",
            "p100<1s",
            "p0<1s",
            "p-1<1s",
            "p<1s",
            "pNaN<1s",
            "p99<inf s",
            "p99<1e3s",
            "p99<0ms",
            "errors<0%",
            "errors>1%",
            "throughput<5/s",
            "speed<1s",
            "p99<200ms;",
            "p99<-1ms",
            "天<1s",
            "p(99<1s",
            "p99<..s",
            &many,
        ] {
            let error = Slo::parse(text).unwrap_err();
            assert!(!error.way_out.is_empty() && !error.what.is_empty(), "{text:?}: {error}");
        }
    }
}
