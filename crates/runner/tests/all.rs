//! Runs from outside, in a world without processes.

mod busy_generator;
mod fakes;
mod one_run;
mod shares;
