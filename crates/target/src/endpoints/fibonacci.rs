//! `/fibonacci`: real CPU work with a verifiable result.

use super::{Computation, Endpoint, Work};
use crate::query::{Query, bad_request};
use crate::reply::Reply;
use crate::stop::Stop;
use num_bigint::BigUint;

/// Largest index.
const INDEX_MAX: u64 = 200_000;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/fibonacci",
    sentence: "Adds its way to the Fibonacci number `n` (at most 200000) and answers its decimal digits.",
    example: "/fibonacci?n=1000",
    methods: &["GET", "HEAD"],
    keys: &["n"],
    prepare,
};

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    match query.number("n")? {
        Some(n) if n <= INDEX_MAX => Ok(Work::Compute(Computation { run: compute, argument: n })),
        Some(n) => Err(bad_request(&format!("n must be at most {INDEX_MAX}, found {n}"))),
        None => Err(bad_request("n is missing; try /fibonacci?n=1000")),
    }
}

fn compute(n: u64, stop: &Stop) -> Reply {
    let (mut current, mut next) = (BigUint::ZERO, BigUint::from(1u32));
    for step in 0..n {
        if step % 256 == 0 && stop.is_set() {
            return Reply::fixed(503, "stopping\n");
        }
        current += &next;
        std::mem::swap(&mut current, &mut next);
    }
    Reply::text(200, format!("{current}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Body;

    fn digits(n: u64) -> String {
        match compute(n, &Stop::default()).body {
            Body::Owned(text) => String::from_utf8(text).expect("digits"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_are_correct() {
        assert_eq!([0, 1, 2, 10, 90].map(digits), ["0\n", "1\n", "1\n", "55\n", "2880067194370816120\n"]);
        assert_eq!(digits(1000).len(), 210);
    }
}
