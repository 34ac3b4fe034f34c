//! A study on real servers: each limit of an application server shows as its own kind of error, and each cure cures.
//!
//! Needs nginx, unicorn and passenger: `scripts/systems.sh` installs them.

mod support;

use std::time::Duration;

use serde_json::Value;
use support::systems::assert_nothing_is_left;
use support::{Home, assert_identity, errors, number};

const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/app-server-limits.yaml");

/// It takes about two minutes, most of them with little to do.
const LIMIT: Duration = Duration::from_secs(400);

/// The run of a setting.
#[track_caller]
fn run<'a>(study: &'a Value, system: &str, setting: &str) -> &'a Value {
    let runs = study["runs"].as_array().expect("a list").iter();
    let mut of_setting =
        runs.filter(|run| run["place"]["system"] == system && run["place"]["variant"] == setting);
    of_setting.next().unwrap_or_else(|| panic!("no run of {system} {setting}"))
}

/// How many replies had a status.
fn statuses(run: &Value, status: &str) -> u64 {
    run["statuses"][status].as_u64().unwrap_or(0)
}

#[test]
fn limits_of_application_servers_show_and_are_cured() {
    let home = Home::new();
    let output = home.start(&["run", PLAN, "--quick", "--format", "json"]).finish_within(LIMIT);
    let is_installed = !output.stderr.contains("install it");
    assert!(is_installed, "servers are missing; scripts/systems.sh installs them: {}", output.stderr);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let study = output.json();
    for run in study["runs"].as_array().expect("a list") {
        assert_identity(run);
        // Some settings leave users without an answer for seconds: that is what the plan asks for.
        let is_over = ["complete", "degraded"].map(Into::into).contains(&run["verdict"]);
        assert!(is_over, "{} {}", run["verdict"], run["failure"]);
        assert!(number(run, "outcomes.ok") > 50, "{}", run["place"]);
        assert!(
            run["system"]["processes"].as_array().is_some_and(|list| list.len() == 2),
            "{}",
            run["system"]
        );
    }
    let limits = [
        ("passenger-queue", "queue=100", "503", "queue=0"),
        ("unicorn-backlog", "listen=unix backlog=16", "502", "listen=unix backlog=1024"),
        ("unicorn-timeout", "timeout=3", "502", "timeout=60"),
    ];
    for (system, limited, status, cured) in limits {
        let (limited, cured) = (run(&study, system, limited), run(&study, system, cured));
        assert!(statuses(limited, status) >= 5, "{system}: {}", limited["statuses"]);
        assert_eq!(errors(limited, "status"), number(limited, "outcomes.rejected"), "{system}");
        assert_eq!(number(cured, "outcomes.rejected"), 0, "{system}: {}", cured["statuses"]);
    }
    // TCP makes those wait who find the backlog full, nearly all of them long enough; a Unix socket sends them away.
    let [waits, refuses] = ["listen=tcp backlog=16", "listen=unix backlog=16"]
        .map(|setting| run(&study, "unicorn-backlog", setting));
    let sent_away = |run: &Value| statuses(run, "502");
    assert!(sent_away(waits) * 20 < sent_away(refuses), "{} {}", waits["statuses"], refuses["statuses"]);
    assert_nothing_is_left(&home);
}
