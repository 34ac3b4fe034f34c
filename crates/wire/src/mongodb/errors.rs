//! Error classes of the codes that servers report.

use crate::ErrorClass;

/// Codes with their classes, as in `src/mongo/base/error_codes.yml` of the server.
const CODES: &[(ErrorClass, &[i64])] = &[
    // DuplicateKey under its present and its former codes, and DocumentValidationFailure.
    (ErrorClass::Constraint, &[11000, 11001, 12582, 121]),
    // NotWritablePrimary, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary, PrimarySteppedDown,
    // InterruptedDueToReplStateChange, and the code of servers before 4.4.
    (ErrorClass::NotPrimary, &[10107, 13435, 13436, 189, 11602, 10058]),
    (ErrorClass::ServerShutdown, &[91, 11600]),
    (ErrorClass::MissingPrivilege, &[13, 18]),
    // NamespaceNotFound, IndexNotFound, CursorNotFound, UserNotFound.
    (ErrorClass::MissingObject, &[26, 27, 43, 11]),
    // NamespaceExists, IndexOptionsConflict, IndexKeySpecsConflict, IndexAlreadyExists.
    (ErrorClass::ObjectExists, &[48, 85, 86, 68]),
    // MaxTimeMSExpired, ExceededTimeLimit, Interrupted, CursorKilled.
    (ErrorClass::Canceled, &[50, 262, 11601, 237]),
    (ErrorClass::LockTimeout, &[24]),
    (ErrorClass::SerializationFailure, &[112]),
    // BadValue, UnknownError of a parser, FailedToParse, TypeMismatch, InvalidOptions, CommandNotFound, InvalidNamespace, unknown
    // and missing fields and stages.
    (ErrorClass::BadStatement, &[2, 9, 14, 72, 59, 73, 40324, 40414, 40415, 16436]),
    // OutOfDiskSpace, ExceededMemoryLimit, QueryExceededMemoryLimitNoDiskUseAllowed, TooManyFilesOpen.
    (ErrorClass::OutOfResources, &[14031, 146, 292, 264]),
    // HostUnreachable, WriteConcernFailed, UnknownReplWriteConcern, UnsatisfiableWriteConcern, FailedToSatisfyReadPreference,
    // NotYetInitialized, StaleConfig, NetworkTimeout.
    (ErrorClass::NotReady, &[6, 64, 79, 100, 133, 94, 13388, 89]),
];

/// Class of an error code.
pub(super) fn class(code: i64) -> ErrorClass {
    let found = CODES.iter().find(|(_, codes)| codes.contains(&code));
    found.map_or(ErrorClass::CommandError, |(class, _)| *class)
}

/// Whether an error of this class ends the use of the connection: another member is the primary now, or the server shuts down.
pub(super) fn ends_connection(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::NotPrimary | ErrorClass::ServerShutdown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn code_belongs_to_one_class() {
        let mut codes: Vec<i64> = CODES.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
        assert_eq!(class(11000), ErrorClass::Constraint);
        assert_eq!(class(10107), ErrorClass::NotPrimary);
        assert_eq!(class(-1), ErrorClass::CommandError);
    }
}
