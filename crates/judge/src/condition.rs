//! Conditions as people write them: `p99<200ms`, `buy: errors<=0.1% from 10s to 20s`. The gates of a plan and `--slo` are read by
//! this one grammar.
//!
//! ```text
//! [STEP: | event NAME: ]METRIC (<|<=|>|>=|=) LIMIT[ of baseline][ from TIME to TIME]
//! ```
//!
//! `p99` and `p(99)` are the same; `median` is `p50`.

use record::Percentile;

use crate::kind::{MetricKind, plain};
use crate::slo::Figure;

/// A condition that a run must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was written.
    pub text: String,
    /// The name of the step that it asks about; `None`: all steps together.
    pub step: Option<String>,
    /// The name of the event that it asks about; `None`: the run.
    pub event: Option<String>,
    /// What is held against the limit.
    pub figure: Figure,
    /// How.
    pub sign: Sign,
    /// In the unit of the figure: nanoseconds, a share, or a number per second. Finite and not negative, but a difference from a
    /// baseline may be below zero. Of a share of a baseline: that share.
    pub limit: f64,
    /// Whether the limit is one of a baseline, and how it is meant.
    pub of_baseline: Option<OfBaseline>,
    /// Only this part of the measured time, in nanoseconds since the end of the warm-up.
    pub part_ns: Option<(u64, u64)>,
}

/// How a limit is meant that says `of baseline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfBaseline {
    /// `95% of baseline`: the figure divided by that of the baseline.
    Share,
    /// `+0.1% of baseline`, `+20ms of baseline`: the figure less that of the baseline.
    Difference,
}

impl OfBaseline {
    /// By what the figure and that of the baseline are compared.
    pub(crate) const fn scale(self) -> stats::Scale {
        match self {
            Self::Share => stats::Scale::Ratio,
            Self::Difference => stats::Scale::Difference,
        }
    }
}

/// How a figure is held against a limit.
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
    /// `=`, of shares and counts alone: a measured time or rate equals no limit.
    Exactly,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{condition:?}: {what}; {}", self.help())]
pub struct ConditionError {
    /// The condition, as it was written.
    pub condition: String,
    /// The bytes of it that are wrong.
    pub part: (usize, usize),
    /// What is wrong with them.
    pub what: String,
    /// What to do about it; of a name that is not known, the names follow.
    pub way_out: String,
    /// A name that is not known, and those that are.
    pub unknown: Option<Box<Unknown>>,
}

/// A name that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// As it was written.
    pub name: String,
    /// Those that are known.
    pub known: Vec<String>,
}

/// Conditions in one text.
const CONDITIONS_MAX: usize = 16;
const EXAMPLES: &str = "p99<200ms, mean<50ms, max<1s, errors<0.1%, outage<500ms or throughput>500/s";
const FROM: &str = " from ";
const OF_BASELINE: &str = "of baseline";
/// Before the name of an event.
const EVENT: &str = "event ";
/// Nobody allows more than a thousandfold.
const SHARE_MAX: f64 = 1e3;

/// Another name of a metric.
const ALIASES: [(&str, &str); 1] = [("median", "p50")];

impl Condition {
    /// Whether it is about how fast a system is, at a share or a difference of this from the baseline slower than that: then what
    /// makes a system slower explains it.
    pub fn is_slower(&self, estimate: f64) -> bool {
        let none = match self.of_baseline {
            Some(OfBaseline::Share) => 1.0,
            Some(OfBaseline::Difference) => 0.0,
            None => return false,
        };
        self.figure.distorted().is_some() && (estimate < none) == self.figure.higher_is_better()
    }

