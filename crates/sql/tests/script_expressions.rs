//! Expressions evaluate as in pgbench: the values of its published tests, and consequences of its rules.

use crate::one_script::{play, player};
use sql::script::Language;

const VARIABLES: &[(&str, &str)] = &[
    ("foo", "-10.1"),
    ("f", "of"),
    ("t", "t"),
    ("i", "+3"),
    ("n", "null"),
    ("zero", "0"),
    ("bla", "bla"),
    ("badtrue", "trueXYZ"),
    ("minint", "-9223372036854775808"),
    ("maxint", "9223372036854775807"),
    ("default_seed", "77"),
];

fn value(expression: &str, language: Language) -> Result<String, String> {
    let mut player = player(&format!("\\set x debug({expression})"), language, 5432, VARIABLES);
    let played = play(&mut player);
    match played.broken {
        Some(broken) => Err(broken),
        None => Ok(played.values.concat()),
    }
}

#[track_caller]
fn assert_all(language: Language, cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        assert_eq!(value(expression, language), Ok((*expected).to_owned()), "{expression}");
    }
}

#[test]
fn arithmetic_matches_pgbench() {
    assert_all(
        Language::Pgbench,
        &[
            ("17 / (4|1) + ( 4 + (7 >> 2))", "int 8"),
            ("- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1", "int 9"),
            ("64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2)", "int 12"),
            ("10 + mod(13 * 7 + 12, 13) - mod(-19 * 11 - 17, 19)", "int 39"),
            ("10 + (0 + 0 * 0 - 0 / 1)", "int 10"),
            ("~1+2", "int -4"),
            ("1 * ~ 2 + 3", "int -6"),
            ("~1 | 4", "int -2"),
            ("-7 / 2", "int -3"),
            ("-7 % 3", "int -1"),
            ("7.5 % 4", "int 0"),
            ("1 << 65", "int 2"),
            ("2 - 3 - 4", "int -5"),
            ("-2 * -3", "int 6"),
            ("- -3", "int 3"),
            ("+1.5", "double 1.5"),
            (".5e1", "double 5"),
            ("2.", "double 2"),
            ("1.0/0", "double Infinity"),
            ("abs(-4)", "int 4"),
            ("abs(-0.8E1)", "double 8"),
            ("int(7.3)", "int 7"),
            ("int(2.5)", "int 2"),
            ("double(1 + 1) * (-75.0 / :foo)", "double 14.8514851485149"),
            ("GREATEST(5, 4, 3, 2)", "int 5"),
            ("11 + least(-5, -4, -3, -2)", "int 6"),
            ("greatest(4, 2, -1.17) * 4.0 * Ln(Exp(1.0))", "double 16"),
            ("least(-5.18, .0E0, 1.0/0) * -3.3", "double 17.094"),
            ("sqrt(+1.5 * 2.0) * abs(-0.8E1)", "double 13.856406460551"),
            ("pi() * 4.9", "double 15.39380400259"),
            ("pow(-3,3)", "double -27"),
            ("pow(2.0,10)", "double 1024"),
            ("pow(0,0)", "double 1"),
            ("pow(-2,-3)", "double -0.125"),
            ("power(-5.0,-5.0)", "double -0.00032"),
            ("pow(9223372036854775807, 2)", "double 8.50705917302346e+37"),
            ("pow(10,30)", "double 1e+30"),
            ("-9223372036854775808", "int -9223372036854775808"),
            ("-(:minint + 1)", "int 9223372036854775807"),
            ("1 + 2 \\\n  + 3 \\\r\n + 4", "int 10"),
            ("least(,1)", "int 1"),
        ],
    );
}

#[test]
fn booleans_and_null_match_pgbench() {
    assert_all(
        Language::Pgbench,
        &[
            ("1.0 = 0.0 and 1.0 != 0.0", "boolean false"),
            ("0 = 1 Or 1.0 = 1", "boolean true"),
            ("NOT (0 > 1) AND (1 <= 1) AND NOT (0 >= 1) AND (NOT :f) AND :t", "boolean true"),
            ("not false or true", "boolean true"),
            ("NOT 1 = 2", "boolean true"),
            ("NULL + NULL * exp(NULL)", "null"),
            ("null and false", "null"),
            ("false and null", "boolean false"),
            ("true and null", "null"),
            ("true or null", "boolean true"),
            ("null or true", "null"),
            ("not null", "null"),
            ("null = null", "null"),
            (":n IS NULL AND :t NOTNULL", "boolean true"),
            (":n ISNULL AND NOT :n IS TRUE AND :n IS NOT FALSE", "boolean true"),
            ("1 IS TRUE", "boolean false"),
            ("1 < 2 IS NULL", "boolean false"),
            ("1 IS NULL IS FALSE", "boolean true"),
            ("greatest(1, null)", "null"),
            ("hash(null)", "null"),
        ],
    );
}

#[test]
fn case_expressions_match_pgbench() {
    assert_all(
        Language::Pgbench,
        &[
            ("case when 0 < 1 then 32 else 0 end", "int 32"),
            ("case when false then -1 when 1 = 1 then 13 + 19 + 2.0 end", "double 34"),
            ("CASE WHEN NOT FALSE THEN 3 * 12.3333334 END", "double 37.0000002"),
            ("case when false then 0 when 1-1 <> 0 then 1 else 38 end", "int 38"),
            ("case when null then 1 end", "null"),
            (
                "CASE WHEN 1 THEN TRUE END AND CASE WHEN 1.0 THEN TRUE END AND CASE WHEN :n THEN NULL ELSE TRUE END",
                "boolean true",
            ),
            ("case when :zero = 0 then -1 else (1 / :zero) end", "int -1"),
            ("case when :zero = 0 or (1 / :zero) < 0 then -1 else (1 / :zero) end", "int -1"),
            ("case when :zero > 0 and (1 / :zero) < 0 then (1 / :zero) else 1 end", "int 1"),
            ("1 + case when true then case when false then 1 else 2 end else 3 end * 4", "int 9"),
        ],
    );
}

