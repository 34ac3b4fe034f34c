//! Metrics, causes of doubt, and resources are each listed once in the workspace.

use judge::bottleneck::RULES;
use judge::{Doubt, METRICS, Resource};
use rules::lists::OnlyList;

#[test]
fn metrics_are_listed_once() {
    OnlyList {
        idea: "metrics",
        names: METRICS.iter().map(|metric| metric.name).collect(),
        homes: &["crates/judge/src/metric.rs"],
        // Column headings and figure labels: two names are not a list.
        elsewhere_max: 2,
        // Names used by other tools: a few metrics, each with its synonyms.
        other_meanings: &[
            ("crates/plan/src/file/near.rs", "throughput"),
            ("crates/plan/src/file/near.rs", "mean"),
            ("crates/plan/src/file/near.rs", "p99"),
            ("crates/plan/src/file/near.rs", "errors"),
            ("crates/plan/src/file/near.rs", "rss"),
            // Headings of columns.
            ("crates/report/src/event_costs.rs", "lost"),
            ("crates/report/src/event_costs.rs", "recovery"),
            ("crates/report/src/study/event_costs.rs", "lost"),
            ("crates/report/src/study/event_costs.rs", "recovery"),
            ("crates/tenbin/src/commands/replay/report.rs", "errors"),
            ("crates/tenbin/src/commands/replay/report.rs", "mean"),
        ],
    }
    .assert();
}

#[test]
fn causes_of_doubt_are_named_once() {
    OnlyList {
        idea: "causes of doubt",
        names: Doubt::all().map(|doubt| doubt.code).collect(),
        homes: &["crates/judge/src/validity.rs", "crates/judge/src/validity/"],
        // Some codes are ordinary words, such as `bytes`: a single one is not a list.
        elsewhere_max: 1,
        other_meanings: &[],
    }
    .assert();
}

#[test]
fn resources_are_named_once() {
    let found = RULES.iter().flat_map(|rule| rule.finds);
    OnlyList {
        idea: "resources that limit",
        names: found.chain([&Resource::UNKNOWN]).map(|resource| resource.code).collect(),
        homes: &["crates/judge/src/bottleneck.rs", "crates/judge/src/bottleneck/"],
        // Most codes are ordinary words, such as `load`: two of them are not a list.
        elsewhere_max: 2,
        other_meanings: &[
            // Names of readings.
            ("", "listen_queue"),
            ("", "open_files"),
            // Words with many meanings.
            ("", "connections"),
            ("", "errors"),
            ("", "stopped"),
            // Keys of charts, and labels of their lines.
            ("crates/report/src/html/charts.rs", "disk"),
            ("crates/report/src/html/charts.rs", "lock"),
            ("crates/report/src/html/charts.rs", "machine_cpu"),
            ("crates/report/src/html/charts.rs", "memory"),
            // Resources that a plan can limit.
            ("crates/plan/src/file/tables.rs", "memory"),
            // Key of an endpoint.
            ("crates/plan/src/file/tables.rs", "pool"),
            // Limits of a proxy in a plan.
            ("crates/plan/src/file/tables.rs", "bandwidth"),
            ("crates/plan/src/file/tables/events.rs", "bandwidth"),
            // A disk that a plan gives a system.
            ("crates/plan/src/file/tables.rs", "disk"),
        ],
    }
    .assert();
}
