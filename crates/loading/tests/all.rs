//! Tests of tables on real databases, all in one program.

mod other_tables;
mod own_tables;
mod place;
mod postgres_tables;
mod tpcc_tables;
