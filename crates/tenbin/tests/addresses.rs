//! Hosts with several addresses: connections use them in turn.

use std::net::{Ipv4Addr, SocketAddr};

use target::{Running, Settings};

use crate::support::{Home, built_in, number};

/// Starts servers on 127.0.0.1 and 127.0.0.2, with equal ports.
fn two_servers() -> [Running; 2] {
    for _ in 0..20 {
        let first = built_in();
        let address = SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), first.address().port());
        if let Ok(second) = target::start(Settings { address, ..Settings::default() }) {
            return [first, second];
        }
    }
    panic!("no port is free on both addresses");
}

#[test]
fn connections_use_the_addresses_of_a_host_in_turn() {
    let (home, servers) = (Home::new(), two_servers());
    let port = servers[0].address().port();
    let url = format!("http://app.invalid:{port}/status");
    let resolve = format!("app.invalid:{port}:127.0.0.1,127.0.0.2");
    let flags = [url.as_str(), "--resolve", &resolve, "-n", "40"];
    let run = home.json(&[&flags[..], &["-c", "4"]].concat());
    assert_eq!(number(&run, "outcomes.ok"), 40, "{run}");
    for server in &servers {
        // Before the load, one more connection checks that the server is up.
        let accepted = server.counters().accepted;
        assert!((2..=3).contains(&accepted), "{accepted} connections on {}", server.address());
        assert!(server.counters().requests > 0);
    }
    let before = servers.each_ref().map(|server| server.counters().accepted);
    let output = home.run(&[&flags[..], &["-c", "1", "--no-keepalive"]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    for (server, before) in servers.iter().zip(before) {
        let accepted = server.counters().accepted - before;
        assert!((20..=21).contains(&accepted), "{accepted} connections on {}", server.address());
    }
    let words: String = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = format!("connections go in turn to 127.0.0.1:{port}, 127.0.0.2:{port}");
    assert!(words.contains(&said), "{output:?}");
}

#[test]
fn rejects_host_with_an_address_that_may_not_be_loaded() {
    let (home, target) = (Home::new(), built_in());
    let port = target.address().port();
    let url = format!("http://app.invalid:{port}/status");
    for (addresses, said) in [
        ("127.0.0.1,8.8.8.8", "8.8.8.8 is a public address"),
        ("127.0.0.1,169.254.169.254", "169.254.169.254 is a link-local address"),
        ("127.0.0.1,", "is not HOST:PORT:ADDRESS[,ADDRESS]"),
    ] {
        let output = home.run(&[url.as_str(), "--resolve", &format!("app.invalid:{port}:{addresses}")]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{addresses}: {output:?}");
    }
    assert_eq!(target.counters().accepted, 0);
}
