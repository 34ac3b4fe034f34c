//! Studies from outside, in virtual time.

mod extensions;
mod fakes;
mod searches;
mod virtual_time;
