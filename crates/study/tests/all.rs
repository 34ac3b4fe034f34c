//! Studies from outside, in virtual time.

mod extensions;
mod fakes;
mod limits;
mod searches;
mod virtual_time;
