//! The baseline of a run or a study is stored with it, and deleted with it.

use crate::sample;
use evidence::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, BaselineSide, Bounds, FoundBaseline, Origin,
};
use store::{Store, StoreError};

fn baseline() -> Baseline {
    let side = BaselineSide {
        of: "throughput>=95% of baseline".to_owned(),
        figures: vec![100.0, 101.5, 0.1 + 0.2],
        bounds: [[99.0, f64::INFINITY], [101.5; 2], [0.0, 1.0]]
            .map(|[low, high]| Bounds::new(low, high))
            .into_iter()
            .collect(),
        planned: 3_000,
        ..BaselineSide::default()
    };
    let row = BaselineRow {
        load: "steady".to_owned(),
        system: "puma\u{1b}[31m".to_owned(),
        sides: vec![side],
        ..BaselineRow::default()
    };
    let found = FoundBaseline {
        id: "s-20261121-142501-k3f9".to_owned(),
        origin: Origin { label: Some("main".to_owned()), ..Origin::default() },
        loads: vec![BaselineLoad { name: "steady".to_owned(), ..BaselineLoad::default() }],
        rows: vec![row],
        ..FoundBaseline::default()
    };
    Baseline {
        asked: AskedBaseline::Label("main".to_owned()),
        conditions: vec!["throughput>=95% of baseline".to_owned()],
        found: Ok(Box::new(found)),
    }
}

fn rows(path: &std::path::Path) -> i64 {
    let file = rusqlite::Connection::open(path).unwrap();
    file.query_row("SELECT count(*) FROM baseline", [], |row| row.get(0)).unwrap()
}

#[test]
fn baseline_of_a_study_is_stored_at_its_start_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (path, exported) = (folder.path().join("s"), folder.path().join("exported"));
    let store = Store::open(&path).unwrap();
    let id = store.begin_study_with_baseline(&sample::new_study(), Some(&baseline())).unwrap();
    let without = store.begin_study(&sample::new_study()).unwrap();
    assert_eq!(store.load_study(&id).unwrap().baseline, Some(baseline()));
    assert_eq!(store.load_study(&without).unwrap().baseline, None);
    store.export_study(&id, &exported).unwrap();
    assert_eq!(Store::open(&exported).unwrap().load_study(&id).unwrap().baseline, Some(baseline()));
    store.delete_study(&id).unwrap();
    assert_eq!(rows(&path), 0);
}

#[test]
fn baseline_of_a_run_is_replaced_and_deleted_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    store.keep_baseline(&id, &baseline()).unwrap();
    let none = Baseline { found: Err("no stored run has the label main yet".to_owned()), ..baseline() };
    store.keep_baseline(&id, &none).unwrap();
    assert_eq!(store.load(&id).unwrap().baseline, Some(none));
    store.delete(&id).unwrap();
    assert_eq!(rows(&path), 0);
}

#[test]
fn rows_and_figures_are_found_by_name() {
    let found = baseline().found.unwrap();
    let row = found.row("steady", "puma\u{1b}[31m", "").unwrap();
    assert_eq!(row.side("throughput>=95% of baseline").unwrap().planned, 3_000);
    assert!(row.side("p99<=110% of baseline").is_none() && found.row("steady", "puma", "").is_none());
    assert!(found.load("steady").is_some() && found.load("").is_none());
}

#[test]
fn non_finite_and_damaged_baselines_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let mut endless = baseline();
    if let Ok(found) = &mut endless.found {
        found.rows[0].sides[0].figures[0] = f64::NAN;
    }
    assert!(store.begin_study_with_baseline(&sample::new_study(), Some(&endless)).is_err());
    let id = store.begin_study_with_baseline(&sample::new_study(), Some(&baseline())).unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    for damage in ["", "{", "{\"asked\":1}", "null"] {
        file.execute("UPDATE baseline SET stored = ?1", [damage]).unwrap();
        let error = store.load_study(&id).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{damage}: {error}");
    }
}