    /// One condition, without a baseline.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        read(text).and_then(without_baseline).map_err(|wrong| wrong.of(text))
    }

    /// Conditions with commas between them, as `--fail-if` has them: each says when to fail, and may be one of a baseline.
    pub fn parse_failures(text: &str) -> Result<Vec<Self>, ConditionError> {
        in_list(text, read)
    }

    /// One condition of a plan, which may be one of a baseline.
    pub fn parse_gate(text: &str) -> Result<Self, ConditionError> {
        read(text).map_err(|wrong| wrong.of(text))
    }

    /// As [`Self::parse_list`], with conditions of a baseline among them.
    pub fn parse_list_of_baseline(text: &str) -> Result<Vec<Self>, ConditionError> {
        in_list(text, |text| read(text).and_then(held_by_less_load))
    }

    /// Conditions with commas between them, as `--slo` has them: each is one that less load does not break, so that there is a highest
    /// load that holds it.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ConditionError> {
        in_list(text, |text| read(text).and_then(without_baseline).and_then(held_by_less_load))
    }

    /// Asserts that it asks about a step that is there.
    pub fn check_step<'a>(&self, steps: impl Iterator<Item = &'a str> + Clone) -> Result<(), ConditionError> {
        let Some(step) = self.step.as_deref().filter(|step| !steps.clone().any(|known| known == *step))
        else {
            return Ok(());
        };
        let (what, known) = (format!("no step is named {step:?}"), steps.map(str::to_owned).collect());
        let end = self.text.rfind(&format!("{step}: ")).map_or(0, |at| at + step.len());
        let wrong = Wrong::new((0, end), what, "write one of");
        Err(Wrong { unknown: Some(Box::new(Unknown { name: step.to_owned(), known })), ..wrong }
            .of(&self.text))
    }

    /// Asserts that it asks about an event that is there.
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
            return Err(Wrong::new(part, what, "name an event in `events`, or leave this out").of(&self.text));
        }
        let wrong = Wrong::new(part, what, "write one of");
        Err(Wrong { unknown: Some(Box::new(Unknown { name: event.to_owned(), known })), ..wrong }
            .of(&self.text))
    }

    /// The bytes that say which part of the time it asks about.
    pub fn part_at(&self) -> Option<(usize, usize)> {
        self.part_ns.and_then(|_| Some((self.text.rfind(FROM)? + FROM.len(), self.text.len())))
    }

    /// Whether it asks about all steps and all of the measured time.
    pub(crate) const fn is_of_whole(&self) -> bool {
        self.step.is_none() && self.event.is_none() && self.part_ns.is_none()
    }

    /// The longest time that it allows, if it is about time, in nanoseconds.
    pub fn limit_ns(&self) -> Option<u64> {
        self.figure.kind().is_time().then_some(self.limit as u64)
    }

    /// Whether a figure holds it.
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
    /// What to do about it, with the names that are known.
    pub fn help(&self) -> String {
        match &self.unknown {
            Some(unknown) => format!("{} {}", self.way_out, unknown.known.join(", ")),
            None => self.way_out.clone(),
        }
    }
}

impl Sign {
    /// The longer first, where one begins like another.
    const ALL: [(&'static str, Self); 5] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Below),
        (">", Self::Above),
        ("=", Self::Exactly),
    ];

    /// Whether the limit is one from above.
    pub const fn is_upper(self) -> bool {
        matches!(self, Self::Below | Self::AtMost | Self::Exactly)
    }

    /// In a sentence: `below`, `at least`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::AtMost => "at most",
            Self::Above => "above",
            Self::AtLeast => "at least",
            Self::Exactly => "exactly",
        }
    }

    /// The first one in a text: its place, what it is, and its length.
    fn find(text: &str) -> Option<(usize, Self, usize)> {
        let at = text.find(['<', '>', '='])?;
        let (sign, found) = Self::ALL.into_iter().find(|(sign, _)| text[at..].starts_with(sign))?;
        Some((at, found, sign.len()))
    }
}

/// What is wrong, before it is known with which condition.
struct Wrong {
    part: (usize, usize),
    what: String,
    way_out: String,
    unknown: Option<Box<Unknown>>,
}

impl Wrong {
    fn new(part: (usize, usize), what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { part, what: what.into(), way_out: way_out.into(), unknown: None }
    }

    fn of(self, condition: &str) -> ConditionError {
        let Self { part, what, way_out, unknown } = self;
        ConditionError { condition: condition.to_owned(), part, what, way_out, unknown }
    }
}

fn in_list(
    text: &str,
    read: impl Fn(&str) -> Result<Condition, Wrong>,
) -> Result<Vec<Condition>, ConditionError> {
    let one = |text: &str| {
        let text = text.trim();
        read(text).map_err(|wrong| of_another_separator(text, &read).unwrap_or(wrong).of(text))
    };
    let conditions: Vec<Condition> =
        text.split(',').take(CONDITIONS_MAX + 1).map(one).collect::<Result<_, _>>()?;
    match conditions.len() {
        0..=CONDITIONS_MAX => Ok(conditions),
        _ => {
            let way_out = format!("write {CONDITIONS_MAX} at most");
            Err(Wrong::new((0, text.len()), "these are too many conditions", way_out).of(text))
        }
    }
}

/// Conditions that are separated as in other languages.
fn of_another_separator(text: &str, read: impl Fn(&str) -> Result<Condition, Wrong>) -> Option<Wrong> {
    let separator = [";", "&&", " and "].into_iter().find(|separator| text.contains(separator))?;
    let parts: Vec<&str> = text.split(separator).map(str::trim).filter(|part| !part.is_empty()).collect();
    let are_conditions = parts.iter().all(|part| read(part).is_ok());
    let what = "a comma separates conditions";
    are_conditions.then(|| Wrong::new((0, text.len()), what, format!("write {}", parts.join(", "))))
}

