//! Tables of rules and metrics in the documents match the lists in the code. With `UPDATE=1`, these tests write the tables.

use judge::alike::KINDS;
use judge::bottleneck::RULES;
use judge::endings::{ENDINGS, EndingRow};
use judge::intervention::INTERVENTIONS;
use judge::{CommandGroup, ComparedBy, Doubt, METRICS, Resource, Rung};
use rules::files::assert_table;
use stats::Scale;

/// Formats a row of a table.
fn row(cells: &[&str]) -> String {
    let cells = cells.iter().map(|cell| if cell.is_empty() { " |".to_owned() } else { format!(" {cell} |") });
    format!("|{}\n", cells.collect::<String>())
}

fn code(code: &str) -> String {
    format!("`{code}`")
}

#[test]
fn doubts_are_explained() {
    let head =
        "| code | suspect | invalid | what is looked at | what it can distort |\n|---|---|---|---|---|\n";
    let of_doubt = |doubt: Doubt| {
        let names: Vec<&str> = doubt.distorts.iter().map(|figure| figure.name()).collect();
        let distorts = if names.len() == evidence::Distorted::ALL.len() { "all" } else { &names.join(", ") };
        row(&[&code(doubt.code), doubt.suspect, doubt.invalid, doubt.looks_at, distorts])
    };
    let table = std::iter::once(head.to_owned()).chain(Doubt::all().map(of_doubt));
    assert_table("docs/validity.md", &table.collect::<String>());
}

#[test]
fn kinds_of_unequal_work_are_explained() {
    let head = "| kind | what is compared | named when | why |\n|---|---|---|---|\n";
    let rows = KINDS.iter().map(|kind| row(&[&code(kind.code), kind.looks_at, kind.unlike_when, kind.why]));
    assert_table("docs/measurement.md", &std::iter::once(head.to_owned()).chain(rows).collect::<String>());
}

#[test]
fn limits_are_explained() {
    let head =
        "| `resource` | `rung` | said when | why this threshold | refuted by |\n|---|---|---|---|---|\n";
    let limits: Vec<String> =
        Doubt::all().filter(|doubt| doubt.is_limit).map(|doubt| code(doubt.code)).collect();
    let rows = RULES.iter().map(|rule| {
        let finds: Vec<String> = rule.finds.iter().map(|resource| code(resource.code)).collect();
        let when = rule.when.replace("{limits}", &limits.join(", "));
        let refuted: Vec<&str> = rule.refuted_by.iter().map(|refutation| refutation.when).collect();
        row(&[&finds.join(", "), rule.rung.name(), &when, rule.why, &refuted.join("; or ")])
    });
    let [when, why] = Resource::WHEN_UNKNOWN;
    let unknown = row(&[&code(Resource::UNKNOWN.code), Rung::Arithmetic.name(), when, why, ""]);
    let table = std::iter::once(head.to_owned()).chain(rows).chain([unknown]);
    assert_table("docs/why.md", &table.collect::<String>());
}

#[test]
fn rungs_are_explained() {
    let head = "| `rung` | who vouches | example | may say |\n|---|---|---|---|\n";
    let of_rung = |rung: Rung| {
        let [who, example, says] = rung.row();
        row(&[&code(rung.name()), who, example, says])
    };
    let table = std::iter::once(head.to_owned()).chain(Rung::ALL.map(of_rung));
    assert_table("docs/why.md", &table.collect::<String>());
}

#[test]
fn interventions_are_explained() {
    let head = "| change | tests | prediction for the limit | tried when |\n|---|---|---|---|\n";
    let rows = INTERVENTIONS.iter().map(|kind| {
        let tests: Vec<String> = kind.tests.iter().map(|resource| code(resource.code)).collect();
        row(&[kind.what, &tests.join(", "), kind.predicts, kind.when])
    });
    assert_table("docs/why.md", &std::iter::once(head.to_owned()).chain(rows).collect::<String>());
}

#[test]
fn metrics_are_listed() {
    let head = "| metric | what it is | better | a limit | decides in `compare` | in conditions |\n|---|---|---|---|---|---|\n";
    let rows = METRICS.iter().map(|metric| {
        let better = if metric.higher_is_better { "higher" } else { "lower" };
        let compares = match ComparedBy::of(metric).scale() {
            Scale::Ratio => "by ratio",
            Scale::Difference => "by difference, of events",
        };
        let is_bound = if metric.is_bound { "yes" } else { "" };
        let words = metric.words(evidence::Unit::Requests);
        row(&[&code(metric.name), words, better, &code(metric.kind.example()), compares, is_bound])
    });
    let table = std::iter::once(head.to_owned()).chain(rows);
    assert_table("docs/measurement.md", &table.collect::<String>());
}

#[test]
fn endings_are_explained() {
    let head = "| ending | exit code | JUnit | GitHub | verdict of a run | meaning for a job |\n|---|---|---|---|---|---|\n";
    let rows = ENDINGS.iter().map(|ending| {
        let verdicts: Vec<String> = ending.verdicts.iter().map(|verdict| code(verdict.name())).collect();
        let junit = ending.check.junit().map_or_else(|| "passed".to_owned(), code);
        let github = ending.check.github().map_or_else(String::new, |command| code(&format!("::{command}")));
        let exit = ending.code.to_string();
        row(&[&code(ending.name), &exit, &junit, &github, &verdicts.join(", "), ending.sentence])
    });
    assert_table("docs/ci.md", &std::iter::once(head.to_owned()).chain(rows).collect::<String>());
}

#[test]
fn endings_of_every_command_are_listed() {
    let commands = |group: CommandGroup| {
        let commands = group.commands().iter().map(|command| code(command));
        commands.collect::<Vec<_>>().join(", ")
    };
    let groups = CommandGroup::ALL.map(commands);
    let names: Vec<&str> = std::iter::once("ending of").chain(groups.iter().map(String::as_str)).collect();
    let rule = format!("|{}\n", "---|".repeat(names.len()));
    let cells = |ending: &EndingRow| {
        let of = |group: CommandGroup| {
            if ending.commands.contains(&group) { ending.code.to_string() } else { String::new() }
        };
        std::iter::once(code(ending.name)).chain(CommandGroup::ALL.map(of)).collect::<Vec<_>>()
    };
    let rows =
        ENDINGS.iter().map(cells).map(|cells| row(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
    let table = [row(&names), rule].into_iter().chain(rows);
    assert_table("docs/ci.md", &table.collect::<String>());
}

#[test]
fn codes_are_unique() {
    let doubts: Vec<Doubt> = Doubt::all().collect();
    assert!(doubts.iter().all(|doubt| Doubt::named(doubt.code) == Some(*doubt)), "two doubts have one code");
    let resources = RULES.iter().flat_map(|rule| rule.finds);
    let mut resources: Vec<&Resource> = resources.chain([&Resource::UNKNOWN]).collect();
    resources.sort_by_key(|resource| resource.code);
    assert!(resources.windows(2).all(|pair| pair[0].code != pair[1].code || pair[0] == pair[1]));
}
