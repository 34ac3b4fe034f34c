//! Scripts of SQL transactions in pgbench's language: reading them, drawing their values, going through them.
