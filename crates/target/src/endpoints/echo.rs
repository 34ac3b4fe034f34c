//! `/echo`: replies with the request body.

use super::{Endpoint, Work};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/echo",
    sentence: "Answers the body it was sent (at most 1048576 bytes).",
    example: "/echo",
    methods: &["POST", "PUT"],
    keys: &[],
    prepare: |_| Ok(Work::Echo),
};
