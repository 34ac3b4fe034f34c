//! `/insert` creates each e-mail address once, for any number of concurrent requests.

use crate::client::Client;
use target::{Settings, start};

#[test]
fn each_email_is_created_once_under_many_threads() {
    for threads in [0, 3] {
        let target =
            start(Settings { threads, workers: 2, pool: 3, ..Settings::default() }).expect("a target");
        let insert = |thread: usize| {
            let mut client = Client::connect(target.address());
            let mut created = 0;
            // Each address is requested by two threads.
            for number in 0..40 {
                let email = format!("email=user{number}of{}%40example.org", thread / 2);
                let reply = client.post("/insert", email.as_bytes());
                assert!(matches!(reply.status, 201 | 409), "{reply:?}");
                reply.number("x-pool-wait-us");
                created += usize::from(reply.status == 201);
            }
            created
        };
        let created: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || insert(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a client")).sum()
        });
        assert_eq!(created, 160);
        assert_eq!(target.rows(), Ok(160));
        assert_eq!(target.counters().inserts, 160);
        assert_eq!(target.counters().replies, [0, 160, 0, 160, 0]);
    }
}

#[test]
fn form_json_and_query_address_one_row() {
    let target = start(Settings::default()).expect("a target");
    let mut client = Client::connect(target.address());
    assert_eq!(client.post("/insert", b"email=a%40b.c").status, 201);
    assert_eq!(client.post("/insert", b"{\"email\": \"a@b.c\"}").status, 409);
    assert_eq!(client.get("/insert?email=a@b.c").status, 409);
    assert_eq!(client.post("/insert", b"nothing").status, 400);
    assert_eq!(target.rows(), Ok(1));
}

#[test]
fn named_file_keeps_its_rows() {
    let file = std::env::temp_dir().join(format!("tenbin-target-test-{}.sqlite", std::process::id()));
    for expected in [201, 409] {
        let target =
            start(Settings { database: Some(file.clone()), ..Settings::default() }).expect("a target");
        assert_eq!(Client::connect(target.address()).get("/insert?email=a@b.c").status, expected);
        assert_eq!(target.rows(), Ok(1));
    }
    std::fs::remove_file(&file).expect("the file is there");
}
