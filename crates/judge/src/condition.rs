//! Parses conditions such as `p99<200ms` or `buy: errors<=0.1% from 10s to 20s`. The gates of a plan and `--slo` share this
//! grammar.
//!
//! ```text
//! [STEP: | event NAME: ](METRIC | figure NAME) (<|<=|>|>=|=) LIMIT[ of baseline][ from TIME to TIME]
//! ```
//!
//! `p99` and `p(99)` are the same; `median` is `p50`.

use evidence::{Bounds, Decision};
use record::Percentile;

use crate::kind::{MetricKind, parse_plain_number};
use crate::own_figure::{OwnFigure, metric_of_limit};
use crate::slo::Figure;

/// A condition on the figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Text as written.
    pub text: String,
    /// Name of the step; `None` for all steps together.
    pub step: Option<String>,
    /// Name of the event; `None` for the run.
    pub event: Option<String>,
    /// Name of the figure that the plan defines; `None` for built-in figures.
    pub own: Option<String>,
    /// Figure that is compared with the limit.
    pub figure: Figure,
    /// Comparison of figure and limit.
    pub sign: Sign,
    /// Limit in the unit of the figure: nanoseconds, a share, or a number per second. Finite and not negative, except
    /// for a difference from a baseline. For a share of a baseline, that share.
    pub limit: f64,
    /// Relation of the limit to a baseline; `None` for an absolute limit.
    pub of_baseline: Option<BaselineLimit>,
    /// Selected part of the measured time, in nanoseconds since the end of the warm-up; `None` for all of it.
    pub part_ns: Option<(u64, u64)>,
}

/// Meaning of a limit with `of baseline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineLimit {
    /// `95% of baseline`: the figure divided by the baseline's figure.
    Share,
    /// `+0.1% of baseline`, `+20ms of baseline`: the figure minus the baseline's figure.
    Difference,
}

impl BaselineLimit {
    /// Returns the scale of the comparison with the baseline.
    pub(crate) const fn scale(self) -> stats::Scale {
        match self {
            Self::Share => stats::Scale::Ratio,
            Self::Difference => stats::Scale::Difference,
        }
    }
}

/// Comparison of a figure with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`, only for shares and counts: a measured time or rate never equals a limit.
    Exactly,
}

/// Error in a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{condition:?}: {what}; {}", self.help())]
pub struct ConditionError {
    /// Condition as written.
    pub condition: String,
    /// Byte range of the erroneous part.
    pub part: (usize, usize),
    /// Description of the error.
    pub what: String,
    /// Advice. For an unknown name, the known names follow it.
    pub way_out: String,
    /// Unknown name, with the known ones; `None` for other errors.
    pub unknown: Option<Box<Unknown>>,
}

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Name as written.
    pub name: String,
    /// Known names.
    pub known: Vec<String>,
}

/// Max number of conditions in one text.
const CONDITIONS_MAX: usize = 16;
const EXAMPLES: &str = "p99<200ms, mean<50ms, max<1s, errors<0.1%, outage<500ms or throughput>500/s";
const FROM: &str = " from ";
const OF_BASELINE: &str = "of baseline";
/// Prefix of an event's name.
const EVENT: &str = "event ";
/// Max share of a baseline. A larger one is likely an error.
const SHARE_MAX: f64 = 1e3;

/// Alternative names of metrics.
const ALIASES: [(&str, &str); 1] = [("median", "p50")];

impl Condition {
    /// Returns whether the condition is about speed, and `estimate`, a ratio to or a difference from the baseline, is
    /// slower than the baseline. A resource that slows the system can then explain it.
    pub fn is_slower(&self, estimate: f64) -> bool {
        let none = match self.of_baseline {
            Some(BaselineLimit::Share) => 1.0,
            Some(BaselineLimit::Difference) => 0.0,
            None => return false,
        };
        self.figure.distorted().is_some() && (estimate < none) == self.figure.higher_is_better()
    }

