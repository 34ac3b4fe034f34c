//! SQLite as a target: the same transactions, in this process.
