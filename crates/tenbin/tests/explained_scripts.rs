//! `tenbin check SCRIPT.sql` explains a script, and lists its errors with their lines.

use std::fs;

use crate::support::Home;
use serde_json::{Value, json};

const SCRIPT: &str = "\\set id random(1, 1000 * :scale)\nBEGIN;\nUPDATE t SET a = a + :delta\n  WHERE id = :id;\nEND;\n\
                      DELETE FROM log;\n\\copy items (id, word) 3 (serial(), 'a')\n";

fn script(home: &Home, text: &str) -> String {
    let path = home.path().join("buy.sql");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn script_is_explained_for_people_and_programs() {
    let home = Home::new();
    let path = script(&home, SCRIPT);
    let output = home.run(&["check", &path, "-D", "delta=5"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    for text in [
        "    3  UPDATE t SET a = a + :delta WHERE id = :id;\n       -- in the transaction of line 2; values delta, id\n",
        "    6  DELETE FROM log;\n       -- commits by itself\n",
        "    7  \\copy items (id, word) 3 (serial(), 'a')\n",
        "  id = random(1, 1000 * :scale): ",
        "  prepared  5 distinct statements, each prepared once per connection; 5 executions with values\n",
    ] {
        assert!(output.stdout.contains(text), "{text}: {}", output.stdout);
    }
    let explained = home.run(&["check", &path, "-D", "delta=5", "--format", "json"]);
    let explained: Value = serde_json::from_str(&explained.stdout).expect("JSON");
    assert_eq!(explained["schema"], "tenbin.script/1");
    let places: Vec<&Value> =
        explained["parts"].as_array().expect("a list").iter().map(|part| &part["transaction"]).collect();
    assert_eq!(json!(places), json!([null, "begins", "within", "ends", "alone", "alone"]));
    assert_eq!(explained["open_since_line"], Value::Null);
}

#[test]
fn errors_and_limits_of_scripts_name_their_lines() {
    let home = Home::new();
    for (text, expected) in [
        ("SELECT 1;\n\\set\n", "buy.sql:2: missing argument in command \"set\""),
        ("SELECT :x;\n", "buy.sql:1:8: undefined variable :x\n  help: define it with -D x=VALUE"),
        ("", "empty command list"),
        ("\\copy items (a, b) 5 (1)\n", "buy.sql:1:21: 2 columns, and 1 values"),
    ] {
        let output = home.run(&["check", &script(&home, text)]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(expected), "{expected}: {output:?}");
    }
    let output = home.run(&["check", &script(&home, "SELECT 1 \\; SELECT 2;\nBEGIN;\n")]);
    assert!(output.stdout.contains("prepared  not possible: line 1: several statements"), "{output:?}");
    assert!(output.stdout.contains("warning: the transaction of line 2 is still open"), "{output:?}");
}