    /// Parses one condition without a baseline.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        read(text).and_then(reject_baseline).map_err(|wrong| wrong.of(text))
    }

    /// Parses conditions separated by commas, as in `--fail-if`: each states when to fail, and may refer to a baseline.
    pub fn parse_failures(text: &str) -> Result<Vec<Self>, ConditionError> {
        parse_conditions(text, read)
    }

    /// Parses one condition of a plan, which may refer to a baseline.
    pub fn parse_gate(text: &str) -> Result<Self, ConditionError> {
        read(text).map_err(|wrong| wrong.of(text))
    }

    /// Like [`Self::parse_list`], but conditions may refer to a baseline.
    pub fn parse_list_of_baseline(text: &str) -> Result<Vec<Self>, ConditionError> {
        parse_conditions(text, |text| read(text).and_then(reject_if_less_load_fails))
    }

    /// Parses conditions separated by commas, as in `--slo`. A lower load must never break a condition that holds under
    /// a higher one; otherwise there would be no highest passing load.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ConditionError> {
        parse_conditions(text, |text| {
            read(text).and_then(reject_baseline).and_then(reject_if_less_load_fails)
        })
    }

    /// Checks that the condition's step exists.
    pub fn check_step<'a>(&self, steps: impl Iterator<Item = &'a str> + Clone) -> Result<(), ConditionError> {
        let Some(step) = self.step.as_deref().filter(|step| !steps.clone().any(|known| known == *step))
        else {
            return Ok(());
        };
        let (what, known) = (format!("no step is named {step:?}"), steps.map(str::to_owned).collect());
        let end = self.text.rfind(&format!("{step}: ")).map_or(0, |at| at + step.len());
        let wrong = PartError::new((0, end), what, "write one of");
        Err(PartError { unknown: Some(Box::new(Unknown { name: step.to_owned(), known })), ..wrong }
            .of(&self.text))
    }

    /// Checks that the condition's event exists.
    pub fn check_event<'a>(
        &self,
        events: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), ConditionError> {
        let Some(event) = self.event.as_deref().filter(|event| !events.clone().any(|known| known == *event))
        else {
            return Ok(());
        };
        let known: Vec<String> = events.map(str::to_owned).collect();
        let what = format!("no event is named {event:?}");
        let at = self.text.rfind(&format!("{event}: ")).unwrap_or(0);
        let part = (at, at + event.len());
        if known.is_empty() {
            return Err(
                PartError::new(part, what, "name an event in `events`, or leave this out").of(&self.text)
            );
        }
        let wrong = PartError::new(part, what, "write one of");
        Err(PartError { unknown: Some(Box::new(Unknown { name: event.to_owned(), known })), ..wrong }
            .of(&self.text))
    }

    /// Converts the condition to the unit of the plan's own figure.
    ///
    /// # Errors
    /// The limit has another unit.
    pub fn in_unit_of(self, figure: &OwnFigure) -> Result<Self, ConditionError> {
        let (of_limit, of_figure) = (self.figure.kind(), figure.metric().kind);
        // A number without a unit may be a number of bytes. A share of a baseline has no unit.
        let is_plain = of_limit == MetricKind::Number && of_figure != MetricKind::Time;
        if of_limit == of_figure || is_plain || self.of_baseline == Some(BaselineLimit::Share) {
            return Ok(Self { figure: Figure::Metric(figure.metric()), ..self });
        }
        let at = self.text.find(['<', '>', '=']).map_or(0, |at| at + 1);
        let what = format!("the limit is not in the unit of `{}`", figure.name);
        let help = format!("write {} such as {}", of_figure.noun(), of_figure.example());
        Err(PartError::new((at, self.text.len()), what, help).of(&self.text))
    }

    /// Creates the error for a condition on a figure that the plan does not define.
    pub fn unknown_figure(&self, known: Vec<String>) -> ConditionError {
        let name = self.own.clone().unwrap_or_default();
        let at = self.text.find(&name).unwrap_or(0);
        let wrong = PartError::new((at, at + name.len()), format!("unknown figure `{name}`"), "write one of");
        PartError { unknown: Some(Box::new(Unknown { name, known })), ..wrong }.of(&self.text)
    }

    /// Returns the byte range of the part of the time; `None` if the condition covers all of it.
    pub fn part_at(&self) -> Option<(usize, usize)> {
        self.part_ns.and_then(|_| Some((self.text.rfind(FROM)? + FROM.len(), self.text.len())))
    }

    /// Returns whether the condition covers all steps and all of the measured time.
    pub(crate) const fn is_of_whole(&self) -> bool {
        self.step.is_none() && self.event.is_none() && self.own.is_none() && self.part_ns.is_none()
    }

    /// Returns the limit in nanoseconds, if the figure is a time.
    pub fn limit_ns(&self) -> Option<u64> {
        self.figure.kind().is_time().then_some(self.limit as u64)
    }

    /// Decides the condition by the worst case within the bounds of its figure.
    pub fn decide(&self, bounds: Bounds) -> Decision {
        // If both ends hold, so does every figure between them, and likewise if both fail, except for equality.
        let ends = [bounds.low(), bounds.high()].map(|end| self.holds(end));
        let is_enclosed =
            self.sign == Sign::Exactly && bounds.low() <= self.limit && self.limit <= bounds.high();
        match ends {
            [true, true] => Decision::Holds,
            [false, false] if !is_enclosed => Decision::Fails,
            _ => Decision::Undecided,
        }
    }

    /// Returns whether a figure meets the condition.
    pub fn holds(&self, observed: f64) -> bool {
        match self.sign {
            Sign::Below => observed < self.limit,
            Sign::AtMost => observed <= self.limit,
            Sign::Above => observed > self.limit,
            Sign::AtLeast => observed >= self.limit,
            Sign::Exactly => observed == self.limit,
        }
    }
}

