//! Databases by the names of their server programs.

/// Names of server programs, each with the scheme of its URL.
const PROGRAMS: [(&str, &str); 4] =
    [("postgres", "postgres"), ("postmaster", "postgres"), ("mariadbd", "mysql"), ("mysqld", "mysql")];

/// Returns the URL scheme of the database whose server is `program`. `None` if `program` is not a known database.
pub(crate) fn scheme_of_program(program: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(known, _)| *known == program).map(|(_, scheme)| *scheme)
}
