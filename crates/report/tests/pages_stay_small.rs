//! The page of the largest possible study stays small: the most important parts stay, and the page says what it omits.

use crate::pages;
use crate::runs;
use crate::studies;
use serde_json::Value;

const SETTINGS: u32 = 1_500;
const BLOCKS: u32 = 2_100;

/// One block of two variants, many variants before them that never ran, and many more blocks of the better one.
fn huge() -> studies::Stored {
    let mut stored = studies::one_block();
    let study = &mut stored.study;
    let (first, best) = (study.new.planned[0].clone(), study.new.planned[1].clone());
    study.new.compare.blocks = BLOCKS;
    for number in 0..SETTINGS {
        let position = 2 + number;
        let system = format!("a{number}");
        study.new.planned.push(evidence::StudyPlace { system, position, ..first.clone() });
    }
    let run = study.runs.iter().find(|run| run.new.place.as_ref().unwrap().1 == best).unwrap().clone();
    for block in 1..BLOCKS {
        let place = evidence::StudyPlace { block, position: 2 + SETTINGS + block, ..best.clone() };
        study.new.planned.push(place.clone());
        let mut run = run.clone();
        run.new.place.as_mut().unwrap().1 = place;
        study.runs.push(run);
    }
    stored
}

fn places(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|place| place.as_u64().unwrap() as usize).collect()
}

#[test]
fn limits_rows_and_runs_of_huge_study() {
    let page = pages::of_study(&huge());
    assert!(page.len() < 16_000_000, "{}", page.len());
    let document = pages::document(&page);
    let notices = document["notices"].to_string();
    assert!(
        notices.contains("room here for 1,000 of 1,502 settings, and for 2,000 of 2,101 runs"),
        "{notices}"
    );
    let (load, runs) = (&document["loads"][0], document["runs"].as_array().unwrap());
    let rows = load["rows"].as_array().unwrap();
    assert_eq!((rows.len(), runs.len()), (1_000, 2_000));
    assert_eq!(load["table"]["rows"].as_array().unwrap().len(), rows.len());
    let best = rows.iter().position(|row| row["is_best"] == true).expect("the best stays");
    let other = rows.iter().position(|row| !row["figures"].is_null() && row["is_best"] == false).unwrap();
    assert!([best, other].iter().all(|row| rows[*row]["system"] == "puma"), "{}", rows[best]);
    assert_eq!(rows[best]["runs"].as_array().unwrap().len() + 1, runs.len());
    for row in [best, other] {
        for run in places(&rows[row]["runs"]) {
            assert_eq!((&runs[run]["load"], &runs[run]["row"]), (&0.into(), &row.into()), "run {run}");
        }
        let of_table = &load["table"]["rows"][row];
        assert_eq!((&of_table["row"], &of_table["is_winner"]), (&row.into(), &rows[row]["is_winner"]));
        assert!(load["bottlenecks"].as_array().unwrap().iter().any(|bottleneck| bottleneck["row"] == row));
    }
    let pair = &load["pairs"][0];
    let ends = ["first", "second"].map(|end| pair[end].as_u64().unwrap() as usize);
    assert!(ends == [best, other] || ends == [other, best], "{pair}");
}

#[test]
fn limits_rows_of_steps() {
    let mut run = runs::normal();
    run.new.steps = (0..2_500).map(|step| format!("step {step}")).collect();
    run.new.units = vec![evidence::Unit::Requests; 2_500];
    let document = pages::document(&pages::of_runs(&[run]));
    let notices = document["notices"].to_string();
    assert!(notices.contains("room here for 2,000 of 2,500 rows of steps"), "{notices}");
    assert_eq!(document["loads"][0]["steps"]["rows"].as_array().unwrap().len(), 2_000);
}

#[test]
fn limits_rows_of_statements() {
    let mut run = runs::sql::transactions();
    let name = "SELECT 1 ".repeat(1_000);
    run.new.parts = vec![evidence::StepPart { name, of: 0 }; 2_500];
    let page = pages::of_runs(&[run]);
    let document = pages::document(&page);
    let notices = document["notices"].to_string();
    assert!(notices.contains("room here for 2,000 of 2,500 rows of statements"), "{notices}");
    assert_eq!(document["loads"][0]["statements"]["rows"].as_array().unwrap().len(), 2_000);
    assert!(page.len() < 2_000_000);
}
