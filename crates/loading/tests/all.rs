//! Tables on real databases: every test of this folder, in one program.

mod other_tables;
mod place;
mod postgres_tables;
