//! Loads of a plan at the amounts of a capacity search.

use std::path::{Path, PathBuf};

use load::open::EVEN;
use load::{Load, Schedule, Spacing};
use plan::{Amount, At, Environment, Fault, Launch, Plan, SearchOverrides, Study, Transactions};

const SECOND_NS: u64 = 1_000_000_000;

fn study(load: &str) -> Study {
    let text = format!("{{ scenario: [ get: /a, get: /b ], load: {load}, url: http://127.0.0.1:8080 }}");
    read(&text)
}

fn read(text: &str) -> Study {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false)
        .unwrap_or_else(|faults| panic!("{faults}"))
}

fn launch(study: &Study) -> Launch {
    study.launch(
        0,
        &Environment {
            ports: &[],
            dir: Path::new("/run/1"),
            tenbin: Path::new("/bin/tenbin"),
            host: std::net::Ipv4Addr::LOCALHOST,
        },
    )
}

fn at(study: &Study, at: At) -> Plan {
    let amount = Amount { at, warm_up_ns: SECOND_NS, measured_ns: 2 * SECOND_NS, connections: 40, seed: 7 };
    let plan = study.plan_at(0, &launch(study), &amount).expect("it is a plan");
    assert_eq!(plan.stop.at_ns, Some(amount.run_ns()));
    assert_eq!((plan.seed, plan.stop.requests), (7, None));
    plan
}

#[test]
fn rate_has_poisson_arrivals_unless_plan_sets_even_ones() {
    for load in ["{ users: 3, for: 5s }", "{ rate: 5/s, for: 1s }", "{ users: 3, requests: 100, threads: 2 }"]
    {
        let plan = at(&study(load), At::PerS(412.5));
        let Load::Open(open) = &plan.load else { panic!("{load} became a closed load") };
        let Schedule::Rate(profile, spacing) = &open.schedule else { panic!("arrivals were recorded") };
        assert_eq!((*spacing, open.connections), (Spacing::poisson(7), 40));
        assert_eq!((profile.first_per_s(), profile.peak_per_s()), (206.25, 206.25), "two steps each");
        assert_eq!(plan.warm_up_ns, SECOND_NS);
    }
    let plan = at(&study("{ rate: 5/s, arrivals: even, shed-after: 1s }"), At::PerS(9.0));
    let Load::Open(open) = &plan.load else { panic!("it became a closed load") };
    let Schedule::Rate(_, spacing) = &open.schedule else { panic!("arrivals were recorded") };
    assert_eq!((spacing.process, open.shed_after_ns), (&EVEN, Some(SECOND_NS)));
}

#[test]
fn users_of_search_do_not_pause() {
    for load in ["{ users: 3, threads: 3 }", "{ rate: 5/s, arrivals: even, shed-after: 1s, connections: 9 }"]
    {
        let plan = at(&study(load), At::Users(2));
        let Load::Closed(closed) = &plan.load else { panic!("{load} became an open load") };
        assert_eq!((closed.users, closed.seed), (2, 7));
        assert!(plan.threads.is_none_or(|threads| threads <= 2));
    }
}

#[test]
fn measures_only_after_recovery_from_overload() {
    let overload = At::AfterOverload {
        over_per_s: 260.0,
        over_ns: 2 * SECOND_NS,
        grace_ns: 3 * SECOND_NS,
        per_s: 180.0,
        shed_after_ns: SECOND_NS / 10,
    };
    let plan = at(&study("{ users: 3 }"), overload);
    let Load::Open(open) = &plan.load else { panic!("it became a closed load") };
    let Schedule::Rate(profile, _) = &open.schedule else { panic!("arrivals were recorded") };
    assert_eq!(plan.warm_up_ns, 6 * SECOND_NS, "1 s of warm-up, 2 s of overload, 3 s of grace");
    assert_eq!(open.shed_after_ns, Some(SECOND_NS / 10));
    let of_second = |second: u64| {
        let from = [90.0, 220.0, 350.0, 440.0, 530.0, 620.0, 710.0][second as usize];
        profile.time_of(from).map(|ns| ns.div_ceil(SECOND_NS))
    };
    assert_eq!((of_second(0), of_second(2), of_second(5)), (Some(1), Some(3), Some(6)));
    assert_eq!(profile.time_of(90.0 + 260.0 + 450.0), None, "five seconds at the rate before");
}

