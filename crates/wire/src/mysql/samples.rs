//! Sample replies to `SELECT 1` without optional capabilities, valid and invalid, with the expected result of each.

use alloc::vec;
use alloc::vec::Vec;

use super::outgoing::put;
use crate::ErrorClass;
use crate::testing::{End, Sample};

/// All samples of MySQL.
pub(super) fn all() -> Vec<Sample> {
    let mut samples = replies();
    samples.extend(faults());
    samples.extend(framing());
    samples
}

/// Encodes packets of a server, with sequence numbers from 1.
fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    payloads
        .iter()
        .fold(1, |sequence, payload| put(&mut out, sequence, |out| out.extend_from_slice(payload)));
    out
}

fn sample(name: &'static str, payloads: &[&[u8]], end: End) -> Sample {
    Sample { name, bytes: packets(payloads), end }
}

const ONE_COLUMN: &[u8] = &[1];
/// A column `1` of type BIGINT.
const DEFINITION: &[u8] = b"\x03def\0\0\0\x011\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0";
const OLD_END: &[u8] = &[0xfe, 0, 0, 2, 0];
const OLD_END_MORE: &[u8] = &[0xfe, 0, 0, 0x0a, 0];
const ROW: &[u8] = b"\x011";
const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];
const OK_MORE: &[u8] = &[0, 1, 0, 0x0a, 0, 0, 0];
const DENIED: &[u8] = b"\xff\x7a\x04#42S02Table 'test.nothing' doesn't exist";

fn replies() -> Vec<Sample> {
    let replied = End::Replied { status: 1, reusable: true };
    let long = [&[0xfc, 0x2c, 0x01][..], &[b'x'; 300]].concat();
    let with_info = [OK, b"Rows matched: 1  Changed: 1  Warnings: 0"].concat();
    vec![
        sample("success", &[OK], replied),
        sample("success with words", &[&with_info], replied),
        sample("large counts", &[&[0, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8, 0xfd, 1, 2, 3, 2, 0, 0, 0]], replied),
        sample("one row", &[ONE_COLUMN, DEFINITION, OLD_END, ROW, OLD_END], replied),
        sample("no row", &[ONE_COLUMN, DEFINITION, OLD_END, OLD_END], replied),
        sample("NULL", &[ONE_COLUMN, DEFINITION, OLD_END, &[0xfb], OLD_END], replied),
        sample("rows", &[ONE_COLUMN, DEFINITION, OLD_END, ROW, &long, ROW, OLD_END], replied),
        sample("two columns", &[&[2], DEFINITION, DEFINITION, OLD_END, b"\x011\x012", OLD_END], replied),
        sample("an error", &[DENIED], replied),
        sample("an error without SQLSTATE", &[b"\xff\x10\x04Too many connections"], replied),
        sample("an error among definitions", &[ONE_COLUMN, b"\xff\x2e\x05#HY000Interrupted"], replied),
        sample(
            "an error among rows",
            &[ONE_COLUMN, DEFINITION, OLD_END, ROW, b"\xff\x25\x05#70100Killed"],
            replied,
        ),
        sample("two results", &[OK_MORE, OK], replied),
        sample("rows, then a success", &[ONE_COLUMN, DEFINITION, OLD_END, ROW, OLD_END_MORE, OK], replied),
        sample("a success, then an error", &[OK_MORE, DENIED], replied),
    ]
}

fn faults() -> Vec<Sample> {
    let fault = |sentence| End::Fault(ErrorClass::ProtocolError, sentence);
    let malformed = fault("a packet of the reply is malformed");
    let differ = fault("the reply has another number of columns than it announced");
    vec![
        sample("an empty packet", &[&[]], malformed),
        sample("a short success", &[&[0, 1, 0, 2]], malformed),
        sample("a short error", &[&[0xff, 1]], malformed),
        sample("no columns", &[&[0xfc, 0, 0]], malformed),
        sample("a count past its packet", &[&[0xfd, 1]], malformed),
        sample("a count and more", &[&[1, 1]], malformed),
        sample(
            "far too many columns",
            &[&[0xfc, 1, 0x10]],
            fault("the reply announces more than 4096 columns"),
        ),
        sample(
            "2^63 columns",
            &[&[0xfe, 0, 0, 0, 0, 0, 0, 0, 0x80]],
            fault("the reply announces more than 4096 columns"),
        ),
        sample("too few definitions", &[&[2], DEFINITION, OLD_END], differ),
        sample("too many definitions", &[ONE_COLUMN, DEFINITION, DEFINITION], differ),
        sample("an empty row", &[ONE_COLUMN, DEFINITION, OLD_END, &[]], malformed),
        sample("an end cut short", &[ONE_COLUMN, DEFINITION, OLD_END, &[0xfe, 0]], malformed),
        sample("cut short", &[ONE_COLUMN, DEFINITION, OLD_END, ROW], End::Incomplete),
    ]
}

fn framing() -> Vec<Sample> {
    let fault = |sentence| End::Fault(ErrorClass::ProtocolError, sentence);
    let mut cut = packets(&[ONE_COLUMN, DEFINITION, OLD_END, b"\x05hello"]);
    cut.truncate(cut.len() - 3);
    let mut swapped = packets(&[ONE_COLUMN, DEFINITION]);
    swapped[3] = 2;
    let sequence = fault("the packets of the reply are out of sequence");
    vec![
        Sample { name: "a row cut short", bytes: cut, end: End::Incomplete },
        Sample { name: "a header cut short", bytes: vec![7, 0], end: End::Incomplete },
        Sample { name: "a wrong number", bytes: swapped, end: sequence },
        Sample { name: "another protocol", bytes: b"SSH-2.0-OpenSSH_9.2p1\r\n".to_vec(), end: sequence },
        Sample {
            name: "a huge first packet",
            bytes: vec![0xff, 0xff, 0x7f, 1, 3],
            end: fault("a packet is longer than any of its kind can be"),
        },
        Sample {
            name: "last words",
            bytes: b"\x0d\0\0\0\xff\xbf\x0f#08S01idle".to_vec(),
            end: End::Replied { status: 1, reusable: false },
        },
    ]
}
