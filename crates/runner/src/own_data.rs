//! Converts the own statements and rows of a plan to those that are loaded.

use std::sync::Arc;

use loading::{DrawnColumn, OwnRows, OwnTable, SqlText};

/// Statements and rows to load. The seed of a column depends on the names of its table and its own.
pub(crate) fn convert(own: &plan::OwnData) -> Result<loading::OwnData, loading::Error> {
    let sql = own.sql.iter().map(|sql| SqlText { file: sql.file.clone(), text: sql.text.clone() });
    let tables = own.tables.iter().map(|table| {
        let rows = rows(table, own.seed)?;
        Ok(OwnTable { name: table.name.clone(), columns: table.columns.clone(), rows: Arc::new(rows) })
    });
    Ok(loading::OwnData {
        sql: sql.collect(),
        tables: tables.collect::<Result<_, loading::Error>>()?,
        jobs: own.jobs,
        fresh: own.drop,
    })
}

fn rows(table: &plan::OwnTable, seed: u64) -> Result<OwnRows, loading::Error> {
    match &table.rows {
        plan::OwnRows::Drawn { count, columns } => {
            let column =
                |(name, (source, null_share)): (&String, &(load::values::Source, f64))| DrawnColumn {
                    source: source.clone(),
                    null_share: *null_share,
                    seed: seed ^ hash(&[&table.name, name]),
                };
            Ok(OwnRows::drawn(*count, table.columns.iter().zip(columns).map(column).collect()))
        }
        plan::OwnRows::Csv { file, bytes } => {
            OwnRows::csv(file, Arc::clone(bytes)).map_err(loading::Error::Options)
        }
    }
}

/// FNV-1a over names, each followed by a byte that no name has.
fn hash(names: &[&str]) -> u64 {
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_different_seeds_that_depend_on_that_of_the_plan() {
        assert_ne!(hash(&["a", "b"]), hash(&["ab", ""]));
        let source = load::values::Source::Uuid;
        let table = plan::OwnTable {
            name: "t".to_owned(),
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: plan::OwnRows::Drawn { count: 1, columns: vec![(source.clone(), 0.0), (source, 0.0)] },
        };
        let of_seed = |seed| rows(&table, seed).unwrap();
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
    }
}
