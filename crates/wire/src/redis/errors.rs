//! Error classes of error replies, by their prefixes.

use crate::ErrorClass;

/// Prefixes with their classes. The whole first word of an error is compared.
pub(super) const PREFIXES: &[(&str, ErrorClass)] = &[
    ("WRONGTYPE", ErrorClass::WrongType),
    ("MOVED", ErrorClass::Moved),
    ("ASK", ErrorClass::Moved),
    ("TRYAGAIN", ErrorClass::NotReady),
    ("LOADING", ErrorClass::NotReady),
    ("BUSY", ErrorClass::NotReady),
    ("UNKILLABLE", ErrorClass::NotReady),
    ("CLUSTERDOWN", ErrorClass::NotReady),
    ("MASTERDOWN", ErrorClass::NotReady),
    ("NOMASTERLINK", ErrorClass::NotReady),
    ("NOREPLICAS", ErrorClass::NotReady),
    ("NOGOODSLAVE", ErrorClass::NotReady),
    ("OOM", ErrorClass::OutOfResources),
    ("MISCONF", ErrorClass::OutOfResources),
    ("READONLY", ErrorClass::ReadOnly),
    ("NOAUTH", ErrorClass::MissingPrivilege),
    ("NOPERM", ErrorClass::MissingPrivilege),
    ("WRONGPASS", ErrorClass::MissingPrivilege),
    ("DENIED", ErrorClass::MissingPrivilege),
    ("NOSCRIPT", ErrorClass::MissingObject),
    ("NOGROUP", ErrorClass::MissingObject),
    ("BUSYKEY", ErrorClass::ObjectExists),
    ("BUSYGROUP", ErrorClass::ObjectExists),
    ("UNBLOCKED", ErrorClass::Canceled),
    ("EXECABORT", ErrorClass::BadStatement),
    ("CROSSSLOT", ErrorClass::CrossSlot),
    ("NOPROTO", ErrorClass::BadStatement),
];

/// Beginnings of errors with the unspecific prefix `ERR`.
const ERR_PREFIXES: &[(&str, ErrorClass)] = &[
    ("ERR max number of clients", ErrorClass::TooManyConnections),
    ("ERR unknown command", ErrorClass::BadStatement),
    ("ERR Unknown subcommand", ErrorClass::BadStatement),
    ("ERR unknown subcommand", ErrorClass::BadStatement),
    ("ERR wrong number of arguments", ErrorClass::BadStatement),
    ("ERR syntax error", ErrorClass::BadStatement),
    ("ERR no such key", ErrorClass::MissingObject),
    ("ERR index out of range", ErrorClass::MissingObject),
];

/// Class of an error reply, given without its type byte.
pub(super) fn class(error: &[u8]) -> ErrorClass {
    let prefix = error.split(|byte| *byte == b' ').next().unwrap_or_default();
    let by_prefix = PREFIXES.iter().find(|(known, _)| known.as_bytes() == prefix);
    let by_beginning = || ERR_PREFIXES.iter().find(|(known, _)| error.starts_with(known.as_bytes()));
    by_prefix.or_else(by_beginning).map_or(ErrorClass::CommandError, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_the_class_of_its_prefix() {
        for (error, expected) in [
            ("WRONGTYPE Operation against a key", ErrorClass::WrongType),
            ("OOM command not allowed when used memory > 'maxmemory'.", ErrorClass::OutOfResources),
            ("MOVED 3999 127.0.0.1:6381", ErrorClass::Moved),
            ("BUSY Redis is busy running a script", ErrorClass::NotReady),
            ("CROSSSLOT Keys in request don't hash to the same slot", ErrorClass::CrossSlot),
            ("BUSYGROUP Consumer Group name already exists", ErrorClass::ObjectExists),
            ("ERR unknown command 'GTE'", ErrorClass::BadStatement),
            ("ERR max number of clients reached", ErrorClass::TooManyConnections),
            ("ERR value is not an integer or out of range", ErrorClass::CommandError),
            ("MYMODULE failed", ErrorClass::CommandError),
            ("", ErrorClass::CommandError),
        ] {
            assert_eq!(class(error.as_bytes()), expected, "{error}");
        }
    }
}
