//! Tests of all rules together, on planted readings.

mod alike;
mod contradictions;
mod overclaims;
mod ranking;
