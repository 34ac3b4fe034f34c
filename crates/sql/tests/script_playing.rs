//! Scripts execute as in pgbench: branches, pauses, pipelines, rows stored in variables, and retries.

use std::sync::Arc;

use crate::one_script::{play, player};
use sql::script::{
    Allow, Backslashes, Distribution, Gather, Language, Literal, Placeholders, Player, PlayerAction,
    ScriptSet, Seeds, StatementKind,
};

const PGBENCH: Language = Language::Pgbench;

/// A reply: column names and rows of each result.
type Results<'a> = &'a [(&'a [&'a str], Rows<'a>)];
type Rows<'a> = &'a [&'a [Option<&'a str>]];

/// Advances to the next statement, and stores its rows.
fn gather(player: &mut Player, results: Results<'_>) -> Result<(), String> {
    let Ok(PlayerAction::Statement(number)) = player.next() else { panic!("a statement comes") };
    assert!(player.stored_rows(number).is_some());
    player.start_rows(number);
    for (columns, rows) in results {
        for (number, name) in columns.iter().enumerate() {
            player.take_column(number as u16, name.as_bytes());
        }
        for row in *rows {
            for (number, value) in row.iter().enumerate() {
                player.take_value(number as u16, value.map(str::as_bytes));
            }
            player.end_row();
        }
        player.end_result().map_err(|broken| broken.to_string())?;
    }
    player.end_rows().map_err(|broken| broken.to_string())
}

#[test]
fn untaken_branches_are_not_executed() {
    let script = "\\if false\n wrong;\n\\if true\n wrong;\n\\else\n\\set x 1/0\n\\endif\n wrong;\n\
                  \\elif false\n\\if true\n wrong;\n\\endif\n\
                  \\else\n\\if false\n wrong;\n\\elif 0\n wrong;\n\\else\n right 1;\n\\endif\n\\endif\n\
                  \\if 1\n right 2;\n\\elif 1/0\n wrong;\n\\else\n wrong;\n\\endif\n\
                  \\if 0\n wrong;\n\\elif 0.5\n right 3;\n\\elif 1/0\n wrong;\n\\endif\n\
                  \\if null\n wrong;\n\\endif\nright 4";
    let played = play(&mut player(script, PGBENCH, 1, &[]));
    assert_eq!(played.acts, ["right 1;", "right 2;", "right 3;", "right 4"]);
    assert_eq!(played.broken, None);
}

#[test]
fn commands_are_numbered_as_in_pgbench() {
    let script = "select 1 \\gset\n\\if 1\n\\set a debug(1)\n\\elif 1\n\\else\n\\endif\n\\set b debug(2)";
    let mut player = player(script, PGBENCH, 1, &[]);
    player.begin(0);
    while player.next() != Ok(PlayerAction::End) {}
    assert_eq!(player.notes(), ["debug(script=0,command=3): int 1", "debug(script=0,command=7): int 2"]);
}

#[test]
fn pauses_have_units() {
    let script = "\\sleep 100 us\n\\sleep 2ms\n\\sleep 3 S\n\\sleep 4\n\\sleep :one ms\n\\sleep -5 s\n\\sleep 9223372036854775807 s";
    let played = play(&mut player(script, PGBENCH, 1, &[("one", "1.9")]));
    let pauses = [100_000, 2_000_000, 3_000_000_000, 4_000_000_000, 1_000_000, 0, u64::MAX];
    assert_eq!(played.acts, pauses.map(|ns| format!("Pause {{ ns: {ns} }}")));
    for (variable, message) in [
        ("\\sleep :no", "sleep: undefined variable \"no\""),
        ("\\sleep :bad", "sleep: invalid sleep time \"x\" for variable \"bad\""),
    ] {
        let played = play(&mut player(variable, PGBENCH, 1, &[("bad", "x")]));
        assert_eq!(played.broken, Some(format!("s:1: {message} in command \"sleep\"")));
    }
}

#[test]
fn pipelines_open_and_close() {
    let script = "\\startpipeline\nselect 1;\n\\syncpipeline\nselect 2;\n\\endpipeline\nselect 3;";
    let mut pipeline = player(script, PGBENCH, 1, &[]);
    pipeline.begin(0);
    assert_eq!(pipeline.next(), Ok(PlayerAction::StartPipeline));
    let rest: Vec<_> = (0..6).map(|_| pipeline.next()).collect();
    let statement = PlayerAction::Statement;
    let expected = [
        statement(0),
        PlayerAction::SyncPipeline,
        statement(1),
        PlayerAction::EndPipeline,
        statement(2),
        PlayerAction::End,
    ];
    assert_eq!(rest, expected.map(Ok));
    for (script, message) in [
        ("\\startpipeline\n\\startpipeline", "s:2: already in pipeline mode in command \"startpipeline\""),
        ("\\endpipeline", "s:1: not in pipeline mode in command \"endpipeline\""),
        ("\\syncpipeline", "s:1: not in pipeline mode in command \"syncpipeline\""),
        ("\\startpipeline\nselect 1 \\gset\n\\endpipeline", "gset is not allowed in pipeline mode"),
        ("\\startpipeline\nselect 1;", "s: end of script reached with pipeline open"),
    ] {
        let mut player = player(script, PGBENCH, 1, &[]);
        // The second run begins like the first.
        for _ in 0..2 {
            let broken = play(&mut player).broken.expect(script);
            assert!(broken.contains(message), "{broken}");
        }
    }
}

