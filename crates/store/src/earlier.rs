//! Facts that earlier versions kept only as part of a sentence.

use evidence::Model;

/// Users of a closed load, from its words, such as `100 users, closed, thinking 10ms`. `None` for any other load.
pub(crate) fn users(model: Model, load_words: &str) -> Option<u32> {
    let (number, rest) = load_words.split_once(' ')?;
    let is_of_users = rest.starts_with("user, closed") || rest.starts_with("users, closed");
    (model == Model::Closed && is_of_users).then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read_from_the_words_of_closed_loads_only() {
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
