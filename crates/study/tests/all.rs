//! Studies from outside, in virtual time.

mod costs_of_events;
mod extensions;
mod fakes;
mod finals;
mod limits;
mod searches;
mod slices;
mod virtual_time;
