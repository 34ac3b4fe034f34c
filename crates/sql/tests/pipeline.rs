//! Pipelined statements: pending replies, and the effect of a rejection on the rest.

use crate::support::{assert_transcript, conversation, play};
use sql::{Mode, Settings};
use wire::{Closing, Conversation as _, Next, Stage};

fn prepared(max_tries: u32) -> Settings {
    Settings { mode: Mode::Prepared, max_tries, ..Settings::default() }
}

const PIPELINE: &str = "\\startpipeline\nBEGIN;\nUPDATE t SET a = 1;\nCOMMIT;\n\\endpipeline\nSELECT 1;\n";

#[test]
fn pipeline_is_sent_at_once_and_answered_in_order() {
    assert_transcript(
        &play(&mut conversation(PIPELINE, prepared(1)), 0, &["E0E1E0ZI", "S1ZI"]),
        "> #0 BEGIN\n> #1 UPDATE t SET a = 1\n> #2 COMMIT\n> sync
        part 1: ok\npart 2: ok\npart 3: ok
        > #3 SELECT 1\n> sync\npart 4: ok\ntry 1: ok",
    );
}

#[test]
fn rejection_skips_the_rest_of_the_pipeline() {
    let sent = "> #0 BEGIN\n> #1 UPDATE t SET a = 1\n> #2 COMMIT\n> sync\npart 1: ok\n";
    assert_transcript(
        &play(&mut conversation(PIPELINE, prepared(1)), 0, &["E0RbZF", "E0ZI"]),
        &format!(
            "{sent}part 2: bad_statement (42601: error b)\n> ROLLBACK
            try 1: bad_statement (42601: error b)"
        ),
    );
    assert_transcript(
        &play(&mut conversation(PIPELINE, prepared(2)), 0, &["E0RsZF", "E0ZI", "E0E1E0ZI", "S1ZI"]),
        &format!(
            "{sent}part 2: serialization_failure (40001: error s)\n> ROLLBACK
            {sent}part 2: ok\npart 3: ok
            > #3 SELECT 1\n> sync\npart 4: ok\ntry 2: ok"
        ),
    );
}

#[test]
fn statements_after_a_sync_point_are_answered() {
    let script = "\\startpipeline\nINSERT INTO t VALUES (1);\n\\syncpipeline\nINSERT INTO t VALUES (2);\n\\endpipeline";
    let sent = "> #0 INSERT INTO t VALUES (1)\n> sync\n> #1 INSERT INTO t VALUES (2)\n> sync\n";
    let mut conversation = conversation(script, prepared(1));
    let told = play(&mut conversation, 0, &["E1ZIE1ZI"]);
    assert_transcript(&told, &format!("{sent}part 1: ok\npart 2: ok\ntry 1: ok"));
    let told = play(&mut conversation, 0, &["RuZIE1ZI"]);
    let refused = "constraint (23505: error u)";
    assert_transcript(&told, &format!("{sent}part 1: {refused}\npart 2: ok\ntry 1: {refused}"));
}

#[test]
fn pipelined_commit_answered_with_rollback_is_rejected() {
    let words = "rolled_back (the server answered COMMIT with ROLLBACK: nothing was committed)";
    assert_transcript(
        &play(&mut conversation(PIPELINE, prepared(0)), 0, &["E0E1B.ZI"]),
        &format!(
            "> #0 BEGIN\n> #1 UPDATE t SET a = 1\n> #2 COMMIT\n> sync
            part 1: ok\npart 2: ok\npart 3: {words}\ntry 1: {words}"
        ),
    );
}

#[test]
fn empty_pipeline_is_a_sync_point() {
    let told =
        play(&mut conversation("\\startpipeline\n\\endpipeline\nSELECT 1;", prepared(1)), 0, &["ZI", "S1ZI"]);
    assert_transcript(&told, "> sync\n> #0 SELECT 1\n> sync\ntry 1: ok");
}

#[test]
fn pause_in_a_pipeline_loses_nothing() {
    let script = "\\startpipeline\nSELECT 1;\n\\sleep 1 us\nSELECT 2;\n\\endpipeline";
    let told = play(&mut conversation(script, prepared(1)), 0, &["S1S1ZI"]);
    assert_transcript(
        &told,
        "pause 1000\n> #0 SELECT 1\n> #1 SELECT 2\n> sync\npart 1: ok\npart 2: ok\ntry 1: ok",
    );
}

#[test]
fn no_doubt_while_a_pipeline_pauses() {
    let script = "\\startpipeline\nUPDATE t SET a = 1;\n\\sleep 1 us\n\\endpipeline";
    let mut conversation = conversation(script, prepared(1));
    assert_eq!(conversation.begin(0), Next::Pause { ns: 1000 });
    assert_eq!((conversation.stage(), conversation.peer_closed()), (Stage::FirstByte, Closing::Empty));
    assert_eq!((conversation.resume(), conversation.stage()), (Next::Send, Stage::InDoubt));
}

#[test]
fn unrequested_replies_are_an_error() {
    for answer in ["E0E1E0E0", "ZI", "E0ZI", "E0E1E0ZIZI"] {
        let told = play(&mut conversation(PIPELINE, prepared(1)), 0, &[answer]);
        let is_told = told.contains("commit was on its way: the server sent an answer without a request");
        assert!(is_told || answer == "E0E1E0ZIZI", "{answer}: {told}");
    }
}

#[test]
fn pipeline_with_a_commit_is_in_doubt_until_its_end() {
    for answers in [&[][..], &["E0E1"], &["E0E1E0"]] {
        let told = play(&mut conversation(PIPELINE, prepared(1)), 0, answers);
        assert!(told.contains("waiting: InDoubt, Incomplete"), "{answers:?}: {told}");
    }
    let reading = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline";
    let told = play(&mut conversation(reading, prepared(1)), 0, &["S1"]);
    assert!(told.contains("waiting: Body, Incomplete, part Some(2)"), "{told}");
}

#[test]
fn nested_or_unclosed_pipelines_break_the_scenario() {
    for (script, words) in [
        ("\\startpipeline\n\\startpipeline\n\\endpipeline", "already in pipeline mode"),
        ("SELECT 1;\n\\endpipeline", "not in pipeline mode"),
        ("\\startpipeline\nSELECT 1;", "end of script reached with pipeline open"),
    ] {
        let told = play(&mut conversation(script, prepared(1)), 0, &["S1ZI"]);
        assert!(told.contains("broken: ") && told.contains(words), "{script}: {told}");
    }
}
