//! Extracts facts that earlier versions stored only within a sentence.

use evidence::Model;

/// Parses the number of users of a closed load from its description, such as `100 users, closed, thinking 10ms`. `None`
/// for any other load.
pub(crate) fn users(model: Model, load_words: &str) -> Option<u32> {
    let (number, rest) = load_words.split_once(' ')?;
    let is_of_users = rest.starts_with("user, closed") || rest.starts_with("users, closed");
    (model == Model::Closed && is_of_users).then(|| number.parse().ok()).flatten()
}

/// Splits the description of a load into the part without the mention of a profile, and whether the load was profiled.
pub(crate) fn unprofiled(load_words: String) -> (String, bool) {
    match load_words.strip_suffix(", profiled") {
        Some(load) => (load.to_owned(), true),
        None => (load_words, false),
    }
}

/// Returns whether a note states that a system not started by Tenbin listens on the generator's machine.
pub(crate) fn is_system_local(notes: &[String]) -> bool {
    notes.iter().any(|note| note.contains(") is on this machine, "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_is_stripped_from_the_description() {
        for (words, load, is_profiled) in [
            ("8 users, closed, profiled", "8 users, closed", true),
            ("8 users, closed", "8 users, closed", false),
            ("profiled, 8 users", "profiled, 8 users", false),
        ] {
            assert_eq!(unprofiled(words.to_owned()), (load.to_owned(), is_profiled));
        }
    }

    #[test]
    fn local_system_is_recognized_by_its_note() {
        let note = "SHARED: the system (node, process 29600) is on this machine, and 2 of its 2 cores are";
        assert!(is_system_local(&["a note".to_owned(), note.to_owned()]));
        assert!(!is_system_local(&["this machine".to_owned()]) && !is_system_local(&[]));
    }

    #[test]
    fn users_are_read_from_descriptions_of_closed_loads_only() {
        for (words, users_of_words) in [
            ("1 user, closed", Some(1)),
            ("100 users, closed", Some(100)),
            ("32 users, closed, ramping up over 10s, thinking 1s, profiled", Some(32)),
            ("wrk, 20 users", None),
            ("500/s, open, evenly spaced, over 8 connections", None),
            ("", None),
        ] {
            assert_eq!(users(Model::Closed, words), users_of_words, "{words}");
            assert_eq!(users(Model::Open, words), None, "{words}");
        }
    }
}