#[test]
fn rejects_unsearchable_loads_with_help() {
    for (load, key) in [
        ("{ stages: [ { for: 1s, to: 5/s } ] }", "stages"),
        ("{ rate: 5/s, from: 1/s, for: 5s }", "from"),
        ("{ users: 5, think: 1s }", "think"),
        ("{ users: 5, pacing: 1s }", "pacing"),
        ("{ users: 5, throughput: 5/s }", "throughput"),
        ("{ users: 5, ramp-up: 1s }", "ramp-up"),
    ] {
        let faults = study(load).search_obstacles(0);
        assert!(faults.iter().any(|fault| fault.what.contains(key)), "{load}: {faults:?}");
        assert!(faults.iter().all(|fault| fault.help.contains("--load")), "{faults:?}");
    }
    assert_eq!(study("{ users: 5, requests: 10 }").search_obstacles(0), []);
}

#[test]
fn connections_follow_littles_law() {
    let of = |load: &str, per_s: f64| study(load).connections_for(0, per_s, SECOND_NS / 10);
    assert_eq!(of("{ users: 3 }", 400.0), (48, false), "400/s × 100 ms, and some more");
    assert_eq!(of("{ rate: 5/s }", 1e7), (10_000, false));
    assert_eq!(of("{ rate: 5/s, connections: 16 }", 400.0), (16, true), "the plan says how many");
    let paused =
        "{ scenario: [ { get: /a, think: 1s }, get: /b ], load: { rate: 5/s }, url: http://127.0.0.1:1 }";
    assert_eq!(
        read(paused).connections_for(0, 400.0, SECOND_NS / 10),
        (248, false),
        "half a second more each"
    );
    let sql = "{ scenario: [ { sql: select 1 } ], load: { users: 20, pool: 4 }, url: \"postgres://u@127.0.0.1/d\" }";
    assert_eq!(read(sql).connections_for(0, 400.0, SECOND_NS), (4, true));
    let sql = "{ scenario: [ { sql: select 1 } ], load: { users: 20 }, url: \"postgres://u@127.0.0.1/d\" }";
    assert_eq!(read(sql).connections_for(0, 400.0, SECOND_NS), (20, true));
}

#[test]
fn database_users_share_given_connections() {
    let sql = read(
        "{ scenario: [ { sql: select 1 } ], load: { users: 20 }, url: \"postgres://u@127.0.0.1/d?sslmode=disable\" }",
    );
    let pool = |users| {
        Transactions::in_plan(&at(&sql, At::Users(users))).next().expect("it is of transactions").pool
    };
    assert_eq!([pool(4), pool(20), pool(64)], [None, None, Some(20)]);
}

#[test]
fn iteration_has_mean_number_of_steps() {
    assert_eq!(study("{ users: 3 }").steps_per_iteration(0), 2.0);
    let mixed = read(
        "{ scenarios: { a: { share: 75%, steps: [ get: /a, get: /b, get: /c ] }, b: { share: 25%, steps: [ get: /d ] } }, \
         load: [ { name: x, users: 3 }, { name: y, users: 3, scenario: b } ], url: http://127.0.0.1:8080 }",
    );
    assert_eq!((mixed.steps_per_iteration(0), mixed.steps_per_iteration(1)), (2.5, 1.0));
}

#[test]
fn search_reduces_study_to_one_load() {
    let asked = |measured_ns| SearchOverrides { measured_ns, ..SearchOverrides::default() };
    let own = study("{ users: 3, for: 5s, warm-up: 1s }");
    let searched = own.clone().searched(&asked(None)).expect("it can be searched");
    assert_eq!((searched.measured_ns(0), searched.loads[0].warm_up_ns), (Some(5 * SECOND_NS), SECOND_NS));
    assert_eq!(searched.hash, own.clone().searched(&asked(None)).expect("again").hash);
    let other = SearchOverrides { warm_up_ns: Some(0), seed: Some(9), ..asked(Some(2 * SECOND_NS)) };
    let other = own.clone().searched(&other).expect("it can be searched");
    assert_eq!((other.run_ns(0), other.seed), (Some(2 * SECOND_NS), 9));
    assert!(own.hash != searched.hash && searched.hash != other.hash);

    let refused = |study: Study, asked: &SearchOverrides| -> Vec<Fault> {
        study.searched(asked).expect_err("it cannot be searched")
    };
    let counted = study("{ users: 3, requests: 10 }");
    assert!(counted.clone().searched(&asked(Some(SECOND_NS))).is_ok());
    assert!(refused(counted, &asked(None))[0].help.contains("--for"));
    let two = study("[ { name: a, users: 3 }, { name: b, rate: 5/s } ]");
    assert!(refused(two.clone(), &asked(None))[0].help.contains("a, b"));
    let named = |name: &str| SearchOverrides { load: Some(name.to_owned()), ..SearchOverrides::default() };
    assert!(refused(two.clone(), &named("c"))[0].what.contains("\"c\""));
    let searched = two.searched(&named("b")).expect("it can be searched");
    assert_eq!(searched.loads.iter().map(|load| load.name.as_str()).collect::<Vec<_>>(), ["b"]);
}
