//! Tests of recording, all in one program.

mod histogram_oracle;
mod identity_is_asserted;
mod interval_travels;
mod stored_form;