#[test]
fn values_are_written_into_statements() {
    let script = "\\set a -5\n\\set b 0.1 + 0.2\n\\set c null\n\\set d true\n\
                  select :a, :b, :c, :d, :e::int, ':a', :unknown, \"x:y\" -- :e\n;";
    let mut player = player(script, PGBENCH, 1, &[("e", "it's")]);
    let played = play(&mut player);
    assert_eq!(played.acts, ["select -5, 0.3, NULL, true, it's::int, '-5', :unknown, \"x:y\" -- it's\n;"]);
    let values: Vec<_> = player.values(0).collect();
    let plain = |text: &'static str| Literal::Plain(text.as_bytes());
    let (five, text) = (plain("-5"), plain("it's"));
    let null = Literal::Null;
    assert_eq!(values, [five, plain("0.3"), null, plain("true"), text, five, null, null, text]);
}

#[test]
fn statements_have_placeholders_titles_and_kinds() {
    let mut all_scripts = ScriptSet::new();
    let text = "begin;\nselect :a, ':b'\n from t{n};\nend;";
    assert_eq!(all_scripts.add("one", text.as_bytes(), PGBENCH, Allow::Nothing), Ok(0));
    assert_eq!(all_scripts.add("two", text.as_bytes(), Language::Extended, Allow::Nothing), Ok(1));
    assert_eq!((all_scripts.scripts()[0].statements(), all_scripts.scripts()[1].statements()), (0..3, 3..6));
    let [_, plain, end, begin, extended, _] = all_scripts.statements() else { panic!("six statements") };
    assert_eq!(
        (begin.kind(), extended.kind(), end.kind()),
        (StatementKind::Begin, StatementKind::Read, StatementKind::Commit)
    );
    assert_eq!((extended.title(), extended.script(), extended.line()), ("select :a, ':b'", 1, 2));
    assert_eq!(plain.extended(Placeholders::Numbered), "select $1, '$2'\n from t{n};");
    assert_eq!(plain.extended(Placeholders::Question), "select ?, '?'\n from t{n};");
    assert_eq!(extended.extended(Placeholders::Numbered), "select $1, ':b'\n from t{n};");
    assert_eq!(
        (plain.values(), plain.is_fixed(), extended.values(), extended.is_fixed()),
        (2, true, 1, false)
    );
    let n = all_scripts.variable("n").expect("a legal name");
    let mut player = Player::new(Arc::new(all_scripts), &Seeds::new(1, 1), 0);
    player.set(n, b"7");
    let mut text = Vec::new();
    player.fill_extended(4, Placeholders::Question, Backslashes::default(), &mut text);
    player.fill_text(4, &mut text);
    assert_eq!(text, b"select ?, ':b'\n from t7;select :a, ':b'\n from t7;");
}

#[test]
fn gset_stores_the_only_row() {
    let script = "select 0 as a \\gset\n\\set x debug(:a)\nselect 1\\; select 2 as a, 3 as a, 4 as b;\n\\gset p_\n\
                  \\set x debug(:p_a)\n\\set x debug(:p_b)\nselect \\gset\nselect 5 as unread \\gset\nselect :p_n \\gset p_";
    let mut player = player(script, PGBENCH, 1, &[]);
    player.begin(0);
    assert_eq!(gather(&mut player, &[(&["a"], &[&[Some("0")]])]), Ok(()));
    let two = [Some("2"), Some("3"), Some("4")];
    assert_eq!(gather(&mut player, &[(&["a"], &[&[Some("1")]]), (&["a", "a", "b"], &[&two])]), Ok(()));
    assert_eq!(gather(&mut player, &[(&[], &[&[]])]), Ok(()));
    assert_eq!(gather(&mut player, &[(&["unread"], &[&[Some("5")]])]), Ok(()));
    let values: Vec<_> =
        player.notes().iter().map(|note| note.rsplit(' ').next().unwrap_or("").to_owned()).collect();
    assert_eq!(values, ["0", "3", "4"]);
    // NULL becomes an empty text, as in pgbench.
    assert_eq!(gather(&mut player, &[(&["n"], &[&[None]])]), Ok(()));
    assert_eq!(player.values(4).next(), Some(Literal::Plain(b"")));
}

