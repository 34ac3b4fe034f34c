//! For any content, parsing a script ends with commands or errors, and executing it ends.

use std::sync::Arc;

use proptest::prelude::*;
use sql::script::{Allow, Backslashes, Language, Placeholders, Player, PlayerAction, ScriptSet, Seeds};

use crate::one_script::{play, player};

/// Parses a script in both languages, and executes what is valid.
fn parse_and_run(text: &[u8]) {
    for language in [Language::Pgbench, Language::Extended] {
        let mut all_scripts = ScriptSet::new();
        if let Err(faults) = all_scripts.add("s", text, language, Allow::Nothing) {
            assert!(!faults.is_empty());
            faults.iter().for_each(|fault| drop(fault.to_string()));
            continue;
        }
        let mut player = Player::new(Arc::new(all_scripts), &Seeds::new(1, 1), 0);
        player.begin(0);
        while let Ok(act) = player.next() {
            match act {
                PlayerAction::End => break,
                PlayerAction::Statement(number) => send(&mut player, number),
                _ => {}
            }
        }
    }
}

fn send(player: &mut Player, number: u16) {
    let mut text = Vec::new();
    player.fill_text(number, &mut text);
    player.fill_extended(number, Placeholders::Numbered, Backslashes::default(), &mut text);
    assert!(player.values(number).count() < 70_000);
    player.start_rows(number);
    player.take_column(0, &text);
    player.take_value(3, Some(&text));
    player.end_row();
    let _ = player.end_rows();
}

/// Random combinations of fragments of scripts.
fn fragments() -> impl Strategy<Value = String> {
    let shred = prop::sample::select(vec![
        "\\set a ",
        "\\if ",
        "\\elif ",
        "\\else",
        "\\endif",
        "\\gset",
        "\\aset p_",
        "\\sleep ",
        "\\startpipeline",
        "\\endpipeline",
        "\\;",
        "\\:",
        "\\",
        "\n",
        "\r\n",
        "\\\n",
        " ",
        "select ",
        ";",
        ":a",
        ":b",
        "{a}",
        "{",
        "'",
        "\"",
        "$$",
        "$a$",
        "$1",
        "--",
        "/*",
        "*/",
        "(",
        ")",
        "begin",
        "end",
        "case",
        "when",
        "then",
        "else",
        "create ",
        "function ",
        "E'",
        "1",
        "0",
        "-",
        "9223372036854775808",
        "1.5",
        "1e309",
        ".",
        "+",
        "*",
        "/",
        "%",
        "<",
        ">=",
        "=",
        "|",
        "~",
        "not ",
        "and ",
        "or ",
        " is null",
        "random(",
        "least(",
        "concat(",
        "digits(",
        "permute(",
        "ms",
        ",",
        "é",
        "\t",
        "debug(",
        "hash(",
    ]);
    prop::collection::vec(shred, 0..40).prop_map(|fragments| fragments.concat())
}

/// Expression of names and operators, without its command.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "1",
        "-2",
        "0",
        "2.5",
        "null",
        "true",
        "false",
        ":a",
        ":u",
        "9223372036854775807",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 60, 3, |inner| {
        let operator = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "<", ">", "=", "<>", "|", "&", "#", "<<", ">>", "and", "or",
        ]);
        let function = prop::sample::select(vec![
            "random",
            "greatest",
            "pow",
            "mod",
            "hash",
            "permute",
            "random_special",
            "random_row",
            "concat",
        ]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} {b}")),
            (function, inner.clone(), inner.clone()).prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("case when {a} then {b} else {c} end")),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        parse_and_run(&bytes);
    }

    #[test]
    fn any_text_is_handled(text in "\\PC{0,200}") {
        parse_and_run(text.as_bytes());
    }

    #[test]
    fn any_combination_of_fragments_is_handled(text in fragments()) {
        parse_and_run(text.as_bytes());
    }

    #[test]
    fn any_expression_is_handled(expression in expression()) {
        parse_and_run(format!("\\set a 5\n\\set x {expression}\nselect :x").as_bytes());
    }
}

#[test]
fn nesting_is_limited() {
    const DEEP: usize = 20_000;
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("~", ""),
        ("not ", ""),
        ("abs(", ")"),
        ("case when ", " then 1 end"),
        ("1 + (", ")"),
    ] {
        let deep = format!("\\set a {}1{}", open.repeat(DEEP), close.repeat(DEEP));
        let faults = ScriptSet::new()
            .add("s", deep.as_bytes(), Language::Extended, Allow::Nothing)
            .expect_err("too deep");
        assert!(faults[0].message.contains("levels deep"), "{open}: {}", faults[0].message);
        let shallow = format!("\\set a {}1{}", open.repeat(90), close.repeat(90));
        let added = ScriptSet::new().add("s", shallow.as_bytes(), Language::Extended, Allow::Nothing);
        assert_eq!(added, Ok(0), "{open}");
    }
}

#[test]
fn long_scripts_are_accepted() {
    const LONG: usize = 20_000;
    for script in [
        format!("\\set a 0{}", " + 1".repeat(LONG)),
        format!("\\set a case {} end", "when false then 1 ".repeat(LONG)),
        format!("{}{}", "\\if 1\n".repeat(LONG), "\\endif\n".repeat(LONG)),
        format!("select {}1;", "(".repeat(LONG)),
        format!("select /*{}{}", "/*".repeat(LONG), "*/".repeat(LONG + 1)),
        format!("select 1{}", " -- x\n".repeat(LONG)),
        format!("select 1{};", ", $a".repeat(LONG)),
        format!("select 1{};", ", :a".repeat(LONG)),
    ] {
        parse_and_run(script.as_bytes());
        let added = ScriptSet::new().add("s", script.as_bytes(), Language::Pgbench, Allow::Nothing);
        assert_eq!(added, Ok(0), "{}", &script[..30]);
    }
    let many = ";".repeat(70_000);
    let faults =
        ScriptSet::new().add("s", many.as_bytes(), Language::Pgbench, Allow::Nothing).expect_err("too many");
    assert!(faults[0].message.contains("too many statements"));
}

#[test]
fn debug_output_is_bounded() {
    let mut player = player("\\set a debug(1)", Language::Pgbench, 1, &[]);
    for _ in 0..5_000 {
        player.begin(0);
        assert_eq!(player.next(), Ok(PlayerAction::End));
    }
    assert_eq!(player.notes().len(), 1_000);
    assert_eq!(play(&mut player).values, ["int 1"]);
}
