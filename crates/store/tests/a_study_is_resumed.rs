//! An interrupted study resumes where it stopped, with a single writer.

use crate::sample;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use evidence::{Ending, NewRun, StudyEnding, StudyId, StudyPlace, StudyState, Verdict};
use store::{Store, StoreError};

const STORE: &str = "TENBIN_TEST_STORE";
const STUDY: &str = "TENBIN_TEST_STUDY";

const END: StudyEnding = StudyEnding {
    ended_at_unix_ms: sample::STARTED_AT_UNIX_MS + 60_000,
    verdict: Verdict::Partial,
    why: None,
};

/// Runs as the child process of other tests here: begins or resumes a study, and lives until its stdin ends. Does
/// nothing if it runs as a normal test.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = Store::open(Path::new(&path)).unwrap();
    let answer = match std::env::var(STUDY) {
        Ok(id) => match store.resume_study(&id.parse().unwrap(), None) {
            Ok(()) => "resumed".to_owned(),
            Err(StoreError::StudyRunning { .. }) => "running".to_owned(),
            Err(other) => other.to_string(),
        },
        Err(_) => {
            let new = sample::new_study();
            let id = store.begin_study(&new).unwrap();
            let done = sample::begin_at(&store, &id, &new.planned[0]);
            store.finish(&done, &sample::ending()).unwrap();
            sample::begin_at(&store, &id, &new.planned[1]);
            id.to_string()
        }
    };
    writeln!(std::io::stderr(), "\nanswer {answer}").unwrap();
    drop(std::io::stdin().read_line(&mut String::new()));
}

/// A process that writes a study. It ends when its stdin is dropped.
struct Writer {
    process: Child,
    stdin: Option<ChildStdin>,
    answer: String,
}

fn start(store: &Path, study: Option<&StudyId>) -> Writer {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_study_is_resumed::child", "--nocapture"]).env(STORE, store).env_remove(STUDY);
    if let Some(study) = study {
        command.env(STUDY, study.as_str());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let answer = lines.find_map(|line| Some(line.unwrap().strip_prefix("answer ")?.to_owned())).unwrap();
    Writer { stdin: process.stdin.take(), process, answer }
}

impl Writer {
    fn end(mut self) {
        drop(self.stdin.take());
        self.process.wait().unwrap();
    }
}

#[test]
fn study_can_be_taken_over_once_its_writer_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let first = start(&path, None);
    let id: StudyId = first.answer.parse().unwrap();
    let store = Store::open_existing(&path).unwrap();
    let new = sample::new_study();

    let state = store.studies().unwrap()[0].state;
    let error = store.resume_study(&id, None).unwrap_err();
    let run = NewRun { place: Some((id.clone(), new.planned[2].clone())), ..sample::new_run() };
    let meddling = [store.begin(&run).map(drop), store.finish_study(&id, &END)];
    first.end();
    assert_eq!(state, StudyState::Running);
    assert!(matches!(error, StoreError::StudyRunning { .. }), "{error}");
    for answer in meddling {
        assert!(matches!(answer, Err(StoreError::StudyTakenOver { .. })), "{answer:?}");
    }

    assert_eq!(store.studies().unwrap()[0].state, StudyState::Interrupted);
    assert_eq!(store.missing(&id).unwrap(), new.planned[1..]);
    store.resume_study(&id, None).unwrap();
    assert_eq!(store.load_study(&id).unwrap().state, StudyState::Running);
    for place in &new.planned[1..] {
        let run = sample::begin_at(&store, &id, place);
        store.finish(&run, &sample::ending()).unwrap();
    }
    store.finish_study(&id, &StudyEnding { verdict: Verdict::Complete, ..END }).unwrap();
    let study = store.load_study(&id).unwrap();
    assert_eq!((study.state, study.runs.len(), study.superseded.len()), (StudyState::Complete, 6, 1));
    assert!(matches!(store.resume_study(&id, None), Err(StoreError::StudyComplete { .. })));
}

