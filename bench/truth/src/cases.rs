//! Lists all cases, and selects them by name. Each case on the real engine has its own module.

mod r1_limits;
mod t01_times;
mod t02_stall;
mod t03_queue;
mod t04_capacity;
mod t05_starved;
mod t06_connections;
mod t07_shed;
mod t08_equal;
mod t09_slower;
mod t10_best;
mod t11_warm_up;
mod t16_frozen;
mod t17_dead;
mod t18_restarted;
mod t19_hanging;
mod t20_half;
mod t21_errors;
mod t22_clocks;
mod t23_generator;
mod t24_events;
mod t25_bounds;

use crate::bench::Bench;
use crate::grade::Grade;
use crate::simulated;

/// A test case, which plants one or more truths.
pub(crate) struct Case {
    /// Name, such as T4.
    pub(crate) name: &'static str,
    /// Short description.
    pub(crate) what: &'static str,
    pub(crate) when: When,
    pub(crate) run: fn(&Bench) -> Vec<Grade>,
}

/// Scheduling of a case relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Runs alone, because it needs an idle machine or uses all cores.
    Alone,
    /// Runs in parallel with other cases, because it hardly uses the CPU.
    Together,
}

impl When {
    /// Groups of cases, in run order.
    pub(crate) const ALL: [Self; 2] = [Self::Alone, Self::Together];
}

/// Cases with the longest attempts. They start first, so that none of them still runs when all others have ended.
pub(crate) const LONGEST: [&str; 8] = ["T4", "T10", "R1", "T9", "T8", "T11", "T23", "T2"];

/// All cases, in the order of the printed table.
pub(crate) const CASES: &[Case] = &[
    Case { name: "S1", what: "simulated duels", when: When::Alone, run: simulated::duels },
    Case { name: "S2", what: "simulated searches", when: When::Alone, run: simulated::searches },
    Case { name: "S3", what: "simulated tournaments", when: When::Alone, run: simulated::tournaments },
    Case { name: "S4", what: "simulated freezes", when: When::Alone, run: simulated::freezes },
    Case { name: "T1", what: "known response times", when: When::Alone, run: t01_times::run },
    Case { name: "T2", what: "a stalled server", when: When::Together, run: t02_stall::run },
    Case { name: "T3", what: "a queue that theory knows", when: When::Together, run: t03_queue::run },
    Case { name: "T4", what: "a known capacity", when: When::Together, run: t04_capacity::run },
    Case { name: "T5", what: "a starved client", when: When::Alone, run: t05_starved::run },
    Case { name: "T6", what: "too few connections", when: When::Together, run: t06_connections::run },
    Case { name: "T7", what: "requests that are not sent", when: When::Together, run: t07_shed::run },
    Case { name: "T8", what: "two that are equal", when: When::Together, run: t08_equal::run },
    Case { name: "T9", what: "one that is a little slower", when: When::Together, run: t09_slower::run },
    Case { name: "T10", what: "the best of several", when: When::Together, run: t10_best::run },
    Case { name: "T11", what: "warm-up, drift and step", when: When::Together, run: t11_warm_up::run },
    Case {
        name: "T16",
        what: "a server that is frozen across the end of the warm-up",
        when: When::Together,
        run: t16_frozen::run,
    },
    Case { name: "T17", what: "a server that dies and stays dead", when: When::Together, run: t17_dead::run },
    Case {
        name: "T18",
        what: "a server that is killed and started again",
        when: When::Together,
        run: t18_restarted::run,
    },
    Case {
        name: "T19",
        what: "connections that are taken and never answered",
        when: When::Together,
        run: t19_hanging::run,
    },
    Case { name: "T20", what: "half of the connections hang", when: When::Together, run: t20_half::run },
    Case {
        name: "T21",
        what: "a server that answers with errors at once",
        when: When::Together,
        run: t21_errors::run,
    },
    Case { name: "T22", what: "clocks that are wrong", when: When::Together, run: t22_clocks::run },
    Case { name: "T23", what: "a generator that is stopped", when: When::Together, run: t23_generator::run },
    Case { name: "T24", what: "events whose cost is known", when: When::Together, run: t24_events::run },
    Case { name: "T25", what: "bounds under a disturbed client", when: When::Alone, run: t25_bounds::run },
    Case {
        name: "R1",
        what: "application servers at their limits",
        when: When::Together,
        run: r1_limits::run,
    },
];

/// Returns the cases with these names or first letters, or all cases if `only` is empty.
pub(crate) fn chosen(only: &[String]) -> Result<Vec<&'static Case>, String> {
    if let Some(unknown) = only.iter().find(|asked| !CASES.iter().any(|case| is_meant(asked, case))) {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("there is no case {unknown}; there are {}", names.join(", ")));
    }
    let is_chosen = |case: &&Case| only.is_empty() || only.iter().any(|asked| is_meant(asked, case));
    Ok(CASES.iter().filter(is_chosen).collect())
}

fn is_meant(asked: &str, case: &Case) -> bool {
    let letter = &case.name[..1];
    asked.eq_ignore_ascii_case(case.name) || asked.eq_ignore_ascii_case(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_chosen_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), CASES.len());
        assert!(LONGEST.iter().all(|name| CASES.iter().any(|case| case.name == *name)));
        let two = chosen(&["t4".to_owned(), "S1".to_owned()]).unwrap();
        assert_eq!(two.iter().map(|case| case.name).collect::<Vec<_>>(), ["S1", "T4"]);
        let simulated = chosen(&["s".to_owned()]).unwrap();
        assert_eq!(simulated.iter().map(|case| case.name).collect::<Vec<_>>(), ["S1", "S2", "S3", "S4"]);
        assert!(chosen(&["T99".to_owned()]).is_err_and(|error| error.contains("T11")));
        assert!(chosen(&[String::new()]).is_err());
    }
}
