//! Tables of the studies: postcodes to look up, and accounts to sign up.

use sql::Engine;

use super::{Finish, Table};
use crate::options::Options;
use crate::rows::{Content, POSTCODES};

const POSTCODE_COLUMNS: [&str; 15] = [
    "jis",
    "old_code",
    "code",
    "prefecture_kana",
    "city_kana",
    "town_kana",
    "prefecture",
    "city",
    "town",
    "is_divided",
    "has_lots",
    "has_blocks",
    "is_joint",
    "updated",
    "reason",
];

/// Postcodes with text columns only. Empty for the workload that inserts them.
pub(super) fn postcodes(engine: Engine, options: &Options, is_empty: bool) -> Table {
    let name = "tenbin_postcodes";
    let rows = options.rows.unwrap_or(if is_empty { 0 } else { POSTCODES });
    let columns = POSTCODE_COLUMNS.map(|column| format!("{column} TEXT NOT NULL")).join(",");
    let charset = if engine == Engine::MySql { " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4" } else { "" };
    let index = |column: &str| {
        // MySQL cannot index a whole text. No code is longer than this prefix.
        let of = if engine == Engine::MySql { format!("{column}(8)") } else { column.to_owned() };
        Finish::new(format!("{name}_{column}"), format!("CREATE INDEX {name}_{column} ON {name} ({of})"))
    };
    Table {
        name: name.to_owned(),
        create: vec![format!("CREATE TABLE {name} ({columns}){charset}")],
        columns: POSTCODE_COLUMNS.len() as u16,
        content: if rows == 0 { Content::Nothing } else { Content::Postcodes { seed: options.seed, rows } },
        rows,
        is_partitioned: false,
        key: None,
        indexes: vec![index("old_code"), index("code")],
        references: Vec::new(),
    }
}

/// Accounts with a unique e-mail address, empty.
pub(super) fn accounts(engine: Engine) -> Table {
    let columns = match engine {
        Engine::PostgreSql => {
            "id bigserial PRIMARY KEY,email varchar(190) NOT NULL UNIQUE,name varchar(100) NOT NULL,created timestamp NOT NULL"
        }
        Engine::MySql => {
            "id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,email varchar(190) NOT NULL UNIQUE,name varchar(100) NOT NULL,\
             created datetime NOT NULL"
        }
        Engine::Sqlite => {
            "id integer PRIMARY KEY,email text NOT NULL UNIQUE,name text NOT NULL,created text NOT NULL"
        }
    };
    let charset = if engine == Engine::MySql { " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4" } else { "" };
    Table {
        name: "tenbin_accounts".to_owned(),
        create: vec![format!("CREATE TABLE tenbin_accounts ({columns}){charset}")],
        columns: 4,
        content: Content::Nothing,
        rows: 0,
        is_partitioned: false,
        key: None,
        indexes: Vec::new(),
        references: Vec::new(),
    }
}
