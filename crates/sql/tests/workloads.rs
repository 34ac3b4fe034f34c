//! All built-in workloads parse for every database, and their statements are those of the original tools.

use sql::script::{Allow, Language, Placeholders, ScriptSet};
use sql::workload::{self, Style, Tables, WORKLOADS, Workload};
use sql::{Engine, Mode, Settings, Sql, TransactionStep};

fn all_scripts(text: &str) -> ScriptSet {
    let mut all_scripts = ScriptSet::new();
    let added = all_scripts.add("workload", text.as_bytes(), Language::Extended, Allow::Nothing);
    assert_eq!(added, Ok(0), "{text}");
    all_scripts
}

fn texts(workload: &Workload, engine: Engine, style: Style, rows: Option<u32>) -> Vec<String> {
    let all_scripts = all_scripts(&workload.script(engine, style, rows).unwrap());
    all_scripts.statements().iter().map(|statement| statement.extended(engine.placeholders())).collect()
}

fn named(name: &str) -> &'static Workload {
    workload::find(name).unwrap()
}

#[test]
fn every_workload_parses_for_every_database() {
    for workload in WORKLOADS {
        for engine in workload.engines() {
            for style in workload
                .styles
                .iter()
                .filter(|style| **style != Style::Pipelined || engine == Engine::PostgreSql)
            {
                let all_scripts = all_scripts(&workload.script(engine, *style, None).unwrap());
                let most =
                    all_scripts.statements().iter().map(|statement| statement.values()).max().unwrap_or(0);
                assert!(most <= 255, "{}: {most} values", workload.name);
                let step = TransactionStep { name: workload.name.to_owned(), script: 0, expects: None };
                let settings = Settings { mode: workload.mode, ..Settings::default() };
                let made = Sql::new(all_scripts, &[step], settings, engine, |_| unreachable!());
                assert!(made.is_ok(), "{} {engine:?} {style:?}", workload.name);
            }
        }
    }
}

#[test]
fn names_are_unique_and_variables_valid() {
    for (number, workload) in WORKLOADS.iter().enumerate() {
        let found = workload::find(workload.name).map(|found| found.sentence);
        assert_eq!(found, Some(workload.sentence), "{number}");
        assert!(workload.styles.contains(&Style::default()));
        let is_everywhere = workload.engines().count() == Engine::ALL.len();
        assert_eq!(is_everywhere, workload.tables != Tables::Tpcc, "{}", workload.name);
        for variable in workload.variables {
            assert!((variable.least..=variable.most).contains(&variable.default), "{variable:?}");
        }
    }
    assert!(workload::find("select-onl").is_none());
}

#[test]
fn pgbench_statements_are_word_for_word() {
    let texts = texts(named("tpcb-like"), Engine::PostgreSql, Style::Autocommit, None);
    assert_eq!(
        texts,
        [
            "BEGIN",
            "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",
            "SELECT abalance FROM pgbench_accounts WHERE aid = $1",
            "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
            "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
            "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
            "END",
        ]
        .map(|text| text.to_owned() + &";"[..usize::from(texts[0].ends_with(';'))])
    );
}

#[test]
fn mysql_scripts_use_commit() {
    for name in ["tpcb-like", "simple-update"] {
        let texts = texts(named(name), Engine::MySql, Style::Autocommit, None);
        assert!(texts.last().unwrap().starts_with("COMMIT"), "{texts:?}");
        assert!(texts[1].contains("abalance + ? WHERE aid = ?"), "{texts:?}");
    }
}

#[test]
fn sysbench_transactions_have_twenty_statements() {
    let all_scripts =
        all_scripts(&named("oltp-read-write").script(Engine::MySql, Style::Autocommit, None).unwrap());
    let texts: Vec<String> = all_scripts
        .statements()
        .iter()
        .map(|statement| statement.extended(Placeholders::Question).trim_end_matches(';').to_owned())
        .collect();
    let point = "SELECT c FROM sbtest{table} WHERE id=?";
    let mut expected = vec!["BEGIN"];
    expected.extend([point; 10]);
    expected.extend([
        "SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?",
        "SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?",
        "SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c",
        "SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c",
        "UPDATE sbtest{table} SET k=k+1 WHERE id=?",
        "UPDATE sbtest{table} SET c=? WHERE id=?",
        "DELETE FROM sbtest{table} WHERE id=?",
        "INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)",
        "COMMIT",
    ]);
    assert_eq!(texts, expected);
    let step = TransactionStep { name: "rw".to_owned(), script: 0, expects: None };
    assert_eq!(sql::parts(&all_scripts, &[step]).len(), 11, "ten point reads are one part");
}

