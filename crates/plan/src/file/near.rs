//! Did you mean …? The known name that is nearest to an unknown one.

/// Longer names are compared with nothing: nobody mistypes them, and comparing takes the product of the lengths.
const NAME_LENGTH_MAX: usize = 64;
const KNOWN_MAX: usize = 300;
const LISTED_MAX: usize = 30;

/// The nearest of the known names, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_LENGTH_MAX {
        return None;
    }
    let plain = |name: &str| name.to_lowercase().replace(['_', ' '], "-");
    let wanted = plain(name);
    let distances: Vec<(usize, &str)> = known
        .take(KNOWN_MAX)
        .filter(|known| known.len() <= NAME_LENGTH_MAX)
        .map(|known| {
            let candidate = plain(known);
            // `warmup` for `warm-up`, `users` for `user` and `connection` for `connections` are near whatever their length.
            let is_same = candidate.replace('-', "") == wanted.replace('-', "");
            let distance = if is_same { 0 } else { strsim::osa_distance(&wanted, &candidate) };
            (distance, known)
        })
        .collect();
    let (distance, nearest) = *distances.iter().min_by_key(|(distance, _)| *distance)?;
    // Of several that are equally near none is what was meant more than the others.
    if distances.iter().any(|(other, name)| *other == distance && *name != nearest) {
        return None;
    }
    let allowed = match wanted.chars().count().max(nearest.chars().count()) {
        0..=2 => 0,
        3..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    (distance <= allowed).then_some(nearest)
}

/// `a`, `b`, `c`: at most so many as a reader takes in.
pub(crate) fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "(none)".to_owned();
    }
    let mut listed: Vec<String> = names.iter().take(LISTED_MAX).map(|name| format!("`{name}`")).collect();
    if names.len() > LISTED_MAX {
        listed.push(format!("and {} more", names.len() - LISTED_MAX));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["users", "warm-up", "for", "connections", "rate"];

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let near = |name| nearest(name, KEYS.into_iter());
        assert_eq!(near("user"), Some("users"));
        assert_eq!(near("warmup"), Some("warm-up"));
        assert_eq!(near("Warm_Up"), Some("warm-up"));
        assert_eq!(near("conections"), Some("connections"));
        assert_eq!(near("raet"), Some("rate"));
        assert_eq!(near("duration"), None);
        assert_eq!(near("xx"), None);
        assert_eq!(nearest("p98", ["p90", "p95", "p99"].into_iter()), None);
        assert_eq!(near(&"u".repeat(10_000)), None);
    }

    #[test]
    fn a_list_is_never_endless() {
        assert_eq!(listed(&["a", "b"]), "`a`, `b`");
        assert_eq!(listed(&[]), "(none)");
        assert!(listed(&["a"; 40]).ends_with("and 10 more"));
    }
}
