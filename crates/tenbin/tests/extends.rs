//! A complete study can be extended by further blocks, and reports the effect on its error rate.

use std::fs;

use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, number};

#[test]
fn extended_study_reports_its_error_rate() {
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = "scenario:\n  - get: /status\nload: { users: 1, for: 300ms }\nsystems:\n  target:\n    start: '{tenbin} target \
                --listen 127.0.0.1:{port} --threads {n}'\n    vary: { n: [1, 2] }\ncompare: { blocks: 2 }\n";
    fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    let resume = |more: &[&str]| home.run(&[&["run", &path, "--resume"], more].concat());

    let none = resume(&["--blocks", "3"]);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(none.stderr.contains("is stored"), "{none:?}");

    let study = home.json(&["run", &path]);
    assert_eq!(study["comparison"]["error_rate"], 0.05);
    assert_eq!(study["comparison"]["extended_to"], serde_json::json!([]));
    let finished = resume(&[]);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(
        finished.stderr.contains("is complete") && finished.stderr.contains("--blocks N"),
        "{finished:?}"
    );
    for (bad, help) in
        [("2", "write a number from 3 to 200"), ("201", "from 3 to 200"), ("0", "1.."), ("many", "invalid")]
    {
        let refused = resume(&["--blocks", bad]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(help), "{refused:?}");
    }
    let alone = home.run(&["run", &path, "--blocks", "3"]);
    assert!(alone.code == Some(2) && alone.stderr.contains("--resume"), "{alone:?}");

    let study = home.json(&["run", &path, "--resume", "--blocks", "3"]);
    assert_eq!(study["comparison"]["error_rate"], 0.075);
    assert_eq!(study["comparison"]["extended_to"], serde_json::json!([3]));
    assert_eq!((number(&study, "study.blocks"), number(&study, "study.done")), (3, 6));
    let blocks: Vec<u64> =
        study["runs"].as_array().expect("a list").iter().map(|run| number(run, "place.block")).collect();
    assert_eq!(blocks, [0, 0, 1, 1, 2, 2]);

    let again = resume(&["--blocks", "4"]);
    assert!(again.stderr.contains("from 3 to 4 blocks"), "{again:?}");
    for format in ["terminal", "md", "html"] {
        let report = home.run(&["report", "--format", format]);
        assert!(report.stdout.contains("8.75 % instead of 5 %"), "{format}: {report:?}");
    }
    assert_nothing_is_left(&home);
}

#[test]
fn comparison_of_two_is_extended_to_the_added_blocks() {
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = "scenario:\n  - get: /status\nload: { users: 1, for: 200ms }\nsystems:\n  target:\n    start: '{tenbin} target \
                --listen 127.0.0.1:{port} --threads {n}'\n    vary: { n: [1, 2] }\ncompare: { blocks: 6, pilot: 0 }\n";
    fs::write(&path, text).expect("written");
    let path = path.to_string_lossy().into_owned();
    let study = home.json(&["run", &path]);
    assert_eq!(study["study"]["procedure"]["kind"], "duel");
    assert_eq!(number(&study["comparison"]["pairs"][0], "common_blocks"), 6);
    let finished = home.run(&["run", &path, "--resume"]);
    assert!(finished.stderr.contains("is complete, with 6 blocks"), "{finished:?}");
    let few = home.run(&["run", &path, "--resume", "--blocks", "6"]);
    assert!(few.code == Some(2) && few.stderr.contains("from 7 to 200"), "{few:?}");

    let extended = home.run(&["run", &path, "--resume", "--blocks", "8"]);
    assert!(extended.stderr.contains("from 6 to 8 blocks"), "{extended:?}");
    let study = home.json(&["report"]);
    let pair = &study["comparison"]["pairs"][0];
    assert_eq!((number(pair, "common_blocks"), number(pair, "blocks")), (8, 8), "{pair}");
    // 2.5 % at most, instead of the 1.25 % of a single look.
    assert!(pair["confidence"].as_f64().is_some_and(|of| (0.975..0.98).contains(&of)), "{pair}");
    assert_eq!(study["comparison"]["error_rate"], 0.075);
    assert_eq!(study["study"]["state"], "complete");
    assert_nothing_is_left(&home);
}

#[test]
fn study_whose_program_was_replaced_is_not_extended() {
    let home = Home::new();
    let (path, server) = (home.path().join("plan.yaml"), home.path().join("server.py"));
    let text = "scenario:\n  - get: /\nload: { users: 1, for: 200ms }\nsystems:\n  python:\n    start: python3 server.py {port}\n\
                compare: { blocks: 1 }\n";
    fs::write(&path, text).expect("written");
    let code = "import http.server, sys\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        \
                self.send_response(200)\n        self.send_header('Content-Length', '0')\n        self.end_headers()\n    \
                def log_message(self, *a): pass\nhttp.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n";
    fs::write(&server, code).expect("written");
    let first = home.run(&["run", "plan.yaml"]);
    assert!([Some(0), Some(4), Some(6)].contains(&first.code), "{first:?}");

    fs::write(&server, format!("{code}# another version\n")).expect("written");
    let extended = home.run(&["run", "plan.yaml", "--resume", "--blocks", "2"]);
    assert_eq!(extended.code, Some(2), "{extended:?}");
    assert!(extended.stderr.contains("server.py changed since the study began"), "{extended:?}");

    fs::write(&server, code).expect("written");
    let extended = home.run(&["run", "plan.yaml", "--resume", "--blocks", "2"]);
    assert!(extended.stderr.contains("from 1 to 2 blocks"), "{extended:?}");
    assert_nothing_is_left(&home);
}
