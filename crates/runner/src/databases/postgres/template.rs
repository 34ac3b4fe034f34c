//! Copy of a PostgreSQL database within its server: `CREATE DATABASE … TEMPLATE`.
//!
//! A database is dropped and created again only if it has no other tables than those of the plan, belongs to the user, and has no settings
//! or privileges that would be lost.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use loading::{Answer, Database, DatabaseLocation, Error, HeldSession};
use plan::OwnData;
use wire::sql::Login;

use crate::databases::ServerCopy;
use crate::load_data;

/// End of the name of a copy.
const COPY: &str = "_tenbin_copy";
/// Comment on a copy, by which a later run recognizes a leftover copy.
const COMMENT: &str = "copy of tenbin";
/// Maximum length of a name in bytes.
const NAME_BYTES_MAX: usize = 63;
/// Length of a database in bytes, from which on copying files is faster than writing its blocks to the WAL.
const FILE_COPY_BYTES: f64 = 64.0 * 1024.0 * 1024.0;
/// Number of tries while sessions of the load are still ending, and the pause between them.
const TRIES_MAX: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Tables of the database, and whether dropping it would lose settings or privileges.
const FACTS_QUERY: &str = "\
    SELECT current_database(), current_setting('server_version_num'), pg_database_size(current_database()), \
    (SELECT string_agg(c.relname, ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
     AND n.nspname NOT LIKE 'pg\\_%'), \
    CASE WHEN pg_get_userbyid(d.datdba) <> current_user THEN 'it belongs to another user' \
     WHEN d.datacl IS NOT NULL THEN 'it has privileges of its own' \
     WHEN EXISTS (SELECT 1 FROM pg_db_role_setting s WHERE s.setdatabase = d.oid) THEN 'it has settings of its own' \
     WHEN d.datname IN ('postgres', 'template1') THEN 'it is ' || d.datname || ', which other tools need' \
     WHEN NOT (SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user) \
     THEN 'the user may not create databases (ALTER ROLE … CREATEDB)' END \
    FROM pg_database d WHERE d.datname = current_database()";

#[derive(Debug)]
struct Template {
    database: Database,
    name: String,
    copy: String,
    version: u32,
    is_made: bool,
}

/// Checks whether a database can be copied and replaced.
pub(super) fn find(database: &plan::Database, own: &OwnData) -> Result<Box<dyn ServerCopy>, String> {
    let database = load_data::place(database).map_err(|refusal| refusal.to_string())?;
    let row = ask(&database, FACTS_QUERY)?.pop().unwrap_or_default();
    let text = |place: usize| row.get(place).cloned().flatten().unwrap_or_default();
    let name = text(0);
    if !text(4).is_empty() {
        return Err(format!("the database {name} cannot be replaced by a copy: {}", text(4)));
    }
    let texts = own
        .sql
        .iter()
        .filter_map(|sql| sql::statements(&sql.text, sql::Engine::PostgreSql).ok().zip(Some(sql)));
    let created: Vec<String> = texts
        .flat_map(|(statements, _)| statements)
        .filter_map(|statement| sql::created_table(statement.text))
        .map(|table| table.rsplit('.').next().unwrap_or(table).replace('"', "").to_lowercase())
        .collect();
    let tables = text(3);
    let mut others = tables.split_whitespace().filter(|table| !created.contains(&table.to_lowercase()));
    if let Some(other) = others.next() {
        let what = "the database has other tables, such as";
        return Err(format!("{what} {other}; give the plan a database of its own to restore it quickly"));
    }
    let copy = format!("{name}{COPY}");
    if copy.len() > NAME_BYTES_MAX {
        return Err(format!("the name {copy} is too long for a copy"));
    }
    let version = text(1).parse().unwrap_or(0);
    Ok(Box::new(Template { database, name, copy, version, is_made: false }))
}

fn ask(database: &Database, sql: &str) -> Result<Answer, String> {
    let run = || HeldSession::open(database, Arc::default())?.ask(sql);
    run().map_err(|error: Error| plan::split_help(&error.to_string()).0.to_owned())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Template {
    /// Database of the server that is neither copied nor replaced.
    fn aside(&self) -> Database {
        let mut aside = self.database.clone();
        if let DatabaseLocation::Server { login, .. } = &mut aside.place {
            *login = Arc::new(Login { database: Some("postgres".into()), ..Login::clone(login) });
        }
        aside
    }

    /// Runs a statement that requires a database without sessions. Earlier sessions may still be ending.
    fn alone(&self, sql: &str) -> Result<(), String> {
        let mut tries = 1;
        loop {
            match ask(&self.aside(), sql) {
                Err(said) if said.contains("55006") && tries < TRIES_MAX => thread::sleep(PAUSE),
                ended => return ended.map(drop),
            }
            tries += 1;
        }
    }

    fn create(&self, name: &str, template: &str) -> Result<&'static str, String> {
        let size = format!("SELECT pg_database_size('{}')", template.replace('\'', "''"));
        let size = ask(&self.aside(), &size)?.pop().and_then(|row| row.into_iter().next().flatten());
        let is_large =
            size.and_then(|bytes| bytes.parse().ok()).is_some_and(|bytes: f64| bytes > FILE_COPY_BYTES);
        let strategy = if is_large && self.version >= 150_000 { " STRATEGY FILE_COPY" } else { "" };
        self.alone(&format!("CREATE DATABASE {} TEMPLATE {}{strategy}", quoted(name), quoted(template)))?;
        Ok(strategy)
    }
}

impl ServerCopy for Template {
    fn make(&mut self) -> Result<(), String> {
        let find =
            "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = ";
        let found = ask(&self.aside(), &format!("{find}'{}'", self.copy.replace('\'', "''")))?;
        let drop_copy = format!("DROP DATABASE {}", quoted(&self.copy));
        match found.first().map(|row| row.first().and_then(Option::as_deref) == Some(COMMENT)) {
            Some(true) => self.alone(&drop_copy)?,
            Some(false) => {
                return Err(format!("there is a database {}, which is no copy of Tenbin", self.copy));
            }
            None => {}
        }
        self.create(&self.copy, &self.name)?;
        self.is_made = true;
        self.alone(&format!("COMMENT ON DATABASE {} IS '{COMMENT}'", quoted(&self.copy)))
    }

    fn restore(&mut self) -> Result<String, String> {
        self.alone(&format!("DROP DATABASE IF EXISTS {}", quoted(&self.name)))?;
        let strategy = self.create(&self.name, &self.copy)?;
        Ok(format!("database {} created from a copy (TEMPLATE{strategy})", self.name))
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        if self.is_made {
            // The next study of this database removes a copy that stays.
            let _ = self.alone(&format!("DROP DATABASE {}", quoted(&self.copy)));
        }
    }
}
