//! Tests of all rules together, on planted readings.

mod accounted;
mod alike;
mod contradictions;
mod overclaims;
mod ranking;
