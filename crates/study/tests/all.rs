//! Integration tests of studies, in virtual time.

mod best_in_slices;
mod costs_of_events;
mod extensions;
mod fakes;
mod finals;
mod limits;
mod round_robin;
mod searches;
mod slices;
mod study_events;
mod virtual_time;
