//! Cases of the comparison: loads, and the tools that generate each of them.

use anyhow::bail;

use crate::tools::{self, Load, Tool};

/// Load, and the tools that take turns generating it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Name for `--case`.
    pub(crate) name: &'static str,
    /// Description for reports.
    pub(crate) title: &'static str,
    /// Load that every tool generates.
    pub(crate) load: Load,
    /// Tools in the order of their turns.
    pub(crate) tools: Vec<&'static Tool>,
}

struct Entry {
    name: &'static str,
    title: &'static str,
    load: Load,
    tools: &'static [&'static str],
}

const CLOSED: &[&str] = &["tenbin", "bare", "wrk", "ab", "h2load", "oha", "hey"];
const TLS: &[&str] = &["tenbin", "wrk", "h2load"];
const OPEN: &[&str] = &["tenbin", "tenbin-c1", "zrk", "wrk2", "oha"];

const ENTRIES: &[Entry] = &[
    closed("closed-1", "closed loop, 1 connection", 1),
    closed("closed-100", "closed loop, 100 connections", 100),
    closed("closed-1000", "closed loop, 1,000 connections", 1_000),
    closed("closed-10000", "closed loop, 10,000 connections", 10_000),
    Entry {
        name: "tls-100",
        title: "closed loop over TLS 1.3, 100 connections",
        load: Load { connections: 100, rate: None, is_tls: true },
        tools: TLS,
    },
    open("open-2000", "open loop, 2,000 requests/s on 50 connections", 2_000),
    open("open-20000", "open loop, 20,000 requests/s on 50 connections", 20_000),
];

const fn closed(name: &'static str, title: &'static str, connections: u32) -> Entry {
    Entry { name, title, load: Load { connections, rate: None, is_tls: false }, tools: CLOSED }
}

const fn open(name: &'static str, title: &'static str, rate: u32) -> Entry {
    Entry { name, title, load: Load { connections: 50, rate: Some(rate), is_tls: false }, tools: OPEN }
}

/// Returns the cases in `cases`, each limited to the tools in `tools`. An empty list selects everything.
///
/// # Errors
///
/// If a name is unknown, or if none of the tools takes part in any of the cases.
pub(crate) fn chosen(cases: &[String], tools: &[String]) -> anyhow::Result<Vec<Case>> {
    check(cases, "--case", ENTRIES.iter().map(|entry| entry.name))?;
    check(tools, "--tools", tools::TOOLS.iter().map(|tool| tool.name))?;
    let is_chosen = |list: &[String], name: &str| list.is_empty() || list.iter().any(|chosen| chosen == name);
    let chosen: Vec<Case> = ENTRIES
        .iter()
        .filter(|entry| is_chosen(cases, entry.name))
        .map(|entry| Case {
            name: entry.name,
            title: entry.title,
            load: entry.load,
            tools: entry
                .tools
                .iter()
                .filter(|name| is_chosen(tools, name))
                .filter_map(|name| tools::named(name))
                .collect(),
        })
        .filter(|case| !case.tools.is_empty())
        .collect();
    if chosen.is_empty() {
        bail!("none of the tools in --tools takes part in a case of --case; name others");
    }
    Ok(chosen)
}

fn check(names: &[String], flag: &str, known: impl Iterator<Item = &'static str>) -> anyhow::Result<()> {
    let known: Vec<&str> = known.collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!("{flag} {name:?} is not known; write some of {}", known.join(",")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_tool_of_a_case_is_known_and_every_tool_has_a_case() {
        for entry in ENTRIES {
            assert!(entry.tools.iter().all(|name| tools::named(name).is_some()), "{}", entry.name);
        }
        for tool in tools::TOOLS {
            assert!(ENTRIES.iter().any(|entry| entry.tools.contains(&tool.name)), "{}", tool.name);
        }
    }

    #[test]
    fn cases_and_tools_are_chosen_by_name() {
        assert_eq!(chosen(&[], &[]).unwrap().len(), ENTRIES.len());
        let some = chosen(&names(&["open-2000", "closed-1"]), &names(&["wrk", "tenbin"])).unwrap();
        let found: Vec<_> = some.iter().map(|case| (case.name, case.tools.len())).collect();
        assert_eq!(found, [("closed-1", 2), ("open-2000", 1)]);
    }

    #[test]
    fn a_choice_of_nothing_is_said() {
        assert!(chosen(&names(&["closed-2"]), &[]).unwrap_err().to_string().contains("closed-100"));
        assert!(chosen(&[], &names(&["curl"])).unwrap_err().to_string().contains("h2load"));
        assert!(chosen(&names(&["tls-100"]), &names(&["hey"])).is_err());
    }
}
