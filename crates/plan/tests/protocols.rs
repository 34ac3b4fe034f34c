//! URLs of all protocols.

use plan::{Database, Draft};
use wire::{Compile, PROTOCOLS};

#[test]
fn loads_every_scheme_with_its_default_port() {
    for protocol in PROTOCOLS {
        for scheme in protocol.schemes {
            let url = format!("{}://somebody@127.0.0.1/x", scheme.name);
            let (port, is_secure) = match protocol.compile {
                Compile::StepsWithExtraKeys(..) | Compile::Steps(_) => {
                    let query = protocol.own_steps().map_or("", |own| own.query);
                    let url = match protocol.own_steps().and_then(|own| own.log_in) {
                        // The path of a Sentinel is the name of a master.
                        Some(_) if scheme.name.ends_with("+sentinel") => {
                            format!("{}://somebody@127.0.0.1/mymaster{query}", scheme.name)
                        }
                        Some(_) => format!("{}://somebody@127.0.0.1{query}", scheme.name),
                        None => format!("{url}{query}"),
                    };
                    let plan = Draft { url, ..Draft::default() }.check().expect("a plan");
                    assert_eq!(plan.endpoint().protocol().map(|protocol| protocol.name), Some(protocol.name));
                    (plan.endpoint().peer().port, plan.endpoint().peer().tls.is_some())
                }
                Compile::Transactions(_) => {
                    let database = Database::read(&url).expect("a database");
                    (database.peers[0].port, scheme.is_secure)
                }
            };
            assert_eq!((port, is_secure), (scheme.port, scheme.is_secure), "{}", scheme.name);
        }
    }
}

#[test]
fn unknown_scheme_lists_all_known_ones() {
    let faults = Draft { url: "gopher://127.0.0.1/".to_owned(), ..Draft::default() }.check().unwrap_err();
    let words = faults.iter().map(ToString::to_string).collect::<String>();
    for scheme in PROTOCOLS.iter().flat_map(|protocol| protocol.schemes) {
        assert!(words.contains(scheme.name), "{words}");
    }
}
