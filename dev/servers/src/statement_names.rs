//! Names of prepared statements in server logs.

/// Number of characters between `P_` and the number in Tenbin's statement names, including the `_` at the end.
const OWN_CHARACTERS: usize = 9;

/// Replaces Tenbin's names of prepared statements, such as `P_k3wq7zab_12`, with pgbench's names, such as `P_12`.
pub fn with_pgbench_names(log: &str) -> String {
    let mut pieces = log.split("P_");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let own = piece.get(..OWN_CHARACTERS).and_then(|own| own.strip_suffix('_'));
        let is_own = own.is_some_and(|own| own.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7')));
        text + "P_" + if is_own { &piece[OWN_CHARACTERS..] } else { piece }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_statements_change() {
        let log = "execute P_k3wq7zab_12: SELECT 'P_', 'P_é'\nexecute P_3: BEGIN P_";
        assert_eq!(with_pgbench_names(log), "execute P_12: SELECT 'P_', 'P_é'\nexecute P_3: BEGIN P_");
    }
}
