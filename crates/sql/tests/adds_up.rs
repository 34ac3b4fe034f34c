//! For any replies of a server, the counts of statements, parts, and replies add up.

use crate::support::{play, play_in_pieces, sql};
use proptest::collection::vec;
use proptest::prelude::*;
use sql::{Mode, Settings};
use wire::{Conversation as _, Script as _, Stage};

const SCRIPTS: [&str; 6] = [
    "SELECT 1;",
    "UPDATE t SET a = 1;\nSELECT 2;",
    "BEGIN;\nSELECT 1;\nUPDATE t SET a = 1;\nEND;",
    "SELECT a FROM t \\gset\nSELECT :x;",
    "BEGIN \\; SELECT 1 \\; COMMIT;\nSELECT 2;",
    "\\set a random(1, 9)\nDELETE FROM t{a};\n\\sleep 1 us\nSELECT 1;",
];
const PIPELINE: &str =
    "\\startpipeline\nBEGIN;\nSELECT 1;\n\\syncpipeline\nUPDATE t SET a = 1;\n\\endpipeline\nEND;";

/// Replies of a server that is right more often than not.
fn answer() -> impl Strategy<Value = String> {
    let message = prop_oneof![
        3 => Just("E1"), 2 => Just("S1"), 1 => Just("CxV1W.S1"), 1 => Just("Rs"), 1 => Just("Rb"),
        1 => Just("Rk"), 1 => Just("M."), 1 => Just("E"), 1 => Just("??"),
    ];
    let ready =
        prop_oneof![4 => Just("ZI"), 4 => Just("ZT"), 1 => Just("ZF"), 1 => Just(""), 1 => Just("ZIZI")];
    prop_oneof![
        6 => (prop_oneof![Just("E1"), Just("S1"), Just("CxV1W.S1"), Just("Rs")], prop_oneof![Just("ZI"), Just("ZT")])
            .prop_map(|(message, ready)| [message, ready].concat()),
        2 => (vec(message, 0..4), ready).prop_map(|(messages, ready)| messages.concat() + ready),
    ]
}

/// Number of lines about sent statements, except the ROLLBACK of a rejected try.
fn statements(told: &str) -> usize {
    let is_other = |line: &&str| matches!(*line, "> ROLLBACK" | "> sync" | "> more");
    told.lines().filter(|line| line.starts_with("> ")).filter(|line| !is_other(line)).count()
}

fn count(told: &str, beginning: &str) -> usize {
    told.lines().filter(|line| line.starts_with(beginning)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_step_ends_once_and_every_statement_at_most_once(
        script in 0..7_u16,
        mode in prop_oneof![Just(Mode::Extended), Just(Mode::Prepared), Just(Mode::Simple)],
        max_tries in 0..3_u32,
        answers in vec(answer(), 0..12),
        piece in 1..5_usize,
    ) {
        let settings = Settings { mode, max_tries, seed: 5, ..Settings::default() };
        let with_pipeline = [&SCRIPTS[..], &[PIPELINE]].concat();
        let sql = if mode == Mode::Simple { sql(&SCRIPTS, settings) } else { sql(&with_pipeline, settings) };
        let script = if mode == Mode::Simple { script % 6 } else { script };
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let mut conversation = sql.open(0);
        let told = play(&mut conversation, script, &answers);

        let ends = ["try ", "broken: ", "fault ", "waiting: ", "early: "].map(|end| count(&told, end));
        let ends = ends.iter().sum::<usize>();
        prop_assert_eq!(ends, 1, "{}", told);
        let (sent, answered) = (statements(&told), count(&told, "part "));
        prop_assert!(answered <= sent, "{}", told);
        if count(&told, "try ") == 1 {
            prop_assert_eq!((conversation.stage(), conversation.part()), (Stage::Idle, None));
            let has_parts = script > 0 && script < 6;
            prop_assert!(!has_parts || answered == sent, "{} of {} answered: {}", answered, sent, told);
        }

        let again = play_in_pieces(&mut sql.open(0), script, &answers, piece);
        prop_assert_eq!(told, again);
    }
}
