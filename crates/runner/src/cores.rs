//! Which cores the system and the generator stay on.

use engine::allowed_cores;
use plan::{Fault, Study, StudyPin};

use crate::run_error::RunError;

/// Cores by side; empty: wherever the system likes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cores {
    pub(crate) system: Vec<usize>,
    pub(crate) generator: Vec<usize>,
}

impl Cores {
    /// The cores that a plan asks for, of those that may be used.
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
                permit("pin", system, allowed)?;
                permit("pin", generator, allowed)?;
                Ok(Self { system: system.clone(), generator: generator.clone() })
            }
        }
    }

    /// What every reader must know about them.
    pub(crate) fn stamp(&self, allowed: &[usize]) -> String {
        if self.system.is_empty() || self.generator.is_empty() {
            let count = allowed.len();
            return format!(
                "SHARED: system and generator were not kept apart on {count} cores, which makes differences look smaller"
            );
        }
        format!(
            "the systems ran on core {}, the generator on core {}",
            list(&self.system),
            list(&self.generator)
        )
    }
}

/// What every reader of a study must know of the cores that its systems and the generator stay on; `None` if it starts none.
///
/// # Errors
/// The plan asks for cores that this process may not use.
pub fn stamp(study: &Study) -> Result<Option<String>, RunError> {
    let allowed = allowed_cores();
    let cores = Cores::choose(&study.pin, &allowed).map_err(|fault| RunError::Plan(vec![fault]))?;
    Ok(study.systems.iter().any(plan::System::is_started).then(|| cores.stamp(&allowed)))
}

/// Refuses cores that this process may not use; `place` is where they were asked for.
pub(crate) fn permit(place: &str, cores: &[usize], allowed: &[usize]) -> Result<(), Fault> {
    match cores.iter().find(|core| !allowed.contains(core)) {
        None => Ok(()),
        Some(core) => Err(Fault::new(
            place,
            format!("core {core} is not one that this process may use"),
            format!("choose among {}", list(allowed)),
        )),
    }
}

fn list(cores: &[usize]) -> String {
    cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gets_the_last_core_and_the_system_the_others() {
        let cores = Cores::choose(&StudyPin::Auto, &[0, 1, 3]).unwrap();
        assert_eq!(cores, Cores { system: vec![0, 1], generator: vec![3] });
        assert_eq!(cores.stamp(&[0, 1, 3]), "the systems ran on core 0,1, the generator on core 3");
        assert!(Cores::choose(&StudyPin::Auto, &[2]).is_err());
        assert!(Cores::default().stamp(&[0, 1]).starts_with("SHARED"));
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let pin = StudyPin::Cores { system: vec![0], generator: vec![9] };
        let fault = Cores::choose(&pin, &[0, 1]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "pin: core 9 is not one that this process may use\n  help: choose among 0,1"
        );
    }
}