impl ConditionError {
    /// Returns the advice, with the known names if one is unknown.
    pub fn help(&self) -> String {
        match &self.unknown {
            Some(unknown) => format!("{} {}", self.way_out, unknown.known.join(", ")),
            None => self.way_out.clone(),
        }
    }
}

impl Sign {
    /// Signs with their texts. Longer texts precede their prefixes.
    const ALL: [(&'static str, Self); 5] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Below),
        (">", Self::Above),
        ("=", Self::Exactly),
    ];

    /// Returns whether the limit is an upper bound.
    pub const fn is_upper(self) -> bool {
        matches!(self, Self::Below | Self::AtMost | Self::Exactly)
    }

    /// Returns the words in a sentence: `below`, `at least`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::AtMost => "at most",
            Self::Above => "above",
            Self::AtLeast => "at least",
            Self::Exactly => "exactly",
        }
    }

    /// Finds the first sign in a text: its byte offset, the sign, and its length in bytes.
    fn find(text: &str) -> Option<(usize, Self, usize)> {
        let at = text.find(['<', '>', '='])?;
        let (sign, found) = Self::ALL.into_iter().find(|(sign, _)| text[at..].starts_with(sign))?;
        Some((at, found, sign.len()))
    }
}

/// An error without the text of its condition.
struct PartError {
    part: (usize, usize),
    what: String,
    way_out: String,
    unknown: Option<Box<Unknown>>,
}

impl PartError {
    fn new(part: (usize, usize), what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { part, what: what.into(), way_out: way_out.into(), unknown: None }
    }

    fn of(self, condition: &str) -> ConditionError {
        let Self { part, what, way_out, unknown } = self;
        ConditionError { condition: condition.to_owned(), part, what, way_out, unknown }
    }
}

fn parse_conditions(
    text: &str,
    read: impl Fn(&str) -> Result<Condition, PartError>,
) -> Result<Vec<Condition>, ConditionError> {
    let one = |text: &str| {
        let text = text.trim();
        read(text).map_err(|wrong| other_separator_error(text, &read).unwrap_or(wrong).of(text))
    };
    let conditions: Vec<Condition> =
        text.split(',').take(CONDITIONS_MAX + 1).map(one).collect::<Result<_, _>>()?;
    match conditions.len() {
        0..=CONDITIONS_MAX => Ok(conditions),
        _ => {
            let way_out = format!("write {CONDITIONS_MAX} at most");
            Err(PartError::new((0, text.len()), "these are too many conditions", way_out).of(text))
        }
    }
}

