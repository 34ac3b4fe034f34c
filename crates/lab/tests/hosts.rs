//! Tests of systems on a separate host, in real network namespaces. They need root and iproute2.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use crate::support::{Bench, SUBJECT};
use lab::hosts::free_network;
use lab::{Recipe, When};

fn namespaces() -> Vec<String> {
    let own = format!("tnb-{}:", std::process::id());
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&own)).collect()
}

#[test]
fn system_on_a_host_is_reachable_over_its_link_and_removed_at_stop() {
    lab::hosts::check().unwrap_or_else(|failure| panic!("this test needs root and iproute2: {failure}"));
    let bench = Bench::new();
    let network = free_network().expect("a network");
    let address = SocketAddr::from((network.there, 7_100));
    let text = address.to_string();
    let process = bench.process("far", bench.command(&[SUBJECT, "http-at", &text]), When::Tcp(address));
    let mut aside = bench.script("near", "ls -l /proc/self/ns/net > near; exec sleep 60");
    aside.is_aside = true;
    let mut recipe = bench.recipe(vec![aside, process]);
    recipe.before = vec![bench.sh("ls -l /proc/self/ns/net > far; ip addr show dev eth0 > addresses")];
    recipe.network = Some(network);
    let system =
        lab::start(recipe, &|| false).unwrap_or_else(|failure| panic!("{failure}\n{:?}", failure.outputs));
    TcpStream::connect(address).expect("it is reached");
    assert!(TcpStream::connect(("127.0.0.1", 7_100)).is_err(), "not on this loopback");
    assert!(bench.read("addresses").contains(&network.there.to_string()), "{}", bench.read("addresses"));
    let own = std::fs::read_link("/proc/self/ns/net").expect("a namespace");
    let is_own = |text: String| text.contains(&*own.to_string_lossy());
    assert!(!is_own(bench.read("far")), "commands run on the host, too");
    assert!(is_own(bench.read("near")), "a proxy does not");
    assert!(!namespaces().is_empty());
    assert_eq!(system.stop().failures, []);
    assert_eq!(namespaces(), Vec::<String>::new());
    bench.assert_clean();
}

#[test]
fn failed_start_leaves_no_host() {
    let bench = Bench::new();
    let network = Some(free_network().expect("a network"));
    let recipe = Recipe {
        network,
        ..bench.recipe(vec![bench.process("p", bench.sh("exit 3"), When::Log("x".into()))])
    };
    let failure = lab::start(recipe, &|| false).expect_err("it ends");
    assert!(failure.what.starts_with("exited with code 3"), "{failure}");
    assert!(!Path::new(&format!("/run/netns/tnb-{}", std::process::id())).exists());
    bench.assert_clean();
}
