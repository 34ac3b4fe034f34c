//! Requests on the wire, and counts, statement by statement.

use crate::support::{self, all_scripts, assert_transcript, conversation, play, sql, steps};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Mode, Retry, RowCount, Settings, Sql, TransactionStep};
use wire::sql::Session;
use wire::{Cancel, Closing, Conversation as _, ErrorClass, Next, Progress, Script as _, Stage};

fn mode(mode: Mode) -> Settings {
    Settings { mode, ..Settings::default() }
}

fn tries(max_tries: u32) -> Settings {
    Settings { max_tries, seed: 1, ..Settings::default() }
}

const TRANSFER: &str = "BEGIN;\nUPDATE t SET a = 1;\nSELECT a FROM t;\nCOMMIT;\n";

#[test]
fn single_statement_is_one_reply_without_parts() {
    let script = "\\set a 5\nSELECT :a;";
    assert_transcript(
        &play(&mut conversation(script, mode(Mode::Simple)), 0, &["S1ZI"]),
        "> SELECT 5\ntry 1: ok",
    );
    let sent = "> SELECT $1 | 5\n> sync\ntry 1: ok";
    assert_transcript(&play(&mut conversation(script, mode(Mode::Extended)), 0, &["S1ZI"]), sent);
    let sent = "> #0 SELECT $1 | 5\n> sync\ntry 1: ok";
    assert_transcript(&play(&mut conversation(script, mode(Mode::Prepared)), 0, &["S1ZI"]), sent);
}

#[test]
fn statements_run_in_order_and_are_counted_as_parts() {
    let mut conversation = conversation(TRANSFER, mode(Mode::Simple));
    for _ in 0..2 {
        assert_transcript(
            &play(&mut conversation, 0, &["E0ZT", "E1ZT", "S1ZT", "E0ZI"]),
            "> BEGIN
            part 1: ok
            > UPDATE t SET a = 1
            part 2: ok
            > SELECT a FROM t
            part 3: ok
            > COMMIT
            part 4: ok
            try 1: ok",
        );
    }
}

#[test]
fn part_numbers_follow_step_numbers() {
    let scripts = ["SELECT 1;", "BEGIN;\nSELECT 2;\nSELECT 2;\nEND;", "SELECT 3;\nSELECT 4;"];
    let all_scripts = all_scripts(&scripts);
    let parts = sql::parts(&all_scripts, &steps(&all_scripts));
    let parts: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.of)).collect();
    assert_eq!(parts, [("BEGIN;", 1), ("SELECT 2;", 1), ("END;", 1), ("SELECT 3;", 2), ("SELECT 4;", 2)]);
    let told = play(&mut sql(&scripts, mode(Mode::Prepared)).open(0), 1, &["E0ZT", "S1ZT", "S1ZT", "E0ZI"]);
    assert_transcript(
        &told,
        "> #1 BEGIN\n> sync\npart 3: ok
        > #2 SELECT 2\n> sync\npart 4: ok
        > #2 SELECT 2\n> sync\npart 4: ok
        > #4 END\n> sync\npart 5: ok
        try 1: ok",
    );
}

#[test]
fn each_generated_text_is_prepared_separately() {
    let script = "\\set t 1 + :t % 2\nSELECT c FROM s{t} WHERE id = :t;\nSELECT 1;";
    let settings = Settings { variables: vec![("t".to_owned(), "0".to_owned())], ..mode(Mode::Prepared) };
    let mut conversation = conversation(script, settings);
    for (number, table) in [(2, 1), (3, 2), (2, 1)] {
        let told = play(&mut conversation, 0, &["S1ZI", "S1ZI"]);
        assert_transcript(
            &told,
            &format!(
                "> #{number} SELECT c FROM s{table} WHERE id = $1 | {table}\n> sync\npart 1: ok
                > #1 SELECT 1\n> sync\npart 2: ok\ntry 1: ok"
            ),
        );
    }
}