/// Detects conditions that are separated as in other languages.
fn other_separator_error(
    text: &str,
    read: impl Fn(&str) -> Result<Condition, PartError>,
) -> Option<PartError> {
    let separator = [";", "&&", " and "].into_iter().find(|separator| text.contains(separator))?;
    let parts: Vec<&str> = text.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
    let are_conditions = parts.iter().all(|part| read(part).is_ok());
    let what = "a comma separates conditions";
    are_conditions.then(|| PartError::new((0, text.len()), what, format!("write {}", parts.join(", "))))
}

fn reject_baseline(condition: Condition) -> Result<Condition, PartError> {
    if condition.of_baseline.is_none() {
        return Ok(condition);
    }
    let at = condition.text.rfind(OF_BASELINE).unwrap_or(0);
    let way_out = "write a limit without it, or compare with a stored baseline: tenbin compare A B --fail-if";
    Err(PartError::new((at, at + OF_BASELINE.len()), "there is no baseline here", way_out))
}

/// Parses a limit of a baseline: `95%`, or a difference with its sign.
fn limit_of_baseline(figure: Figure, text: &str) -> Result<(f64, BaselineLimit), (String, String)> {
    let (kind, name) = (figure.kind(), figure.name());
    let signed = [("+", 1.0), ("-", -1.0), ("−", -1.0)]
        .into_iter()
        .find_map(|(sign, factor)| Some((factor, text.strip_prefix(sign)?.trim_start())));
    if let Some((factor, difference)) = signed {
        return Ok((factor * kind.limit(difference)?, BaselineLimit::Difference));
    }
    let difference = format!("{name} +{} {OF_BASELINE}", kind.example());
    if kind.can_be_zero() {
        let what = format!("{name} can be 0, and a share of 0 is 0");
        return Err((what, format!("write a difference with its sign, such as {difference}")));
    }
    let share = text
        .strip_suffix('%')
        .and_then(|number| parse_plain_number(number.trim_end()))
        .map(|percent| percent / 100.0);
    match share.filter(|share| *share > 0.0 && *share <= SHARE_MAX) {
        Some(share) => Ok((share, BaselineLimit::Share)),
        None => {
            let what = format!("{text:?} is no share of a baseline");
            Err((
                what,
                format!("write a percentage such as 95% {OF_BASELINE}, or a difference such as {difference}"),
            ))
        }
    }
}

fn read(text: &str) -> Result<Condition, PartError> {
    let (text_end, part_ns) = match text.rfind(FROM) {
        Some(at) => (at, Some(part_of_time(text, at + FROM.len())?)),
        None => (text.len(), None),
    };
    let (start, of) = match text[..text_end].rfind(": ") {
        Some(at) => (at + 2, Some(text[..at].trim())),
        None => (0, None),
    };
    let event = of.and_then(|of| of.strip_prefix(EVENT)).map(|event| event.trim().to_owned());
    let step = of.filter(|_| event.is_none()).map(str::to_owned);
    let condition = &text[start..text_end];
    let Some((at, sign, length)) = Sign::find(condition) else {
        let what = "a condition compares a figure with a limit by <, <=, >, >=, or =";
        return Err(PartError::new((start, text_end), what, format!("write it like {EXAMPLES}")));
    };
    let (name, limit) = (&condition[..at], &condition[at + length..]);
    if sign == Sign::Exactly && limit.starts_with(['<', '>', '=']) {
        let what = "the signs are <, <=, >, >=, and =";
        return Err(PartError::new(
            (start, start + at + length + 1),
            what,
            "write the = last, or leave it out",
        ));
    }
    let lead = name.len() - name.trim_start().len();
    let own = OwnFigure::parse(name.trim()).map(|own| own.name);
    let figure = match &own {
        Some(_) => {
            let bare = limit.trim().trim_end_matches(OF_BASELINE).trim();
            Figure::Metric(metric_of_limit(bare.trim_start_matches(['+', '-', '−'])))
        }
        None => figure(name.trim(), start + lead)?,
    };
    if let (Some(of), Some(name)) = (of, &own) {
        let what = format!("`{name}` is a figure of the whole run");
        return Err(PartError::new((0, start), what, format!("leave out {of:?}")));
    }
    if let (Some(_), Some(name)) = (part_ns, &own) {
        let what = format!("`{name}` is a figure of the whole run");
        return Err(PartError::new((text_end, text.len()), what, "leave out this part of the time"));
    }
    if sign == Sign::Exactly {
        reject_equality(figure, limit.trim())
            .map_err(|(what, way_out)| PartError::new((start + at, start + at + length), what, way_out))?;
    }
    if event.is_some() {
        check_event_figure(figure, (start + lead, start + at), part_ns.map(|_| (text_end, text.len())))?;
    }
    let limit_part = (start + at + length + limit.len() - limit.trim_start().len(), text_end);
    let read = match limit.trim().strip_suffix(OF_BASELINE) {
        Some(limit) => limit_of_baseline(figure, limit.trim()).map(|(limit, how)| (limit, Some(how))),
        None => figure.kind().limit(limit.trim()).map(|limit| (limit, None)),
    };
    let (limit, of_baseline) = read.map_err(|(what, way_out)| PartError::new(limit_part, what, way_out))?;
    if sign == Sign::Below && limit == 0.0 && of_baseline.is_none() {
        let way_out = "write a small limit, such as errors<0.01%";
        return Err(PartError::new(limit_part, "nothing is below 0", way_out));
    }
    Ok(Condition { text: text.to_owned(), step, event, own, figure, sign, limit, of_baseline, part_ns })
}

