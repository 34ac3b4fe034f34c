//! Assignment of cores to the system and the generator.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::allowed_cores;
use plan::{Fault, Study, StudyPin};

use crate::run_error::RunError;

/// Time for which `pin: auto` observes the CPU use of other processes.
const OBSERVATION_TIME: Duration = Duration::from_secs(1);
/// Share of a core, from 0 to 1, from which `pin: auto` leaves it to other processes.
const BUSY_MIN_SHARE: f64 = 0.1;

/// Cores of each side; empty if it is not pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) system: Vec<usize>,
    pub(crate) generator: Vec<usize>,
}

impl Cores {
    /// Chooses the cores for a plan, from those in `allowed`.
    pub(crate) fn choose(pin: &StudyPin, allowed: &[usize]) -> Result<Self, Fault> {
        match pin {
            StudyPin::No => Ok(Self::default()),
            StudyPin::Auto => match allowed.split_last() {
                Some((last, rest)) if !rest.is_empty() => {
                    Ok(Self { system: rest.to_vec(), generator: vec![*last] })
                }
                _ => Err(Fault::new(
                    "pin",
                    "there is one core only, which system and generator must share",
                    "leave out pin, and read the figures as those of a shared core",
                )),
            },
            StudyPin::Cores { system, generator } => {
                check_allowed("pin", system, allowed)?;
                check_allowed("pin", generator, allowed)?;
                Ok(Self { system: system.clone(), generator: generator.clone() })
            }
        }
    }

    /// Describes the CPU use of other processes before the cores were chosen.
    fn seen(&self, busy: &BTreeMap<usize, f64>) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let used: Vec<(usize, f64)> = busy
            .iter()
            .filter(|(_, share)| **share >= BUSY_MIN_SHARE)
            .map(|(core, share)| (*core, *share))
            .collect();
        if used.is_empty() {
            let most = busy.values().copied().fold(0.0, f64::max);
            return format!("in the second before, others used at most {} of a core", percent(most));
        }
        let each: Vec<String> =
            used.iter().map(|(core, share)| format!("{} of core {core}", percent(*share))).collect();
        let is_left_out =
            used.iter().all(|(core, _)| !self.system.contains(core) && !self.generator.contains(core));
        let left_out = match used.len() {
            _ if !is_left_out => "",
            1 => ", which was left to them",
            _ => ", which were left to them",
        };
        format!("in the second before, others used {}{left_out}", each.join(", "))
    }

    /// Note for every report on the cores.
    pub(crate) fn stamp(&self, allowed: &[usize]) -> String {
        if self.system.is_empty() || self.generator.is_empty() {
            let count = allowed.len();
            return format!(
                "SHARED: system and generator were not kept apart on {count} cores, which makes differences look smaller"
            );
        }
        format!(
            "the systems ran on core {}, the generator on core {}",
            format_list(&self.system),
            format_list(&self.generator)
        )
    }
}

/// Chooses the cores of a study with `pin: auto` before any run.
///
/// Observes for one second which cores other processes use, and avoids these as long as two others remain. If too few remain, the system
/// gets the quietest cores, and the generator the next. Returns the observation as text. `None` if the study does not set `pin: auto`, or
/// if there is only one core, which [`crate::preflight`] rejects.
pub fn choose_cores(study: &mut Study) -> Option<String> {
    let allowed = allowed_cores();
    if study.pin != StudyPin::Auto {
        return None;
    }
    let last = Cores::choose(&study.pin, &allowed).ok()?;
    let mut busy = lab::busy_cores(OBSERVATION_TIME);
    busy.retain(|core, _| allowed.contains(core));
    let cores = if busy.len() == allowed.len() { quietest(&busy) } else { last };
    let seen = (!busy.is_empty()).then(|| cores.seen(&busy));
    study.pin = StudyPin::Cores { system: cores.system, generator: cores.generator };
    seen
}