#[test]
fn statements_with_stored_rows_are_prepared_separately() {
    for (script, first, second) in [
        ("SELECT a FROM t;\nSELECT a FROM t \\gset", 0, 1),
        ("SELECT a FROM t{b};\nSELECT a FROM t{b} \\gset", 2, 3),
    ] {
        let settings = Settings { variables: vec![("b".to_owned(), "9".to_owned())], ..mode(Mode::Prepared) };
        let told = play(&mut conversation(script, settings), 0, &["S1ZI", "CxV7W.S1ZI"]);
        for number in [first, second] {
            assert!(told.contains(&format!("> #{number} SELECT a FROM t")), "{told}");
        }
    }
}

#[test]
fn rejected_statement_ends_its_transaction() {
    let refused = "> BEGIN\npart 1: ok
        > UPDATE t SET a = 1
        part 2: bad_statement (42601: error b)
        > ROLLBACK
        try 1: bad_statement (42601: error b)";
    let mut conversation = conversation(TRANSFER, tries(9));
    assert_transcript(&play(&mut conversation, 0, &["E0ZT", "RbZF", "E0ZI"]), refused);
    assert_transcript(&play(&mut conversation, 0, &["E0ZT", "RbZT", "E0ZI"]), refused);
    let autocommit = &mut support::conversation("UPDATE t SET a = 1;", tries(9));
    assert_transcript(
        &play(autocommit, 0, &["RuZI"]),
        "> UPDATE t SET a = 1\ntry 1: constraint (23505: error u)",
    );
}

#[test]
fn failed_rollback_closes_the_connection() {
    for rollback in ["RbZF", "E0ZT"] {
        assert_transcript(
            &play(&mut conversation(TRANSFER, tries(9)), 0, &["E0ZT", "RsZF", rollback]),
            "> BEGIN\npart 1: ok
            > UPDATE t SET a = 1
            part 2: serialization_failure (40001: error s)
            > ROLLBACK
            try 1: serialization_failure (40001: error s), connection lost",
        );
    }
}

const DRAWING: &str = "\\set a random(1, 100000)\nBEGIN;\nUPDATE t SET a = :a;\nEND;";

#[test]
fn retry_draws_the_same_numbers() {
    let begun = "> BEGIN\npart 1: ok\n> UPDATE t SET a = 83876\n";
    assert_transcript(
        &play(
            &mut conversation(DRAWING, tries(3)),
            0,
            &["E0ZT", "RsZF", "E0ZI", "E0ZT", "RdZF", "E0ZI", "E0ZT", "E1ZT", "E0ZI"],
        ),
        &format!(
            "{begun}part 2: serialization_failure (40001: error s)\n> ROLLBACK
            {begun}part 2: deadlock (40P01: error d)\n> ROLLBACK
            {begun}part 2: ok\n> END\npart 3: ok\ntry 3: ok"
        ),
    );
}

#[test]
fn tries_are_limited_by_max_tries() {
    let answers = ["RsZI"; 20];
    let end = |max_tries: u32, script: &str| {
        let told = play(&mut conversation(script, tries(max_tries)), 0, &answers);
        told.lines().last().unwrap_or_default().to_owned()
    };
    let script = "UPDATE t SET a = 1;";
    assert_eq!(end(1, script), "try 1: serialization_failure (40001: error s)");
    assert_eq!(end(5, script), "try 5: serialization_failure (40001: error s)");
    assert_eq!(end(0, script), "waiting: InDoubt, Incomplete, part None", "20 answers were not enough");
}

#[test]
fn only_retryable_errors_are_retried() {
    let script = "UPDATE t SET a = 1;";
    let retries = vec![Retry::Class(ErrorClass::LockTimeout), Retry::State(*b"23505")];
    for (answer, class, is_retried) in
        [("RlZI", "lock_timeout", true), ("RuZI", "constraint", true), ("RbZI", "bad_statement", false)]
    {
        let plain = play(&mut conversation(script, tries(2)), 0, &[answer, "E1ZI"]);
        assert!(plain.contains(&format!("try 1: {class}")), "{plain}");
        let more = Settings { retries: retries.clone(), ..tries(2) };
        let told = play(&mut conversation(script, more), 0, &[answer, "E1ZI"]);
        assert_eq!(told.contains("try 2: ok"), is_retried, "{told}");
    }
}