/// Checks that an event has the figure. Events have separate figures and a separate period. `name_at` and `part_at` are
/// the byte ranges of the metric and of the part of the measured time.
fn check_event_figure(
    figure: Figure,
    name_at: (usize, usize),
    part_at: Option<(usize, usize)>,
) -> Result<(), PartError> {
    if let Some(part_at) = part_at {
        return Err(PartError::new(
            part_at,
            "an event has a time of its own",
            "leave out this part of the time",
        ));
    }
    let name = figure.name();
    let of_events = Figure::metrics().filter(|metric| metric.is_of_events);
    let known: Vec<String> = of_events.map(|metric| metric.name.to_owned()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let what = format!("{name} is not measured of an event");
    Err(PartError {
        unknown: Some(Box::new(Unknown { name, known })),
        ..PartError::new(name_at, what, "write one of")
    })
}

/// Rejects `=` for a time or a rate, which never exactly equals a limit, and for a limit of a baseline.
fn reject_equality(figure: Figure, limit: &str) -> Result<(), (String, String)> {
    let name = figure.name();
    if matches!(figure.kind(), MetricKind::Share | MetricKind::Count) && !limit.ends_with(OF_BASELINE) {
        return Ok(());
    }
    let sign = if figure.higher_is_better() { ">=" } else { "<=" };
    let is_limit = limit.ends_with(OF_BASELINE) || figure.kind().limit(limit).is_ok();
    let limit = if is_limit { limit } else { figure.kind().example() };
    Err((format!("no measured {name} is exactly a limit"), format!("write {name}{sign}{limit}")))
}

fn reject_if_less_load_fails(condition: Condition) -> Result<Condition, PartError> {
    if condition.sign == Sign::Exactly && condition.limit > 0.0 {
        let (at, name) = (condition.text.find('=').unwrap_or(0), condition.figure.name());
        let what = format!("{name} is held by <");
        return Err(PartError::new((at, at + 1), what, format!("write <= in place of =, or {name}=0")));
    }
    if condition.sign.is_upper() != condition.figure.higher_is_better() {
        return Ok(condition);
    }
    let text = &condition.text;
    let sign_at = text.find(['<', '>']).unwrap_or(0);
    let start = text[..sign_at].rfind(": ").map_or(0, |at| at + 2);
    let sign = if condition.sign.is_upper() { '>' } else { '<' };
    let what = format!("{} is held by {sign}", text[start..sign_at].trim());
    Err(PartError::new((sign_at, sign_at + 1), what, format!("turn the sign to {sign}")))
}

fn figure(name: &str, start: usize) -> Result<Figure, PartError> {
    let part = (start, start + name.len());
    let meant = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, metric)| metric);
    if let Some(figure) = Figure::named(meant) {
        return Ok(figure);
    }
    let in_brackets = name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
    let number = in_brackets.or(name.strip_prefix('p'));
    if let Some(percentile) = number.and_then(percentile) {
        return Ok(Figure::Percentile(percentile));
    }
    let is_number =
        |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if in_brackets.is_some() || number.is_some_and(is_number) {
        let what = format!("{name} is no percentile");
        return Err(PartError::new(part, what, "write a number between 0 and 100, such as p99 or p99.9"));
    }
    let known = Figure::metrics().map(|metric| metric.name).chain(ALIASES.map(|(alias, _)| alias));
    let known = known.map(str::to_owned).collect();
    let what = format!("unknown metric {name:?}");
    Err(PartError {
        unknown: Some(Box::new(Unknown { name: name.to_owned(), known })),
        ..PartError::new(part, what, "write one of")
    })
}

