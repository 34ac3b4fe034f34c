//! Workloads of YCSB: one definition for every protocol, in flags and in plans.

use crate::good_plans::launch;
use std::path::PathBuf;

use load::values::Source;
use plan::{Draft, LoadSpec, Plan, ScriptSource, Study};

const URLS: [&str; 5] =
    ["redis://h:1", "mongodb://h:1/test", "postgres://u@h/d", "mysql://u@h/d", "sqlite:records.db"];

fn planned(url: &str, workload: &str) -> Plan {
    let played = vec![ScriptSource::Workload(workload.to_owned())];
    let draft = Draft { url: url.to_owned(), played, load: LoadSpec::default(), ..Draft::default() };
    draft.check().unwrap_or_else(|faults| panic!("{url} {workload}: {faults:?}"))
}

fn source<'a>(plan: &'a Plan, name: &str) -> &'a Source {
    let variable = plan.variables.iter().position(|known| known == name).expect(name) as u16;
    let data = plan.data.iter().find(|data| data.fills.iter().any(|(fill, _)| *fill == variable));
    &data.expect(name).source
}

#[test]
fn every_workload_has_equal_shares_and_keys_on_every_system() {
    for (workload, expected) in [
        ("ycsb-a", vec![("read", 50.0), ("update", 50.0)]),
        ("ycsb-b", vec![("read", 95.0), ("update", 5.0)]),
        ("ycsb-c", vec![("read", 100.0)]),
        ("ycsb-d", vec![("read", 95.0), ("insert", 5.0)]),
        ("ycsb-e", vec![("scan", 95.0), ("insert", 5.0)]),
        ("ycsb-f", vec![("read", 50.0), ("read-modify-write", 50.0)]),
    ] {
        for url in URLS {
            let plan = planned(url, workload);
            let total: f64 = plan.scenarios.list.iter().map(|one| one.share).sum();
            for (name, share) in &expected {
                let scenario = plan.scenarios.list.iter().find(|one| one.name == *name);
                let of_mix = scenario.unwrap_or_else(|| panic!("{url} {workload}: no {name}")).share / total;
                assert!((of_mix * 100.0 - share).abs() < 1e-9, "{url} {workload} {name}: {of_mix}");
            }
            assert_eq!(plan.scenarios.list.len(), expected.len());
            let Source::Hashed { prefix, numbers } = source(&plan, "key") else { panic!("{url} {workload}") };
            let expected = match workload {
                "ycsb-d" => Source::Latest { min: 0, max: 9_999, exponent: 0.99, grows_with: Some(1) },
                _ => Source::Zipf { min: 0, max: 9_999, exponent: 0.99, is_scattered: true },
            };
            assert_eq!((&**prefix, &**numbers), ("user", &expected), "{url} {workload}");
            assert!(plan.title.starts_with(workload), "{}", plan.title);
        }
    }
}

fn read(text: &str) -> Result<Study, String> {
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), PathBuf::from("/"), false);
    study.map_err(|errors| errors.to_string())
}

#[test]
fn errors_of_a_plan_with_a_workload_name_it() {
    let rest = "load: { users: 1, for: 1s }\nurl: redis://127.0.0.1:1\n";
    for (text, expected) in [
        ("workload: ycsb-x\n", "unknown workload `ycsb-x`"),
        ("workload: ycsb-a\nscenario: [ redis: PING ]\n", "`scenario` and `workload` exclude each other"),
        ("workload: { name: ycsb-a, fields: 0 }\n", "\"0\" is no number from 1 to 100"),
        ("scenario: [ redis: PING ]\nprepare: { workload: ycsb-a }\n", "the plan has no `workload`"),
        (
            "scenario: [ redis: \"GET {k}\" ]\ndata: { k: { latest: 1..9, grows-with: n } }\n",
            "unknown data source `n`",
        ),
        (
            "scenario: [ redis: \"GET {k} {n}\" ]\ndata: { k: { latest: 1..9, grows-with: n }, n: { text: 3 } }\n",
            "`n` is no `sequence`",
        ),
        (
            "scenario: [ redis: \"GET {k}\" ]\ndata: { k: { text: 3, hash: u } }\n",
            "`hash` requires `uniform` or",
        ),
    ] {
        let errors = read(&format!("{text}{rest}")).expect_err(text);
        assert!(errors.contains(expected), "{text}: {errors}");
    }
}

#[test]
fn systems_of_several_protocols_get_steps_of_their_own() {
    let study = read(
        "workload: { name: ycsb-a, records: 10 }\nload: { users: 1, for: 1s }\nsystems:\n  \
         store: { url: \"redis://127.0.0.1:1\", prepare: { workload: ycsb-a } }\n  \
         database: { url: \"sqlite:/tmp/records.db\", prepare: { workload: ycsb-a } }\n",
    );
    let study = study.unwrap_or_else(|errors| panic!("{errors}"));
    let launches = [0, 1].map(|variant| launch(&study, variant));
    assert_eq!(launches[0].records.map(|records| records.shape.records), Some(10));
    assert_eq!(launches[1].own_data.as_ref().map(|own| own.tables[0].name.as_str()), Some("usertable"));
    let plans = launches.each_ref().map(|launch| study.plan(0, launch).expect("a plan"));
    assert!(plans[0].database().is_none() && plans[1].database().is_some());
    for plan in &plans {
        let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["read", "update"]);
    }
}

#[test]
fn records_in_one_column_have_steps_and_a_table_of_their_own() {
    let study = read(
        "workload: { name: ycsb-f, records: 10, fields: 2 }\nload: { users: 1, for: 1s }\nsystems:\n  \
         columns: { url: \"postgres://u@127.0.0.1:1/d\", prepare: { workload: ycsb-f } }\n  \
         document: { url: \"postgres://u@127.0.0.1:1/d\", prepare: { workload: ycsb-f, jsonb: true, unlogged-tables: true } }\n",
    );
    let study = study.unwrap_or_else(|errors| panic!("{errors}"));
    let launches = [0, 1].map(|variant| launch(&study, variant));
    assert!(launches[0].records.is_none() && !launches[0].own_data.as_ref().expect("rows").tables.is_empty());
    assert_eq!(launches[1].records.map(|records| records.shape.records), Some(10));
    let own = launches[1].own_data.as_ref().expect("a table");
    assert!(own.tables.is_empty() && own.sql[0].text.contains("UNLOGGED TABLE usertable"), "{:?}", own.sql);
    let errors = read(
        "scenario: [ sql: SELECT 1 ]\nload: { users: 1, for: 1s }\nurl: postgres://u@h/d\n\
         prepare: { workload: select-only, jsonb: true }\n",
    );
    let errors = errors.expect_err("no layout of pgbench tables");
    assert!(errors.contains("`jsonb` is a layout of the records of ycsb workloads"), "{errors}");
    let errors = read(
        "workload: ycsb-a\nload: { users: 1, for: 1s }\nurl: redis://127.0.0.1:1\nprepare: { workload: ycsb-a, jsonb: true }\n",
    );
    assert!(errors.expect_err("no layout of hashes").contains("does not run on such a system"));
}