/// Splits two or more cores by the CPU use of other processes.
fn quietest(busy: &BTreeMap<usize, f64>) -> Cores {
    let quiet: Vec<usize> =
        busy.iter().filter(|(_, share)| **share < BUSY_MIN_SHARE).map(|(core, _)| *core).collect();
    if let [system @ .., generator] = &quiet[..]
        && !system.is_empty()
    {
        return Cores { system: system.to_vec(), generator: vec![*generator] };
    }
    let mut by_use: Vec<(usize, f64)> = busy.iter().map(|(core, share)| (*core, *share)).collect();
    by_use.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let (generator, _) = by_use.remove(1.min(by_use.len() - 1));
    let mut system: Vec<usize> = by_use.into_iter().map(|(core, _)| core).collect();
    system.sort_unstable();
    Cores { system, generator: vec![generator] }
}

/// Note for every report on the cores of systems and generator. `None` if the study starts no system.
///
/// # Errors
///
/// The plan names cores that this process may not use.
pub fn stamp(study: &Study) -> Result<Option<String>, RunError> {
    let allowed = allowed_cores();
    let cores = Cores::choose(&study.pin, &allowed).map_err(|fault| RunError::Plan(vec![fault]))?;
    Ok(study.systems.iter().any(plan::System::is_started).then(|| cores.stamp(&allowed)))
}

/// Rejects cores that this process may not use. `place` is the key or flag that names them.
pub(crate) fn check_allowed(place: &str, cores: &[usize], allowed: &[usize]) -> Result<(), Fault> {
    match cores.iter().find(|core| !allowed.contains(core)) {
        None => Ok(()),
        Some(core) => Err(Fault::new(
            place,
            format!("core {core} is not one that this process may use"),
            format!("choose among {}", format_list(allowed)),
        )),
    }
}

fn format_list(cores: &[usize]) -> String {
    cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generator_gets_the_last_core() {
        let cores = Cores::choose(&StudyPin::Auto, &[0, 1, 3]).unwrap();
        assert_eq!(cores, Cores { system: vec![0, 1], generator: vec![3] });
        assert_eq!(cores.stamp(&[0, 1, 3]), "the systems ran on core 0,1, the generator on core 3");
        assert!(Cores::choose(&StudyPin::Auto, &[2]).is_err());
        assert!(Cores::default().stamp(&[0, 1]).starts_with("SHARED"));
    }

    fn chosen(shares: &[f64]) -> (Cores, String) {
        let busy: BTreeMap<usize, f64> = shares.iter().copied().enumerate().collect();
        let cores = quietest(&busy);
        let seen = cores.seen(&busy);
        (cores, seen)
    }

    #[test]
    fn busy_cores_are_left_out_while_two_remain() {
        let of = |system: &[usize], generator| Cores { system: system.to_vec(), generator: vec![generator] };
        let (cores, seen) = chosen(&[0.01, 0.03]);
        assert_eq!(cores, of(&[0], 1));
        assert_eq!(seen, "in the second before, others used at most 3 % of a core");
        let (cores, seen) = chosen(&[0.97, 0.0, 0.41, 0.02, 0.09]);
        assert_eq!(cores, of(&[1, 3], 4));
        assert_eq!(
            seen,
            "in the second before, others used 97 % of core 0, 41 % of core 2, which were left to them"
        );
    }

    #[test]
    fn system_gets_the_quietest_of_busy_cores() {
        let of = |system: &[usize], generator| Cores { system: system.to_vec(), generator: vec![generator] };
        let (cores, seen) = chosen(&[0.97, 0.0]);
        assert_eq!(cores, of(&[1], 0));
        assert_eq!(seen, "in the second before, others used 97 % of core 0");
        assert_eq!(chosen(&[0.2, 0.9]).0, of(&[0], 1));
        assert_eq!(chosen(&[0.5, 0.3, 1.0, 0.02]).0, of(&[0, 2, 3], 1));
    }

    #[test]
    fn error_names_the_core_that_is_not_allowed() {
        let pin = StudyPin::Cores { system: vec![0], generator: vec![9] };
        let fault = Cores::choose(&pin, &[0, 1]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "pin: core 9 is not one that this process may use\n  help: choose among 0,1"
        );
    }
}