/// Parses a percentile between 0 and 100, both excluded: digits and at most one point.
fn percentile(number: &str) -> Option<Percentile> {
    let ppm = (parse_plain_number(number)? * 10_000.0).round();
    (1.0..=999_999.0).contains(&ppm).then(|| Percentile::from_ppm(ppm as u32)).flatten()
}

/// Parses `10s to 20s`, which begins at byte `start` of the text.
fn part_of_time(text: &str, start: usize) -> Result<(u64, u64), PartError> {
    let part = (start, text.len());
    let wrong = |what: String| {
        PartError::new(part, what, "write a part of the measured time, such as from 10s to 20s")
    };
    let (from, to) = text[start..]
        .split_once(" to ")
        .ok_or_else(|| wrong("here are not both a beginning and an end".to_owned()))?;
    let from_ns = units::duration_ns(from).map_err(wrong)?;
    let to_ns = units::duration_ns(to).map_err(wrong)?;
    if from_ns >= to_ns {
        return Err(wrong("it ends before it begins".to_owned()));
    }
    Ok((from_ns, to_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ppm(condition: &Condition) -> Option<u32> {
        match condition.figure {
            Figure::Percentile(percentile) => Some(percentile.ppm()),
            _ => None,
        }
    }

    fn one(text: &str) -> Condition {
        Condition::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn parses_lists_aliases_and_units() {
        let conditions = Condition::parse_list("p99<200ms, errors<0.1%,throughput>500/s").unwrap();
        let limits: Vec<f64> = conditions.iter().map(|condition| condition.limit).collect();
        assert_eq!(limits, [200e6, 0.001, 500.0]);
        let signs: Vec<Sign> = conditions.iter().map(|condition| condition.sign).collect();
        assert_eq!(signs, [Sign::Below, Sign::Below, Sign::Above]);
        assert_eq!(conditions[1].text, "errors<0.1%");
        for (text, expected) in [
            ("p(99) < 0.2 s", 990_000),
            ("p99.9<1s", 999_000),
            ("p(99.9)<1m30s", 999_000),
            ("p50<80us", 500_000),
            ("median<1ms", 500_000),
        ] {
            assert_eq!(ppm(&one(text)), Some(expected), "{text}");
        }
        for (text, limit) in [
            ("errors<0.001", 0.001),
            ("throughput>=10k/s", 10_000.0),
            ("throughput>90/min", 1.5),
            ("max<1m30s", 90e9),
        ] {
            assert_eq!(one(text).limit, limit, "{text}");
        }
    }

    #[test]
    fn limit_itself_holds_with_inclusive_signs() {
        let holds = |text: &str| one(text).holds(500.0);
        assert_eq!(
            ["throughput<500", "throughput<=500", "throughput>500", "throughput>=500"].map(holds),
            [false, true, false, true]
        );
        assert!(one("errors<=0%").holds(0.0));
        assert_eq!([0.0, 0.001].map(|share| one("errors = 0").holds(share)), [true, false]);
        assert!(Condition::parse_list("errors=0, buy: errors = 0%").is_ok());
    }

    #[test]
    fn parses_step_and_part_of_the_time() {
        let condition = one("buy: now: p99<=200ms from 10s to 1m");
        assert_eq!(condition.step.as_deref(), Some("buy: now"));
        assert_eq!(condition.part_ns, Some((10_000_000_000, 60_000_000_000)));
        assert_eq!((condition.sign, condition.is_of_whole()), (Sign::AtMost, false));
        let (from, to) = condition.part_at().unwrap();
        assert_eq!(&condition.text[from..to], "10s to 1m");
        assert_eq!(condition.check_step(["buy: now"].into_iter()), Ok(()));
        let error = condition.check_step(["buy", "pay"].into_iter()).unwrap_err();
        assert_eq!(&condition.text[error.part.0..error.part.1], "buy: now");
        assert_eq!(error.unknown.unwrap().known, ["buy", "pay"]);
        let of_step = Condition::parse_list("buy: p99<1s, errors<1%").unwrap();
        assert_eq!(of_step[0].step.as_deref(), Some("buy"));
        assert_eq!(of_step[1].step, None);
    }

    #[test]
    fn parses_condition_on_an_event() {
        let condition = one("event deploy: lost<5");
        assert_eq!((condition.event.as_deref(), condition.step.as_deref()), (Some("deploy"), None));
        assert_eq!((condition.limit, condition.holds(4.0), condition.holds(5.0)), (5.0, true, false));
        for (text, limit) in [
            ("event roll out: errors = 0", 0.0),
            ("event deploy: lost=0", 0.0),
            ("event deploy: outage<200ms", 200e6),
            ("event deploy: recovery<=3s", 3e9),
            ("event deploy: max<1s", 1e9),
            ("lost<1", 1.0),
        ] {
            assert_eq!(one(text).limit, limit, "{text}");
        }
        for text in [
            "event deploy: p99<1s",
            "event deploy: throughput>5/s",
            "event deploy: lost<5ms",
            "event deploy: lost<0.5",
            "event deploy: lost<0",
            "event deploy: recovery=3s",
            "event deploy: outage<1s from 10s to 20s",
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(!error.way_out.is_empty() && error.part.0 <= error.part.1, "{text:?}: {error}");
        }
        let deploy = one("event deploy: lost<5");
        assert_eq!(deploy.check_event(["backup", "deploy"].into_iter()), Ok(()));
        let error = deploy.check_event(["backup"].into_iter()).unwrap_err();
        assert_eq!(&deploy.text[error.part.0..error.part.1], "deploy");
        assert_eq!(error.unknown.unwrap().known, ["backup"]);
        assert!(deploy.check_event(std::iter::empty()).is_err());
        assert!(one("event deploy: errors=0").check_step(std::iter::empty()).is_ok());
    }

    #[test]
    fn rejects_invalid_conditions_with_help() {
        for text in [
            "",
            "p99",
            "p99<",
            "p99<200",
            "p99=<200ms",
            "p99==200ms",
            "errors==0",
            "p99=200ms",
            "throughput=500/s",
            "outage=0",
            "errors=5",
            "p99<==200ms",
            "p100<1s",
            "p0<1s",
            "p-1<1s",
            "p<1s",
            "pNaN<1s",
            "p(99.99999)<1s",
            "p99<inf s",
            "p99<1e3s",
            "p99<0ms",
            "errors<0%",
            "errors<5",
            "speed<1s",
            "p99<200ms;",
            "p99<-1ms",
            "天<1s",
            "p(99<1s",
            "p99<..s",
            "p99<1s from 10s",
            "p99<1s from 20s to 10s",
        ] {
            let error = Condition::parse(text).unwrap_err();
            assert!(!error.way_out.is_empty() && !error.what.is_empty(), "{text:?}: {error}");
            assert!(text.is_char_boundary(error.part.0) && text.is_char_boundary(error.part.1), "{error:?}");
            assert!(error.part.0 <= error.part.1, "{error:?}");
        }
    }

    #[test]
    fn bounds_decide_by_their_worst_case() {
        let decide = |text: &str, low, high| one(text).decide(Bounds::new(low, high).unwrap());
        let (holds, fails, undecided) = (Decision::Holds, Decision::Fails, Decision::Undecided);
        for (text, low, high, expected) in [
            ("p99<200ms", 1e6, 199e6, holds),
            ("p99<200ms", 1e6, 200e6, undecided),
            ("p99<200ms", 200e6, f64::INFINITY, fails),
            ("p99<=200ms", 1e6, 200e6, holds),
            ("throughput>500/s", 501.0, f64::INFINITY, holds),
            ("throughput>500/s", 400.0, 500.0, fails),
            ("throughput>=500/s", 400.0, 500.0, undecided),
            ("lost=5", 5.0, 5.0, holds),
            ("lost=5", 4.0, 6.0, undecided),
            ("lost=5", 6.0, 9.0, fails),
        ] {
            assert_eq!(decide(text, low, high), expected, "{text} in {low}..{high}");
        }
    }

    #[test]
    fn rejects_equality_of_times_and_rates_with_the_right_sign() {
        let help = |text: &str| Condition::parse(text).unwrap_err().help();
        assert_eq!(help("buy: p99 = 200ms"), "write p99<=200ms");
        assert_eq!(help("throughput = 500/s"), "write throughput>=500/s");
        assert_eq!(help("outage = 0"), "write outage<=200ms");
        let of_baseline = Condition::parse_gate("errors = +0% of baseline").unwrap_err();
        assert_eq!(of_baseline.help(), "write errors<=+0% of baseline");
        assert_eq!(Condition::parse_list("errors=1%").unwrap_err().what, "errors is held by <");
    }

    #[test]
    fn gates_and_lists_may_refer_to_a_baseline() {
        assert!(Condition::parse_gate("buy: p99 <= 110% of baseline").unwrap().of_baseline.is_some());
        let list = "throughput>=95% of baseline, errors<=+0.1% of baseline";
        assert_eq!(Condition::parse_list_of_baseline(list).unwrap().len(), 2);
        assert!(Condition::parse_list_of_baseline("throughput<=95% of baseline").is_err());
    }

    #[test]
    fn parses_limits_of_a_baseline() {
        let text = "throughput < 95% of baseline,p99>110% of baseline from 10s to 20s, errors > +0.1% of baseline,outage>+20ms of \
                    baseline, mean<-5ms of baseline, errors>1%";
        let conditions = Condition::parse_failures(text).unwrap();
        let limits: Vec<_> =
            conditions.iter().map(|condition| (condition.limit, condition.of_baseline)).collect();
        let (share, difference) = (Some(BaselineLimit::Share), Some(BaselineLimit::Difference));
        assert_eq!(
            limits,
            [
                (0.95, share),
                (1.1, share),
                (0.001, difference),
                (20e6, difference),
                (-5e6, difference),
                (0.01, None)
            ]
        );
        assert_eq!(conditions[1].part_ns, Some((10_000_000_000, 20_000_000_000)));
        for text in [
            "throughput<95 of baseline",
            "throughput<0% of baseline",
            "throughput<100ms of baseline",
            "errors>110% of baseline",
            "outage>110% of baseline",
            "p99>+20 of baseline",
            "p99>++20ms of baseline",
            "p99>of baseline",
        ] {
            let error = Condition::parse_failures(text).unwrap_err();
            assert!(!error.way_out.is_empty() && !error.what.is_empty(), "{text:?}: {error}");
        }
        for refused in [
            Condition::parse("p99<110% of baseline").err(),
            Condition::parse_list("p99<110% of baseline").err(),
        ] {
            assert_eq!(refused.unwrap().what, "there is no baseline here");
        }
    }

    #[test]
    fn list_rejects_conditions_that_a_lower_load_breaks() {
        let many = vec!["p99<1s"; 40].join(",");
        for text in
            ["", ",", "p99>200ms", "errors>1%", "throughput<5/s", "throughput<=5/s", "buy: p99>1s", &many]
        {
            let error = Condition::parse_list(text).unwrap_err();
            assert!(!error.way_out.is_empty() && !error.what.is_empty(), "{text:?}: {error}");
        }
        assert_eq!(Condition::parse_list("buy: p99>1s").unwrap_err().what, "p99 is held by <");
    }
}