#[test]
fn one_of_several_processes_takes_over_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let first = start(&path, None);
    let id: StudyId = first.answer.parse().unwrap();
    first.end();
    let writers: Vec<Writer> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| start(&path, Some(&id)))).collect();
        starting.into_iter().map(|starting| starting.join().unwrap()).collect()
    });
    let mut answers: Vec<String> = writers.iter().map(|writer| writer.answer.clone()).collect();
    writers.into_iter().for_each(Writer::end);
    answers.sort();
    assert_eq!(answers, ["resumed", "running", "running", "running"]);
}

fn study(store: &Store) -> (StudyId, Vec<StudyPlace>) {
    let new = sample::new_study();
    (store.begin_study(&new).unwrap(), new.planned)
}

#[test]
fn place_is_done_after_a_run_that_need_not_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    for failure in [None, sample::failed().failure] {
        for verdict in Verdict::ALL {
            let (id, places) = study(&store);
            let run = sample::begin_at(&store, &id, &places[0]);
            let ending = Ending { verdict, failure: failure.clone(), ..sample::ending() };
            store.finish(&run, &ending).unwrap();
            let is_missing = store.missing(&id).unwrap().contains(&places[0]);
            let expected = failure.is_none() && matches!(verdict, Verdict::Partial | Verdict::Aborted);
            assert_eq!((is_missing, ending.is_done()), (expected, !expected), "{verdict} {failure:?}");
            let study = store.load_study(&id).unwrap();
            assert_eq!(
                study.missing().collect::<Vec<_>>(),
                store.missing(&id).unwrap().iter().collect::<Vec<_>>()
            );
            assert_eq!(store.studies().unwrap()[0].done, u64::from(!expected));
        }
    }
}

#[test]
fn latest_completed_run_counts_and_others_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let (id, places) = study(&store);
    let run = |position: usize, verdict: Option<Verdict>| {
        let run = sample::begin_at(&store, &id, &places[position]);
        if let Some(verdict) = verdict {
            store.finish(&run, &Ending { verdict, ..sample::ending() }).unwrap();
        }
        run
    };
    let repeated = [
        run(0, Some(Verdict::Partial)),
        run(0, None),
        run(0, Some(Verdict::Complete)),
        run(0, Some(Verdict::Partial)),
    ];
    let ended = [run(1, None), run(1, Some(Verdict::Aborted)), run(1, Some(Verdict::Partial)), run(1, None)];
    let twice = [run(2, Some(Verdict::Invalid)), run(2, Some(Verdict::Degraded))];
    let never = [run(3, None)];

    let study = store.load_study(&id).unwrap();
    let counting: Vec<_> = study.runs.iter().map(|run| run.id.clone()).collect();
    assert_eq!(counting, [&repeated[2], &ended[2], &twice[1]].map(Clone::clone));
    let others =
        [&repeated[0], &repeated[1], &repeated[3], &ended[0], &ended[1], &ended[3], &twice[0], &never[0]];
    assert_eq!(study.superseded, others.map(Clone::clone));
    let missing: Vec<u32> = store.missing(&id).unwrap().iter().map(|place| place.position).collect();
    assert_eq!(missing, [1, 3, 4, 5]);
    for run in others {
        assert_eq!(store.find(run.as_str()).unwrap(), *run, "it stays in the store");
    }
}

#[test]
fn stopped_study_can_be_resumed_by_its_own_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let (id, _) = study(&store);
    assert!(matches!(store.resume_study(&id, None), Err(StoreError::StudyRunning { .. })));
    store.finish_study(&id, &END).unwrap();
    let listed = &store.studies().unwrap()[0];
    assert_eq!((listed.state, listed.verdict), (StudyState::Interrupted, Some(Verdict::Partial)));
    store.resume_study(&id, None).unwrap();
    let listed = &store.studies().unwrap()[0];
    assert_eq!((listed.state, listed.verdict), (StudyState::Running, None));
    store.finish_study(&id, &END).unwrap();
}
