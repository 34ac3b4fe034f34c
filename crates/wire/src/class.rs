//! The classes of error that replies, and breaches of a protocol, amount to: their names in stores and reports.
//!
//! `record::CLASSES` says what each means; this crate knows nothing of it. A test of the workspace compares the two lists.

macro_rules! classes {
    ($($constant:ident $name:literal)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub const $constant: &str = $name;
        )*

        /// Every one of them.
        pub const ALL: &[&str] = &[$($constant),*];
    };
}

classes! {
    STATUS "status"
    CHECK_HEADER "check_header"
    CHECK_BODY "check_body"
    CHECK_SIZE "check_size"
    CAPTURE "capture"
    SERIALIZATION_FAILURE "serialization_failure"
    DEADLOCK "deadlock"
    LOCK_TIMEOUT "lock_timeout"
    CONSTRAINT "constraint"
    TOO_MANY_CONNECTIONS "too_many_connections"
    OUT_OF_RESOURCES "out_of_resources"
    CANCELED "canceled"
    READ_ONLY "read_only"
    BAD_STATEMENT "bad_statement"
    SERVER_SHUTDOWN "server_shutdown"
    IDLE_TIMEOUT "idle_timeout"
    CORRUPTED "corrupted"
    SQL_ERROR "sql_error"
    ROWS "rows"
    ROLLED_BACK "rolled_back"
    SCRIPT_STOPPED "script_stopped"
    OPEN_TRANSACTION "open_transaction"
    LOGIN_REFUSED "login_refused"
    COMMIT_UNKNOWN "commit_unknown"
    PROTOCOL_ERROR "protocol_error"
    HEADER_LIMIT "header_limit"
    EXCESS_BYTES "excess_bytes"
    UNSOLICITED_REPLY "unsolicited_reply"
}