#[test]
fn rows_become_variables() {
    let script = "SELECT a FROM t \\gset got_\nSELECT :got_x;";
    assert_transcript(
        &play(&mut conversation(script, Settings::default()), 0, &["CxV7W.S1ZI", "S1ZI"]),
        "> SELECT a FROM t\npart 1: ok\n> SELECT '7'\npart 2: ok\ntry 1: ok",
    );
    let told = play(&mut conversation(script, Settings::default()), 0, &["CxS0ZI"]);
    assert_transcript(
        &told,
        "> SELECT a FROM t\npart 1: ok
        try 1: script_stopped (0:1: expected one row, got 0 in command \"gset\"), connection lost",
    );
    let refused = play(&mut conversation(script, Settings::default()), 0, &["CxV7W.RbZI"]);
    assert_transcript(
        &refused,
        "> SELECT a FROM t\npart 1: bad_statement (42601: error b)\ntry 1: bad_statement (42601: error b)",
    );
}

#[test]
fn rows_of_several_results_are_kept_apart() {
    let script = "SELECT a \\; SELECT b \\aset\nSELECT :x + :y;";
    assert_transcript(
        &play(&mut conversation(script, Settings::default()), 0, &["CxV7W.S1CyV8W.S1ZI", "S1ZI"]),
        "> SELECT a ; SELECT b\npart 1: ok\n> SELECT '7' + '8'\npart 2: ok\ntry 1: ok",
    );
}

#[test]
fn failed_command_breaks_the_scenario() {
    let told =
        play(&mut conversation("SELECT 1;\n\\set a 1 / 0\nSELECT 2;", Settings::default()), 0, &["S1ZI"]);
    assert!(told.contains("broken: ") && told.contains("division by zero"), "{told}");
}

#[test]
fn pauses_follow_the_script() {
    let script = "\\sleep 3 ms\nSELECT 1;\n\\sleep 2 us\n";
    let told = play(&mut conversation(script, Settings::default()), 0, &["S1ZI"]);
    assert_transcript(&told, "pause 3000000\n> SELECT 1\npause 2000\ntry 1: ok");
    assert_transcript(&play(&mut conversation("\\set a 1", Settings::default()), 0, &[]), "try 1: ok");
}

#[test]
fn unexpected_number_of_rows_is_rejected() {
    let open = |script: &str, rows: RowCount| {
        let all_scripts = all_scripts(&[script]);
        let mut steps = steps(&all_scripts);
        steps[0].expects = Some(rows);
        let settings = tries(0);
        let open = |_| -> Box<dyn Session> { Box::new(support::FakeSession::default()) };
        sql::Sql::new(all_scripts, &steps, settings, sql::Engine::PostgreSql, open).unwrap().open(0)
    };
    let select = &mut open("SELECT 1;", RowCount::exactly(1));
    assert_transcript(&play(select, 0, &["S1ZI"]), "> SELECT 1\ntry 1: ok");
    assert_transcript(&play(select, 0, &["S0ZI"]), "> SELECT 1\ntry 1: rows (0 rows, and 1 expected)");
    let update = &mut open("BEGIN;\nUPDATE t SET a = 1;\nCOMMIT;", RowCount { least: 2, most: u64::MAX });
    assert_transcript(
        &play(update, 0, &["E0ZT", "E1ZT", "E0ZI"]),
        "> BEGIN\npart 1: ok
        > UPDATE t SET a = 1\npart 2: rows (1 rows, and at least 2 expected)
        > ROLLBACK
        try 1: rows (1 rows, and at least 2 expected)",
    );
    let told = play(update, 0, &["E0ZT", "E3ZT", "E0ZI"]);
    assert!(told.ends_with("try 1: ok\n"), "{told}");
}

#[test]
fn open_transaction_at_the_end_is_rejected() {
    assert_transcript(
        &play(&mut conversation("BEGIN;", tries(0)), 0, &["E0ZT", "E0ZI"]),
        "> BEGIN\n> ROLLBACK
        try 1: open_transaction (the script ended inside a transaction, which was rolled back)",
    );
}

#[test]
fn pending_commit_is_in_doubt() {
    let cases: [(&str, &[&str], Stage, Closing); 9] = [
        ("SELECT 1;", &[], Stage::FirstByte, Closing::Empty),
        ("SELECT 1;", &["S"], Stage::Body, Closing::Incomplete),
        ("UPDATE t SET a = 1;", &[], Stage::InDoubt, Closing::Incomplete),
        ("UPDATE t SET a = 1;", &["E1"], Stage::InDoubt, Closing::Incomplete),
        (TRANSFER, &[], Stage::FirstByte, Closing::Empty),
        (TRANSFER, &["E0ZT"], Stage::Body, Closing::Incomplete),
        (TRANSFER, &["E0ZT", "E1ZT", "S1ZT"], Stage::InDoubt, Closing::Incomplete),
        (TRANSFER, &["E0ZT", "RsZF"], Stage::Body, Closing::Incomplete),
        ("BEGIN \\; DELETE FROM t \\; COMMIT;", &["E0E1"], Stage::InDoubt, Closing::Incomplete),
    ];
    for (script, answers, stage, closing) in cases {
        let told = play(&mut conversation(script, tries(2)), 0, answers);
        let last = told.lines().last().unwrap_or_default();
        assert!(
            last.starts_with(&format!("waiting: {stage:?}, {closing:?}, ")),
            "{script} {answers:?}: {last}"
        );
    }
}

#[test]
fn no_doubt_before_and_after_the_commit() {
    let mut conversation = conversation("UPDATE t SET a = 1;", Settings::default());
    assert_eq!((conversation.stage(), conversation.peer_closed()), (Stage::Idle, Closing::Empty));
    play(&mut conversation, 0, &["E1ZI"]);
    assert_eq!((conversation.stage(), conversation.peer_closed()), (Stage::Idle, Closing::Empty));
    assert_eq!(conversation.begin(0), Next::Send);
    assert_eq!(conversation.stage(), Stage::InDoubt);
    conversation.forget();
    assert_eq!((conversation.stage(), conversation.peer_closed()), (Stage::Idle, Closing::Empty));
    assert_eq!(conversation.farewell(), b"bye");
    assert!(matches!(conversation.cancel(), Some(Cancel::Bytes(bytes)) if bytes == [7; 16]));
}

#[test]
fn close_is_a_reply_unless_a_commit_is_pending() {
    assert_transcript(
        &play(&mut conversation(TRANSFER, tries(2)), 0, &["E0ZT", "Rk"]),
        "> BEGIN\npart 1: ok
        > UPDATE t SET a = 1\npart 2: server_shutdown (57P01: error k)
        try 1: server_shutdown (57P01: error k), connection lost",
    );
    let words = "the server ended the connection while a commit was on its way: 57P01: error k";
    assert_transcript(
        &play(&mut conversation("UPDATE t SET a = 1;", tries(2)), 0, &["Rk"]),
        &format!("> UPDATE t SET a = 1\nfault commit_unknown: {words}"),
    );
    let words = "the server does not know whether the transaction was committed: 40003: error c";
    assert_transcript(
        &play(&mut conversation("UPDATE t SET a = 1;", tries(2)), 0, &["RcZI"]),
        &format!("> UPDATE t SET a = 1\nfault commit_unknown: {words}"),
    );
    let words = "the server broke the protocol while a commit was on its way: the bytes are no message";
    assert_transcript(
        &play(&mut conversation("UPDATE t SET a = 1;", tries(2)), 0, &["E1??"]),
        &format!("> UPDATE t SET a = 1\nfault commit_unknown: {words}"),
    );
    assert_transcript(
        &play(&mut conversation("SELECT 1;", tries(2)), 0, &["??"]),
        "> SELECT 1\nfault protocol_error: the bytes are no message",
    );
    assert_transcript(
        &play(&mut conversation(TRANSFER, tries(2)), 0, &["E0ZT", "RsZF", "Rk"]),
        "> BEGIN\npart 1: ok
        > UPDATE t SET a = 1\npart 2: serialization_failure (40001: error s)
        > ROLLBACK
        try 1: serialization_failure (40001: error s), connection lost",
    );
}

#[test]
fn commit_answered_with_rollback_is_rejected() {
    let words = "rolled_back (the server answered COMMIT with ROLLBACK: nothing was committed)";
    assert_transcript(
        &play(&mut conversation("BEGIN;\nCOMMIT;", tries(0)), 0, &["E0ZT", "B.ZI"]),
        &format!("> BEGIN\npart 1: ok\n> COMMIT\npart 2: {words}\ntry 1: {words}"),
    );
    assert_transcript(
        &play(&mut conversation("BEGIN \\; UPDATE t SET a = 1 \\; END;", tries(0)), 0, &["E0E1B.ZI"]),
        &format!("> BEGIN ; UPDATE t SET a = 1 ; END\ntry 1: {words}"),
    );
    for asked in ["ROLLBACK", "abort", "BEGIN \\; DELETE FROM t \\; ROLLBACK", "ROLLBACK TO SAVEPOINT a"] {
        let told = play(&mut conversation(asked, tries(0)), 0, &["B.ZI"]);
        assert!(told.ends_with("try 1: ok\n"), "{asked}: {told}");
    }
}

#[test]
fn fatal_error_in_a_pause_ends_the_transaction() {
    for (bytes, class) in
        [("Ri", "idle_timeout (25P03: error i)"), ("Rk", "server_shutdown (57P01: error k)")]
    {
        let mut conversation = conversation("BEGIN;\n\\sleep 2 s\nCOMMIT;", tries(9));
        assert_eq!(conversation.begin(0), Next::Send);
        let paused = conversation.received(b"E0ZT");
        assert!(matches!(paused, Ok(Progress::PartReplied { next: Next::Pause { .. }, .. })), "{paused:?}");
        assert_eq!(conversation.received(&bytes.as_bytes()[..1]), Ok(Progress::NeedMore));
        let Ok(Progress::PartReplied { used: 1, part: None, next: Next::Done(reply) }) =
            conversation.received(&bytes.as_bytes()[1..])
        else {
            panic!("{bytes} is no end");
        };
        let rejection = reply.rejection.expect("a refusal");
        assert_eq!(format!("{} ({})", rejection.class, conversation.explain(rejection)), class);
        assert!(!reply.reusable);
        assert_eq!((conversation.stage(), conversation.peer_closed()), (Stage::Idle, Closing::Empty));
    }
}

#[test]
fn session_may_have_more_to_send() {
    let told = play(&mut conversation("SELECT 1;", mode(Mode::Prepared)), 0, &["M.", "S1ZI"]);
    assert_transcript(&told, "> #0 SELECT 1\n> sync\n> more\ntry 1: ok");
}

#[test]
fn reply_without_a_request_is_an_error() {
    for answer in ["E1", "ZI", "Rs"] {
        let mut conversation = conversation("SELECT 1;", Settings::default());
        let fault = conversation.received(answer.as_bytes()).unwrap_err();
        assert_eq!(
            (fault.class, fault.sentence),
            (ErrorClass::ProtocolError, "the server sent an answer without a request")
        );
    }
    let mut conversation = conversation("SELECT 1;", Settings::default());
    assert_eq!(conversation.received(b"Rk"), Ok(wire::Progress::NeedMore), "the connection's end follows");
}

#[test]
fn step_needs_only_the_variables_of_its_statements() {
    let settings = Settings { bindings: vec!["a".to_owned(), "b".to_owned()], ..mode(Mode::Prepared) };
    let sql = sql(&["SELECT :a;", "SELECT 'x{b}';", "\\set c :b + 1\nSELECT :a;"], settings);
    let needs = [0, 1, 2].map(|step| [0, 1].map(|variable| sql.needs(step, variable)));
    // An expression may read any variable.
    assert_eq!(needs, [[true, false], [false, true], [true, true]]);
}

#[test]
fn variables_come_from_command_line_and_plan() {
    let settings = Settings {
        scale: Some(7),
        variables: vec![("a".to_owned(), "x y".to_owned())],
        bindings: vec!["unused".to_owned(), "b".to_owned()],
        ..mode(Mode::Prepared)
    };
    let sql = sql(&["SELECT :scale, :a, :b, :client_id;"], settings);
    assert!(!sql.needs(0, 0) && sql.needs(0, 1) && !sql.needs(0, 2));
    let mut conversation = sql.open(3);
    conversation.set(0, b"nobody asks");
    conversation.set(1, b"bound");
    let told = play(&mut conversation, 0, &["S1ZI"]);
    assert_transcript(&told, "> #0 SELECT $1, $2, $3, $4 | 7 | x y | bound | 3\n> sync\ntry 1: ok");
}

#[test]
fn steps_declare_whether_they_use_replies() {
    let scripts = ["SELECT 1;", "SELECT 1;\nSELECT 2;", "SELECT 1 AS a \\gset\n"];
    let sql = sql(&scripts, Settings::default());
    assert_eq!([0, 1, 2, 3].map(|step| sql.inspects_replies(step)), [false, true, true, false]);
}

#[test]
fn unsupported_scripts_are_rejected_with_a_message() {
    let new = |script: &str, settings: Settings, engine| {
        let all_scripts = all_scripts(&[script]);
        let steps = steps(&all_scripts);
        sql::Sql::new(all_scripts, &steps, settings, engine, |_| Box::new(support::FakeSession::default()))
            .err()
            .unwrap_or_default()
    };
    let pipeline = "\\startpipeline\nSELECT 1;\n\\endpipeline";
    assert!(new(pipeline, mode(Mode::Simple), sql::Engine::PostgreSql).contains("take extended or prepared"));
    assert!(new(pipeline, mode(Mode::Prepared), sql::Engine::MySql).contains("PostgreSQL only"));
    assert_eq!(new(pipeline, mode(Mode::Prepared), sql::Engine::PostgreSql), "");
    let variables = vec![("1a".to_owned(), String::new())];
    let settings = Settings { variables, ..Settings::default() };
    assert!(new("SELECT 1;", settings, sql::Engine::MySql).contains("\"1a\""));
    assert_eq!(
        conversation("SELECT 1;", Settings::default()).begin(5),
        Next::Broken("there is no step 5".to_owned())
    );
}

#[test]
fn number_of_arguments_is_limited_as_in_pgbench() {
    for (count, mode, is_taken) in [
        (255, Mode::Prepared, true),
        (256, Mode::Prepared, false),
        (256, Mode::Extended, false),
        (256, Mode::Simple, true),
    ] {
        let text = format!("\\set i 0\nSELECT LEAST({});", [":i"; 256][..count].join(", "));
        let mut all_scripts = ScriptSet::new();
        assert_eq!(all_scripts.add("s", text.as_bytes(), Language::Pgbench, Allow::Nothing), Ok(0));
        let steps = [TransactionStep { name: "s".to_owned(), script: 0, expects: None }];
        let settings = Settings { mode, ..Settings::default() };
        let made = Sql::new(all_scripts, &steps, settings, Engine::PostgreSql, |_| {
            Box::new(support::FakeSession::default())
        });
        match made {
            Ok(_) => assert!(is_taken, "{count} {mode:?}"),
            Err(words) => {
                let expected = "s:2: the statement has 256 arguments, and the maximum is 255";
                assert!(!is_taken && words.starts_with(expected), "{words}");
            }
        }
    }
}
