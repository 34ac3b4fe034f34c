//! Errors in a script are reported at their position, and all at once.

use sql::script::{Allow, Fault, Language, ScriptSet};

/// Errors of a script named `s`.
fn faults(text: &str, language: Language) -> Vec<Fault> {
    ScriptSet::new().add("s", text.as_bytes(), language, Allow::Nothing).err().unwrap_or_default()
}

#[test]
fn errors_have_messages() {
    for (text, messages) in [
        (r"\if 1", &[r"s:1: \if without matching \endif"][..]),
        (r"\elif 1", &[r"\elif without matching \if"]),
        (r"\else", &[r"\else without matching \if"]),
        (r"\endif", &[r"\endif without matching \if"]),
        ("\\if 1\n\\else\n\\elif 0\n\\endif", &[r"s:3: \elif after \else"]),
        ("\\if 1\n\\else\n\\else\n\\endif", &[r"s:3: \else after \else"]),
        ("\\if\n\\endif\n", &["s:1: syntax error", "in command \"if\""]),
        ("\\if 0\n\\elif +\n\\endif\n", &["s:2: syntax error", "in command \"elif\""]),
        ("\\if 0\n\\else BAD\n\\endif\n", &["unexpected argument", "in command \"else\""]),
        ("\\if 0\n\\endif BAD\n", &["unexpected argument", "in command \"endif\""]),
        (r"\startpipeline now", &["unexpected argument", "in command \"startpipeline\""]),
        ("\\set i least()", &["at least one argument expected (least)"]),
        ("\\set i greatest())", &["at least one argument expected (greatest)"]),
        ("\\set i hash()", &["unexpected number of arguments (hash)"]),
        ("\\set i hash(1,2,3)", &["unexpected number of arguments (hash)"]),
        ("\\set i permute(1)", &["unexpected number of arguments (permute)"]),
        ("\\set i permute(1, 2, 3, 4)", &["unexpected number of arguments (permute)"]),
        ("\\set d ln(1.0, 2.0))", &["unexpected number of arguments (ln)"]),
        (
            "\\set i least(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)",
            &["too many function arguments, maximum is 16"],
        ),
        ("\\set i 100000000000000000000", &["bigint constant overflow (100000000000000000000)"]),
        ("\\set i 9223372036854775808", &["syntax error"]),
        ("\\set d 1.0E309", &["double constant overflow (1.0E309)"]),
        ("\\set d .1E310", &["double constant overflow (.1E310)"]),
        (
            "\\set i 1 +\n",
            &["s:1: syntax error at column 11 in command \"set\"\n\\set i 1 +\n          ^ error found here"],
        ),
        ("\\set i noSuchFunction()", &["unexpected function name (noSuchFunction)"]),
        ("\\set i concat('a')", &["unexpected function name (concat)"]),
        ("\\set . 1", &["invalid variable name (.)"]),
        ("\\set 1a 1", &["invalid variable name (1a)"]),
        ("\\set i ;", &["unexpected character (;)"]),
        ("\\set i é", &["unexpected function name (é)"]),
        (r"\set i", &["syntax error at column 7"]),
        (r"\set", &["missing argument in command \"set\"\n\\set"]),
        ("\\set i CASE TRUE THEN 1 ELSE 0 END", &["syntax error at column 13 in command \"set\""]),
        ("\\set i 1 < 2 < 3", &["syntax error at column 14"]),
        ("\\set i 1 2", &["syntax error at column 10"]),
        ("\\set i 1 is 2", &["syntax error at column 13"]),
        (r"\sleep", &["missing argument in command \"sleep\""]),
        (r"\sleep too many args", &["too many arguments"]),
        (r"\sleep 1 week", &["unrecognized time unit, must be us, ms or s (week) at column 10"]),
        (r"\sleep 1week", &["unrecognized time unit, must be us, ms or s (week) at column 9"]),
        (r"\sleep 1.5 s", &["invalid sleep time, must be an integer (1.5)"]),
        (r"\sleep now", &["invalid sleep time, must be an integer (now)"]),
        (r"\nosuchcommand", &["invalid command in command \"nosuchcommand\""]),
        (
            r"\setrandom aid 1 :naccounts",
            &["invalid command, removed in pgbench 9.6; write \"\\set aid random(1, :naccounts)\""],
        ),
        (r"\setrandom a 1 9 gaussian 2.5", &[r#"write "\set a random_gaussian(1, 9, 2.5)""#]),
        (r"\setrandom", &[r#"write "\set NAME random(LOW, HIGH)""#]),
        ("", &["empty command list for script \"s\""]),
        ("-- nothing\n ", &["empty command list for script \"s\""]),
        (r"\gset", &[r"\gset must follow an SQL command"]),
        ("\\set i +1\n\\gset", &[r"s:2: \gset must follow an SQL command"]),
        (r"SELECT 1 \gset a b", &["too many arguments at column 18 in command \"gset\""]),
        ("SELECT 1 AS i \\gset\n\\gset", &[r"s:2: \gset must follow an SQL command"]),
        ("SELECT 1; \\if 1\n\\endif\\aset", &[r"endif"]),
        (r"\shell", &["missing command"]),
        (r"\setshell var", &["missing argument"]),
        (r"\shell echo hi", &["may not be run"]),
        ("select 1;\nselect 'a;\n\n", &["s:2: quoted text without its end at column 8\n"]),
        ("select /* 1;", &["comment without its end"]),
        ("select\0 1;", &["a byte of zero"]),
    ] {
        let found = faults(text, Language::Pgbench);
        let shown = found.first().unwrap_or_else(|| panic!("{text}: no fault")).to_string();
        assert!(messages.iter().all(|message| shown.contains(message)), "{text}: {shown}");
    }
}

#[test]
fn lone_backslash_is_an_error() {
    for text in [r"select 1\", "select 1; \\\nselect 2", "select 1\\ \nselect 2"] {
        assert_eq!(faults(text, Language::Pgbench), [], "{text}");
    }
}

#[test]
fn errors_are_reported_together_in_text_order() {
    let text = "\\set a 1 +\nselect 1;\n\\if true\n\\nosuch\n\\sleep x\n  \\set b (1\n";
    let lines: Vec<_> = faults(text, Language::Pgbench).into_iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6]);
    let many = "\\nosuch\n".repeat(1000);
    assert!(faults(&many, Language::Pgbench).len() < 100, "there is an end to it");
}

#[test]
fn error_in_a_later_line_is_shown_there() {
    let found = faults("select 1;\n  \\set a 1 + \\\n    2 + \\\n    ) + \\\n 3", Language::Pgbench);
    let expected = "s:4: syntax error at column 5 in command \"set\"\n\\set a 1 + \\\n    2 + \\\n    ) + \\\n    ^ error found here";
    assert_eq!(found[0].to_string(), expected);
    let long = format!("\\set a {}1 +", "1 + ".repeat(10_000));
    let shown = faults(&long, Language::Pgbench)[0].to_string();
    assert!(shown.len() < 500 && shown.ends_with("^ error found here"), "{shown}");
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines[1].len(),
        lines[2].find('^').expect("a mark"),
        "the mark stands behind what is shown: {shown}"
    );
}

#[test]
fn invalid_utf8_is_rejected() {
    let mut all_scripts = ScriptSet::new();
    let found = all_scripts.add("s", b"select 1;\nselect '\xe9';", Language::Pgbench, Allow::Nothing);
    let shown = found.expect_err("a fault")[0].to_string();
    assert!(shown.starts_with("s:2: the script is not in UTF-8 here at column 9"), "{shown}");
    assert!(all_scripts.scripts().is_empty() && all_scripts.statements().is_empty());
}

#[test]
fn shell_commands_are_rejected() {
    let mut all_scripts = ScriptSet::new();
    let found = all_scripts.add("s", br"\setshell a echo 1", Language::Pgbench, Allow::Shell);
    assert!(found.expect_err("a fault")[0].to_string().contains("not supported yet"));
}

#[test]
fn invalid_variable_names_are_rejected() {
    let mut all_scripts = ScriptSet::new();
    assert_eq!(all_scripts.variable("a1_é"), all_scripts.find("a1_é"));
    assert!(all_scripts.variable("a1_é").is_some());
    for name in ["", "1a", "a b", "a-b", ":a"] {
        assert_eq!(all_scripts.variable(name), None, "{name:?}");
    }
}
