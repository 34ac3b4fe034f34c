//! Keys of the resource limits of a system.

use super::{key, table};
use crate::file::form;
use crate::file::keys::{Table, ValueKind};
use ValueKind::{One, OneOrList};

pub(crate) static RESOURCES: Table = Table {
    name: "resources",
    sentence: "What the processes of a system together may use at most. Values may contain parameters, such as `\"{cpu}\"`.",
    example: "{ cpu: 0.5, memory: 256MiB }",
    keys: &[
        key(
            "cpu",
            "0.4",
            One(&form::CPU),
            "CPU time, in cores: 0.4 is 40 % of one core. Metered over 100 ms.",
        ),
        key(
            "cores",
            "[ 0, 1 ]",
            OneOrList(&One(&form::CORES)),
            "CPU cores that it runs on: numbers, and ranges such as 0-3.",
        ),
        key(
            "memory",
            "256MiB",
            One(&form::MEMORY),
            "Memory, without swap; at least 1MiB. The kernel kills a system that needs more.",
        ),
        key("io", "{ read: 10MiB/s }", table(&IO), "Reads and writes of each disk."),
    ],
};

pub(crate) static IO: Table = Table {
    name: "io",
    sentence: "What the processes of a system may read from and write to each disk. Version 1 of control groups does not limit writes \
               that go through the page cache.",
    example: "{ read: 10MiB/s, write: 5MiB/s }",
    keys: &[
        key("read", "10MiB/s", One(&form::BANDWIDTH), "Bytes read per second."),
        key("write", "5MiB/s", One(&form::BANDWIDTH), "Bytes written per second."),
        key("read-iops", "100/s", One(&form::OPERATIONS), "Reads per second."),
        key("write-iops", "50/s", One(&form::OPERATIONS), "Writes per second."),
    ],
};