#[test]
fn gset_rejects_other_than_one_row() {
    let one: &[Option<&str>] = &[Some("1")];
    for (results, message) in [
        (&[(&["a"][..], &[][..])][..], "expected one row, got 0"),
        (&[], "expected one row, got 0"),
        (&[(&["a"], &[one]), (&[], &[])], "expected one row, got 0"),
        (&[(&["a"], &[one, one])], "expected one row, got 2"),
        (&[(&["?column?"], &[one])], "error storing into variable ?column?"),
        (&[(&["a", "bad name!"], &[&[Some("1"), None]])], "error storing into variable bad name!"),
    ] {
        let mut player = player("\nselect 1 \\gset", PGBENCH, 1, &[]);
        player.begin(0);
        assert_eq!(gather(&mut player, results), Err(format!("s:2: {message} in command \"gset\"")));
    }
}

#[test]
fn aset_stores_the_last_row_of_each_result() {
    let script =
        "select 6 as a\\; select 7 as b \\aset\n\\set x debug(:a)\n\\set x debug(:b)\n\\set x debug(:c)";
    let mut player = player(script, PGBENCH, 1, &[]);
    player.begin(0);
    assert_eq!(player.stored_rows(0), Some(Gather::Last));
    let (rows, none): (Rows<'_>, Rows<'_>) = (&[&[Some("9")], &[Some("8")]], &[]);
    assert_eq!(gather(&mut player, &[(&["a"], rows), (&["c"], none), (&["b"], &[&[Some("7")]])]), Ok(()));
    let broken = player.next().expect_err("c has no value").to_string();
    assert_eq!(broken, "s:4: undefined variable \"c\" in command \"set\"");
    assert_eq!(player.notes(), ["debug(script=0,command=2): int 8", "debug(script=0,command=3): int 7"]);
}

#[test]
fn again_repeats_draws_and_begin_continues_them() {
    let mut all_scripts = ScriptSet::new();
    let text = b"\\set a random(1, 1000000)\n\\set s serial()\nselect :a, :s;";
    all_scripts.add("s", text, Language::Extended, Allow::Nothing).expect("no fault");
    let mut player = Player::new(Arc::new(all_scripts), &Seeds::new(3, 4), 2);
    let mut run = |restart: bool| {
        if restart {
            player.restart()
        } else {
            player.begin(0)
        }
        assert_eq!(player.next(), Ok(PlayerAction::Statement(0)));
        let text = |value| match value {
            Literal::Plain(text) => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{other:?}"),
        };
        let values: Vec<_> = player.values(0).map(text).collect();
        assert_eq!(player.next(), Ok(PlayerAction::End));
        values
    };
    let (first, second, third) = (run(false), run(true), run(false));
    assert_eq!(first[0], second[0]);
    assert_ne!(first[0], third[0]);
    // A serial number is never drawn twice: the three other clients have the numbers in between.
    assert_eq!([&first[1], &second[1], &third[1]], ["2", "6", "10"]);
}

#[test]
fn random_row_uses_the_distribution_of_the_run() {
    let drawn = |distribution| {
        let mut all_scripts = ScriptSet::new();
        all_scripts.set_distribution(distribution);
        let text = b"\\set a random_row(1, 1000)\nselect :a";
        all_scripts.add("s", text, Language::Extended, Allow::Nothing).expect("no fault");
        let slot = all_scripts.find("a").expect("named");
        let mut player = Player::new(Arc::new(all_scripts), &Seeds::new(3, 1), 0);
        let mut row = || {
            player.begin(0);
            assert_eq!(player.next(), Ok(PlayerAction::Statement(0)));
            let text = player.value(slot).map(|text| String::from_utf8_lossy(text).into_owned());
            text.and_then(|text| text.parse::<u32>().ok()).expect("a number")
        };
        (0..2000).map(|_| row()).collect::<Vec<_>>()
    };
    let share =
        |rows: &[u32], from: u32, to: u32| rows.iter().filter(|row| (from..=to).contains(*row)).count() / 20;
    let uniform = drawn(Distribution::Uniform);
    assert!(
        (45..55).contains(&share(&uniform, 1, 500)) && uniform.iter().all(|row| (1..=1000).contains(row))
    );
    assert!(share(&drawn(Distribution::Zipf(1.5)), 1, 10) > 60);
    assert!((75..85).contains(&share(&drawn(Distribution::Pareto(0.2)), 1, 200)));
    assert!((72..80).contains(&share(&drawn(Distribution::Special), 495, 506)));
}

#[test]
fn clients_have_their_own_streams() {
    let seeds = Seeds::new(7, 3);
    let all = (0..5).flat_map(|client| {
        [seeds.functions(client), seeds.choose(client), seeds.throttle(client), seeds.sample(client)]
    });
    let all: Vec<_> = all.collect();
    for (number, stream) in all.iter().enumerate() {
        assert!(!all[..number].contains(stream), "stream {number}");
    }
    assert_eq!((seeds.clients(), seeds.random_seed(), seeds.default_seed().is_some()), (3, 7, true));
    let given = Seeds::without_default(7, 3);
    assert_eq!(given.default_seed(), None);
    assert_eq!(given.functions(2), seeds.functions(2));
    assert_ne!(given.choose(0), seeds.choose(0), "a draw is saved");
}