#[test]
fn styles_determine_commits() {
    let insert = named("postcodes-insert");
    let kinds = |style, rows| {
        let texts = texts(insert, Engine::PostgreSql, style, rows);
        texts
            .iter()
            .map(|text| text.split(' ').next().unwrap_or_default().trim_end_matches(';').to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(Style::Autocommit, None), ["INSERT"]);
    assert_eq!(kinds(Style::Transactions, Some(2)), ["BEGIN", "INSERT", "INSERT", "COMMIT"]);
    assert_eq!(kinds(Style::MultiRow, Some(3)), ["INSERT"]);
    assert_eq!(kinds(Style::Pipelined, Some(3)), ["INSERT"; 3]);
    let many = &texts(insert, Engine::MySql, Style::MultiRow, Some(3))[0];
    assert_eq!((many.matches("(?, ").count(), many.matches('?').count()), (3, 12), "{many}");
}

#[test]
fn bulk_rows_have_unique_numbers() {
    let text = named("bulk-insert").script(Engine::MySql, Style::Autocommit, Some(11)).unwrap();
    assert!(text.contains("VALUES({batch}00,{batch}00),({batch}01,{batch}01)"), "{text}");
    assert!(text.ends_with("({batch}10,{batch}10);\n"), "{text}");
    assert!(
        named("bulk-insert")
            .script(Engine::MySql, Style::Autocommit, Some(1))
            .unwrap()
            .ends_with("({batch}0,{batch}0);\n")
    );
}

#[test]
fn unsupported_combinations_have_a_message() {
    let insert = named("postcodes-insert");
    let words = |engine, style, rows| insert.script(engine, style, rows).unwrap_err();
    assert!(words(Engine::MySql, Style::Pipelined, None).contains("PostgreSQL only"));
    assert_eq!(words(Engine::MySql, Style::MultiRow, Some(0)), "postcodes-insert takes 1 to 60 rows, not 0");
    let words = named("sign-up").script(Engine::MySql, Style::MultiRow, None).unwrap_err();
    assert_eq!(words, "sign-up has no style multi-row");
    assert_eq!((named("oltp-insert").mode, named("oltp-delete").mode), (Mode::Simple, Mode::Prepared));
}

#[test]
fn mix_of_tpcc_has_the_shares_of_the_specification() {
    let mix = workload::find_mix("tpcc-like").unwrap();
    assert_eq!(mix.parts.iter().map(|(_, weight)| weight).sum::<u32>(), 100);
    // Clause 5.2.3: minimum shares of all transactions but new orders.
    for (name, least) in
        [("tpcc-payment", 43), ("tpcc-order-status", 4), ("tpcc-delivery", 4), ("tpcc-stock-level", 4)]
    {
        assert!(mix.parts.iter().any(|(part, weight)| *part == name && *weight >= least), "{name}");
    }
    assert!(mix.parts.iter().all(|(part, _)| workload::find(part).is_some()));
    assert_eq!(workload::find_for_tables("tpcc-like").unwrap().tables, Tables::Tpcc);
}

#[test]
fn tpcc_orders_have_5_to_15_lines() {
    let lines = |name: &str| {
        let texts = texts(named(name), Engine::PostgreSql, Style::default(), None);
        texts.iter().filter(|text| text.starts_with("INSERT INTO tpcc_order_line")).count()
    };
    assert_eq!(lines("tpcc-new-order"), 15);
    let script = named("tpcc-new-order").script(Engine::PostgreSql, Style::default(), None).unwrap();
    assert_eq!(script.matches("\\if :lines >= ").count(), 10, "the first five are in every order");
    assert!(named("tpcc-payment").script(Engine::Sqlite, Style::default(), None).is_err());
}