fn without_baseline(condition: Condition) -> Result<Condition, Wrong> {
    if condition.of_baseline.is_none() {
        return Ok(condition);
    }
    let at = condition.text.rfind(OF_BASELINE).unwrap_or(0);
    let way_out = "write a limit without it, or compare with a stored baseline: tenbin compare A B --fail-if";
    Err(Wrong::new((at, at + OF_BASELINE.len()), "there is no baseline here", way_out))
}

/// `95%`, or a difference with its sign.
fn limit_of_baseline(figure: Figure, text: &str) -> Result<(f64, OfBaseline), (String, String)> {
    let (kind, name) = (figure.kind(), figure.name());
    let signed = [("+", 1.0), ("-", -1.0), ("−", -1.0)]
        .into_iter()
        .find_map(|(sign, factor)| Some((factor, text.strip_prefix(sign)?.trim_start())));
    if let Some((factor, difference)) = signed {
        return Ok((factor * kind.limit(difference)?, OfBaseline::Difference));
    }
    let difference = format!("{name} +{} {OF_BASELINE}", kind.example());
    if kind.can_be_zero() {
        let what = format!("{name} can be 0, and a share of 0 is 0");
        return Err((what, format!("write a difference with its sign, such as {difference}")));
    }
    let share =
        text.strip_suffix('%').and_then(|number| plain(number.trim_end())).map(|percent| percent / 100.0);
    match share.filter(|share| *share > 0.0 && *share <= SHARE_MAX) {
        Some(share) => Ok((share, OfBaseline::Share)),
        None => {
            let what = format!("{text:?} is no share of a baseline");
            Err((
                what,
                format!("write a percentage such as 95% {OF_BASELINE}, or a difference such as {difference}"),
            ))
        }
    }
}

fn read(text: &str) -> Result<Condition, Wrong> {
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
        return Err(Wrong::new((start, text_end), what, format!("write it like {EXAMPLES}")));
    };
    let (name, limit) = (&condition[..at], &condition[at + length..]);
    if sign == Sign::Exactly && limit.starts_with(['<', '>', '=']) {
        let what = "the signs are <, <=, >, >=, and =";
        return Err(Wrong::new((start, start + at + length + 1), what, "write the = last, or leave it out"));
    }
    let lead = name.len() - name.trim_start().len();
    let figure = figure(name.trim(), start + lead)?;
    if sign == Sign::Exactly {
        exactly(figure, limit.trim())
            .map_err(|(what, way_out)| Wrong::new((start + at, start + at + length), what, way_out))?;
    }
    if event.is_some() {
        of_event(figure, (start + lead, start + at), part_ns.map(|_| (text_end, text.len())))?;
    }
    let limit_part = (start + at + length + limit.len() - limit.trim_start().len(), text_end);
    let read = match limit.trim().strip_suffix(OF_BASELINE) {
        Some(limit) => limit_of_baseline(figure, limit.trim()).map(|(limit, how)| (limit, Some(how))),
        None => figure.kind().limit(limit.trim()).map(|limit| (limit, None)),
    };
    let (limit, of_baseline) = read.map_err(|(what, way_out)| Wrong::new(limit_part, what, way_out))?;
    if sign == Sign::Below && limit == 0.0 && of_baseline.is_none() {
        let way_out = "write a small limit, such as errors<0.01%";
        return Err(Wrong::new(limit_part, "nothing is below 0", way_out));
    }
    Ok(Condition { text: text.to_owned(), step, event, figure, sign, limit, of_baseline, part_ns })
}