#[test]
fn random_functions_and_hashes_match_pgbench() {
    let script = "\\set a debug(random(10, 19))\n\\set b debug(random_exponential(100, 199, 10.0))\n\
                  \\set c debug(random_gaussian(1000, 1999, 10.0))\n\\set d debug(random_zipfian(1, 9, 1.3))";
    let played = play(&mut player(script, Language::Pgbench, 5432, &[]));
    assert_eq!(played.values, ["int 17", "int 104", "int 1498", "int 3"]);
    assert_all(
        Language::Pgbench,
        &[
            ("hash(10, 5432)", "int -5817877081768721676"),
            ("hash_murmur2(10.2, 5432)", "int -5817877081768721676"),
            ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
            ("hash(10) = hash(10, :default_seed)", "boolean true"),
            ("permute(0, 2, 5431)", "int 0"),
            ("permute(:maxint - 11, :maxint - 10, 5432)", "int 520382784483822430"),
            ("permute(0, 5) + permute(1, 5) + permute(2, 5) + permute(3, 5) + permute(4, 5)", "int 10"),
            ("permute(123, 1)", "int 0"),
            ("random(5, 5)", "int 5"),
            (":client_id + :random_seed + :scale", "int 5433"),
        ],
    );
}

#[test]
fn evaluation_errors_have_messages() {
    for (expression, message) in [
        ("1/0", "division by zero"),
        ("1 % 0", "division by zero"),
        (":nosuchvariable", "undefined variable \"nosuchvariable\""),
        (":1a", "undefined variable \"1a\""),
        ("random(5,3)", "empty range given to random"),
        ("random(:minint, :maxint)", "random range is too large"),
        ("random(0, :maxint)", "random range is too large"),
        ("random_gaussian(0, 10, 1.0)", "gaussian parameter must be at least 2.000000 (not 1.000000)"),
        ("random_exponential(0, 10, 0.0)", "exponential parameter must be greater than zero (not 0.000000)"),
        ("random_zipfian(0, 10, 1)", "zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
        (
            "random_zipfian(0, 10, 1000000)",
            "zipfian parameter must be in range [1.001, 1000] (not 1000000.000000)",
        ),
        ("random_zipfian(0, 10, 0.0/0)", "zipfian parameter must be in range [1.001, 1000] (not NaN)"),
        (":bla + 1", "malformed variable \"bla\" value: \"bla\""),
        (":badtrue or true", "malformed variable \"badtrue\" value: \"trueXYZ\""),
        ("NOT 0.0", "cannot coerce double to boolean"),
        ("1 and true", "cannot coerce int to boolean"),
        ("true and 1", "cannot coerce int to boolean"),
        ("TRUE + 2", "cannot coerce boolean to int"),
        ("true = true", "cannot coerce boolean to int"),
        ("1.5 & 1 | true", "cannot coerce boolean to int"),
        ("ln(TRUE)", "cannot coerce boolean to double"),
        ("random(FALSE, TRUE)", "cannot coerce boolean to int"),
        ("int(1E32)", "double to int overflow for 100000000000000005366162204393472.000000"),
        ("(1<<62) + (1<<62)", "bigint add out of range"),
        ("0 - (1<<62) - (1<<62) - (1<<62)", "bigint sub out of range"),
        ("2 * (1<<62)", "bigint mul out of range"),
        (":minint / -1", "bigint div out of range"),
        ("permute(0, 0)", "permute size parameter must be greater than zero"),
    ] {
        let expected = format!("s:1: {message} in command \"set\"");
        assert_eq!(value(expression, Language::Pgbench), Err(expected), "{expression}");
    }
    // The remainder by -1 never overflows.
    assert_eq!(value(":minint % -1", Language::Pgbench), Ok("int 0".to_owned()));
}

#[test]
fn extended_language_has_texts() {
    assert_all(
        Language::Extended,
        &[
            ("'it''s'", "text it's"),
            ("concat('a', 1, -0.5, true, :bla)", "text a1-0.5truebla"),
            ("concat('a', null)", "null"),
            ("concat(:i, 'x')", "text +3x"),
            ("'12' + 1", "int 13"),
            (":i + 1", "int 4"),
            (":bla is null", "boolean false"),
            (":n is null", "boolean true"),
            ("case when :f then 'a' else 'b' end", "text b"),
            ("digits('no places')", "text no places"),
            ("17 / (4|1) + ( 4 + (7 >> 2))", "int 8"),
            ("serial() + serial()", "int 1"),
        ],
    );
    let digits = value("digits('###-##@')", Language::Extended).expect("digits");
    let shape: String = digits.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
    assert_eq!(shape, "text ###-##@");
    for (expression, message) in [
        ("1 + 'a'", "\"a\" is neither a number nor a truth"),
        (":bla and true", "\"bla\" is neither a number nor a truth"),
        ("random_pareto(1, 10, 1.0)", "pareto parameter must be between 0 and 1 (not 1.000000)"),
        ("random_special(3, 1)", "empty range given to random"),
    ] {
        let expected = format!("s:1: {message} in command \"set\"");
        assert_eq!(value(expression, Language::Extended), Err(expected), "{expression}");
    }
}
