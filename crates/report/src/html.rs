//! The HTML page: one file that shows a report without a network, a server or a second file.

mod document;
mod shell;

pub(crate) use shell::write;
