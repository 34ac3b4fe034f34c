//! Kinds of steps, and the kinds of systems that run them.

use wire::Protocol;
use wire::step::Unit;

use super::tree::Node;
use crate::system_kind::SystemKind;

/// Kind of a step, and the kind of system that runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) system: &'static SystemKind,
    /// Protocol of such steps. `None` if the system decides it.
    protocol: Option<&'static Protocol>,
}

impl Kind {
    /// Kind of a step. `None` for a misspelled step.
    pub(crate) fn from_known_step(step: &Node) -> Option<Self> {
        let system = SystemKind::by_step(step)?;
        Some(Self { system, protocol: (system.protocol_of_step)(step) })
    }

    /// Kind of a step. A misspelled step counts as a request.
    pub(crate) fn of_step(step: &Node) -> Self {
        let request = || Self { system: SystemKind::for_unknown(), protocol: Some(wire::step::requests()) };
        Self::from_known_step(step).unwrap_or_else(request)
    }

    /// Kind of the statements of a key outside of steps.
    pub(crate) fn answering(key: &str) -> Self {
        Self { system: SystemKind::answering(key), protocol: None }
    }

    /// Kind of a system, by the scheme of its URL. `None` if the scheme is unknown.
    pub(crate) fn by_url(url: &str) -> Option<Self> {
        let system = SystemKind::by_url(url);
        (system.has_url)(url).then(|| Self { system, protocol: (system.protocol_of_url)(url) })
    }

    /// Protocol of such steps if they have a single key. `None` for other steps.
    pub(crate) fn owner(self) -> Option<&'static Protocol> {
        self.protocol.filter(|protocol| protocol.has_single_keys())
    }

    /// Max requests in flight on one connection.
    pub(crate) fn pipeline_max(self) -> u32 {
        self.protocol.and_then(Protocol::steps).map_or(1, |steps| steps.pipeline_max)
    }

    /// Noun for such steps, in sentences.
    pub(crate) fn noun(self) -> &'static str {
        match &self.system.words {
            Some(words) => words.steps,
            None => self.protocol.map_or("", Protocol::noun),
        }
    }

    /// Verb phrase for sentences about systems of this kind.
    pub(crate) fn system_words(self) -> String {
        let words = self.system.words.as_ref();
        words.map_or_else(|| format!("speaks {}", self.noun()), |words| words.system.to_owned())
    }

    /// Noun for one such step, in sentences.
    pub(crate) fn step_words(self) -> &'static str {
        let further = self.protocol.and_then(Protocol::extra_keys);
        match &self.system.words {
            Some(words) => words.step,
            None => further.map_or(self.noun(), |further| further.one),
        }
    }

    /// Order of kinds: by system, then steps with further keys first, then by name.
    fn key(self) -> (usize, bool, &'static str) {
        (self.system.place(), self.owner().is_some(), self.protocol.map_or("", |protocol| protocol.name))
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Kind {}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Kinds of several steps, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(crate) fn add(&mut self, kind: Kind) {
        if !self.0.contains(&kind) {
            self.0.push(kind);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Kind of the system of `url`: if there are several, the first one in their order. `None` if there are no steps.
    pub(crate) fn front(&self) -> Option<&'static SystemKind> {
        self.0.iter().min().map(|kind| kind.system)
    }

    /// Kinds that a system takes.
    pub(crate) fn at<'a>(&'a self, system: &'a SystemKind) -> impl Iterator<Item = Kind> + 'a {
        self.0.iter().copied().filter(|kind| std::ptr::eq(kind.system, system))
    }

    /// Whether steps also go to a second system, which the key `database` names.
    pub(crate) fn has_second_system(&self) -> bool {
        self.0.iter().any(|kind| self.front().is_some_and(|front| !std::ptr::eq(kind.system, front)))
    }

    /// Protocol that owns steps of a single key. `None` if there are none.
    pub(crate) fn owner(&self) -> Option<&'static Protocol> {
        self.0.iter().find_map(|kind| kind.owner())
    }

    /// Unit of the steps: one with sessions, if there is any.
    pub(crate) fn unit(&self) -> Unit {
        let units = self.0.iter().map(|kind| kind.system.unit);
        units.into_iter().find(|unit| unit.has_sessions()).unwrap_or_default()
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        let mut all = Self::default();
        kinds.into_iter().for_each(|kind| all.add(kind));
        all
    }
}