/// An event has a few figures of its own, and a time of its own. `name_at`, `part_at`: the bytes of the metric, and of a part of the
/// measured time.
fn of_event(figure: Figure, name_at: (usize, usize), part_at: Option<(usize, usize)>) -> Result<(), Wrong> {
    if let Some(part_at) = part_at {
        return Err(Wrong::new(part_at, "an event has a time of its own", "leave out this part of the time"));
    }
    let name = figure.name();
    let of_events = Figure::metrics().filter(|metric| metric.is_of_events);
    let known: Vec<String> = of_events.map(|metric| metric.name.to_owned()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let what = format!("{name} is not measured of an event");
    Err(Wrong {
        unknown: Some(Box::new(Unknown { name, known })),
        ..Wrong::new(name_at, what, "write one of")
    })
}

/// A time or a rate is never exactly what was written, and neither is any figure that of a baseline.
fn exactly(figure: Figure, limit: &str) -> Result<(), (String, String)> {
    let name = figure.name();
    if matches!(figure.kind(), MetricKind::Share | MetricKind::Count) && !limit.ends_with(OF_BASELINE) {
        return Ok(());
    }
    let sign = if figure.higher_is_better() { ">=" } else { "<=" };
    let is_limit = limit.ends_with(OF_BASELINE) || figure.kind().limit(limit).is_ok();
    let limit = if is_limit { limit } else { figure.kind().example() };
    Err((format!("no measured {name} is exactly a limit"), format!("write {name}{sign}{limit}")))
}

fn held_by_less_load(condition: Condition) -> Result<Condition, Wrong> {
    if condition.sign == Sign::Exactly && condition.limit > 0.0 {
        let (at, name) = (condition.text.find('=').unwrap_or(0), condition.figure.name());
        let what = format!("{name} is held by <");
        return Err(Wrong::new((at, at + 1), what, format!("write <= in place of =, or {name}=0")));
    }
    if condition.sign.is_upper() != condition.figure.higher_is_better() {
        return Ok(condition);
    }
    let text = &condition.text;
    let sign_at = text.find(['<', '>']).unwrap_or(0);
    let start = text[..sign_at].rfind(": ").map_or(0, |at| at + 2);
    let sign = if condition.sign.is_upper() { '>' } else { '<' };
    let what = format!("{} is held by {sign}", text[start..sign_at].trim());
    Err(Wrong::new((sign_at, sign_at + 1), what, format!("turn the sign to {sign}")))
}

fn figure(name: &str, start: usize) -> Result<Figure, Wrong> {
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
        return Err(Wrong::new(part, what, "write a number between 0 and 100, such as p99 or p99.9"));
    }
    let known = Figure::metrics().map(|metric| metric.name).chain(ALIASES.map(|(alias, _)| alias));
    let known = known.map(str::to_owned).collect();
    let what = format!("unknown metric {name:?}");
    Err(Wrong {
        unknown: Some(Box::new(Unknown { name: name.to_owned(), known })),
        ..Wrong::new(part, what, "write one of")
    })
}

/// A percentile between 0 and 100, both left out, in digits and at most one point.
fn percentile(number: &str) -> Option<Percentile> {
    let ppm = (plain(number)? * 10_000.0).round();
    (1.0..=999_999.0).contains(&ppm).then(|| Percentile::from_ppm(ppm as u32)).flatten()
}

/// `10s to 20s`, which begins at a byte of the text.
fn part_of_time(text: &str, start: usize) -> Result<(u64, u64), Wrong> {
    let part = (start, text.len());
    let wrong =
        |what: String| Wrong::new(part, what, "write a part of the measured time, such as from 10s to 20s");
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
    fn conditions_are_read_as_people_write_them() {
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
    fn a_limit_itself_is_held_where_the_sign_says_so() {
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
    fn a_condition_may_ask_about_a_step_and_a_part_of_the_time() {
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
    fn a_condition_may_ask_about_an_event() {
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
    fn what_is_no_condition_is_refused_with_a_way_out() {
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
    fn a_time_or_a_rate_that_shall_equal_a_limit_is_told_the_sign() {
        let help = |text: &str| Condition::parse(text).unwrap_err().help();
        assert_eq!(help("buy: p99 = 200ms"), "write p99<=200ms");
        assert_eq!(help("throughput = 500/s"), "write throughput>=500/s");
        assert_eq!(help("outage = 0"), "write outage<=200ms");
        let of_baseline = Condition::parse_gate("errors = +0% of baseline").unwrap_err();
        assert_eq!(of_baseline.help(), "write errors<=+0% of baseline");
        assert_eq!(Condition::parse_list("errors=1%").unwrap_err().what, "errors is held by <");
    }

    #[test]
    fn a_gate_and_a_list_may_be_of_a_baseline() {
        assert!(Condition::parse_gate("buy: p99 <= 110% of baseline").unwrap().of_baseline.is_some());
        let list = "throughput>=95% of baseline, errors<=+0.1% of baseline";
        assert_eq!(Condition::parse_list_of_baseline(list).unwrap().len(), 2);
        assert!(Condition::parse_list_of_baseline("throughput<=95% of baseline").is_err());
    }

    #[test]
    fn a_limit_may_be_one_of_a_baseline() {
        let text = "throughput < 95% of baseline,p99>110% of baseline from 10s to 20s, errors > +0.1% of baseline,outage>+20ms of \
                    baseline, mean<-5ms of baseline, errors>1%";
        let conditions = Condition::parse_failures(text).unwrap();
        let limits: Vec<_> =
            conditions.iter().map(|condition| (condition.limit, condition.of_baseline)).collect();
        let (share, difference) = (Some(OfBaseline::Share), Some(OfBaseline::Difference));
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
    fn of_a_list_each_is_held_by_less_load() {
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
