//! A load whose tables violate the consistency conditions of their workload does not succeed.

use crate::support::{self, Home};
use servers::{Postgres, PostgresSettings};

#[test]
fn inconsistent_tables_end_load_and_study_with_an_exit_code_of_their_own() {
    let server = Postgres::start(&PostgresSettings::default()).expect("a server");
    let (home, url) = (Home::new(), server.admin_url());
    let tables = ["--table-size", "1000"];
    let mut command = std::process::Command::new(support::TENBIN);
    home.isolate(&mut command);
    command.args(["prepare", &url, "--workload", "tpcc-like"]).args(tables);
    let prepared = support::Started::spawn(command).finish();
    assert_eq!(prepared.code, Some(0), "{prepared:?}");
    let load = |more: &[&str]| {
        home.run(&[&[&url, "--workload", "tpcc-like", "-c", "2", "-n", "40"], &tables[..], more].concat())
    };
    let sound = load(&[]);
    // On a busy machine, a load this short may be invalid, or have an outage.
    assert!(matches!(sound.code, Some(0 | 4 | 6)), "{sound:?}");
    let words = sound.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("hold after the load"), "{sound:?}");
    server
        .sql(
            "DELETE FROM tpcc_order_line WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 5 AND ol_number = 2",
        )
        .expect("deleted");
    let plan = format!(
        "scenario: [ workload: tpcc-payment ]\nload: {{ users: 2, requests: 40 }}\nsql: {{ table-size: 1000 }}\nurl: {}\n",
        server.url(Postgres::USER, None)
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("a file");
    let mut command = home.command(&["run", "plan.yaml"]);
    command.env("PGPASSWORD", Postgres::PASSWORD);
    let study = support::Started::spawn(command).finish();
    assert!(matches!(study.code, Some(4 | 7)), "{study:?}");
    let broken = load(&["--format", "json"]);
    assert!(matches!(broken.code, Some(4 | 7)), "{broken:?}");
    for text in [r#""stage":"consistency""#, "clause 3.3.2.4"] {
        assert!(broken.stdout.replace("\": ", "\":").contains(text), "{text}: {broken:?}");
    }
}
