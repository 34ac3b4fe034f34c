//! Tests of runs from outside, in a world without processes.

mod busy_generator;
mod fakes;
mod new_protocol;
mod one_run;
mod run_events;
mod shares;
mod slices;
