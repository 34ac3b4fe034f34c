//! Messages of rejected replies quote the wrong bytes, escaped and with a max length, or name the server that answered.

use wire::Conversation;
use wire::http1::{Checks, Http1, Request};
use wire::{Progress, Script};

/// Error message for a reply to GET.
fn message(reply: &[u8]) -> String {
    let mut conversation =
        Http1::single(&Request::get("h", "/"), Checks::default()).expect("a request").open(0);
    conversation.begin(0);
    match conversation.received(reply) {
        Err(fault) => fault.message(),
        Ok(progress) => panic!("{progress:?}"),
    }
}

#[test]
fn quotes_malformed_header_near_wrong_byte() {
    let quoted = |line: &str| message(format!("HTTP/1.1 200 OK\r\nA: b\r\n{line}\r\n\r\n").as_bytes());
    for (line, shown) in [
        ("X: a\0b", r"X: a\x00b\r\n"),
        ("no colon", r"no colon\r\n"),
        ("(x): 1", r"(x): 1\r\n"),
        ("X: 0123456789012345678901234567890\u{1}tail", r"901234567890\x01tail\r\n"),
    ] {
        assert_eq!(quoted(line), format!("a header line of the reply is malformed: \"{shown}\""), "{line:?}");
    }
    let framing = message(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(framing, "the reply has two different Content-Lengths: \"2\"");
}

#[test]
fn names_server_of_another_protocol_even_if_it_speaks_first() {
    let banner = b"J\0\0\0\x0a8.0.36\0";
    assert_eq!(message(banner).split(": \"").next(), Some("a MySQL server answered: write mysql://"));
    let mut idle = Http1::single(&Request::get("h", "/"), Checks::default()).expect("a request").open(0);
    let fault = idle.received(b"SSH-2.0-x\r\n").map(|_: Progress| ()).expect_err("no request was sent");
    assert_eq!(fault.message(), r#"an SSH server answered: correct the port: "SSH-2.0-x\r\n""#);
}
