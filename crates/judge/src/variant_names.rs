//! Names of variants for people: only the parameters that differ.

/// A variant, by its system and the values of its parameters.
#[derive(Clone, Copy, Debug)]
pub struct NamedVariant<'a> {
    /// Name of the system.
    pub system: &'a str,
    /// Name with all parameters: `workers=8 threads=1`; empty if it has none.
    pub variant: &'a str,
    /// Name and value of each parameter.
    pub knobs: &'a [(String, String)],
}

impl NamedVariant<'_> {
    /// Returns the system with all parameters.
    fn whole(&self) -> String {
        format!("{} {}", self.system, self.variant).trim_end().to_owned()
    }
}

/// Returns the name of each variant: its system, and the parameters whose values differ among the variants of the
/// system. A parameter with an empty value is left out if the others suffice to distinguish the variants. If one
/// variant has the most frequent value of every parameter, its name lists them all, and the names of the others list
/// only their deviations.
pub fn shown_names(variants: &[NamedVariant<'_>]) -> Vec<String> {
    let mut names: Vec<String> = variants.iter().map(|variant| shown_name(variant, variants)).collect();
    for number in 0..names.len() {
        if names.iter().filter(|name| **name == names[number]).count() > 1 {
            names = variants.iter().map(NamedVariant::whole).collect();
            break;
        }
    }
    names
}

fn shown_name(variant: &NamedVariant<'_>, all: &[NamedVariant<'_>]) -> String {
    let peers: Vec<&NamedVariant<'_>> = all.iter().filter(|peer| peer.system == variant.system).collect();
    let knobs = |peer: &NamedVariant<'_>| peer.knobs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    // A single variant has no differences, so its name lists all parameters. Stored names of earlier versions have no
    // parameters.
    if peers.len() < 2 || peers.iter().any(|peer| knobs(peer) != knobs(variant)) {
        return variant.whole();
    }
    let differing = |at: &usize| peers.iter().any(|peer| peer.knobs[*at].1 != variant.knobs[*at].1);
    let mut kept: Vec<usize> = (0..variant.knobs.len()).filter(differing).collect();
    let has_empty = |at: usize| peers.iter().any(|peer| peer.knobs[at].1.is_empty());
    for at in kept.clone().into_iter().rev().filter(|at| has_empty(*at)) {
        let others: Vec<usize> = kept.iter().copied().filter(|other| *other != at).collect();
        if !others.is_empty() && are_distinct(&peers, &others) {
            kept = others;
        }
    }
    if kept.is_empty() {
        return variant.whole();
    }
    let is_usual = |peer: &NamedVariant<'_>, at: usize| {
        2 * peers.iter().filter(|other| other.knobs[at].1 == peer.knobs[at].1).count() > peers.len()
    };
    let is_base = |peer: &NamedVariant<'_>| kept.iter().all(|at| is_usual(peer, *at));
    let deviates_from_base = !is_base(variant) && peers.iter().any(|peer| is_base(peer));
    let listed = kept.iter().filter(|at| !(deviates_from_base && is_usual(variant, **at)));
    // The full name has the values as written, quotes included.
    let words = listed.map(|at| {
        let (name, value) = &variant.knobs[*at];
        if value.is_empty() { format!("{name}=\"\"") } else { format!("{name}={value}") }
    });
    format!("{} {}", variant.system, words.collect::<Vec<_>>().join(" "))
}

fn are_distinct(peers: &[&NamedVariant<'_>], knobs: &[usize]) -> bool {
    let values =
        |peer: &NamedVariant<'_>| knobs.iter().map(|at| peer.knobs[*at].1.clone()).collect::<Vec<_>>();
    let mut all: Vec<Vec<String>> = peers.iter().map(|peer| values(peer)).collect();
    all.sort_unstable();
    all.windows(2).all(|two| two[0] != two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variants: &[(&str, &[(&str, &str)])]) -> Vec<String> {
        let knobs: Vec<Vec<(String, String)>> = variants
            .iter()
            .map(|(_, knobs)| knobs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
            .collect();
        let whole: Vec<String> = knobs
            .iter()
            .map(|knobs| knobs.iter().map(|(a, b)| format!("{a}={b}")).collect::<Vec<_>>().join(" "))
            .collect();
        let named = variants
            .iter()
            .zip(&knobs)
            .zip(&whole)
            .map(|(((system, _), knobs), variant)| NamedVariant { system, variant, knobs });
        shown_names(&named.collect::<Vec<_>>())
    }

    #[test]
    fn names_have_only_parameters_that_differ() {
        assert_eq!(
            names(&[
                ("a", &[("x", "1"), ("y", "5")]),
                ("a", &[("x", "2"), ("y", "5")]),
                ("b", &[("x", "1"), ("y", "5")])
            ]),
            ["a x=1", "a x=2", "b x=1 y=5"]
        );
    }

    #[test]
    fn names_list_deviations_from_the_variant_that_most_others_are_like() {
        let usual = [("nodes", "2"), ("pool", "8"), ("shards", "1")];
        let with = |name: &'static str, value: &'static str| {
            usual.map(|(knob, usual)| if knob == name { (knob, value) } else { (knob, usual) })
        };
        let [base, pool, shards] = [usual, with("pool", "1"), with("shards", "3")];
        assert_eq!(
            names(&[("form", &base), ("form", &pool), ("form", &shards)]),
            ["form pool=8 shards=1", "form pool=1", "form shards=3"]
        );
        // All combinations: no value is more frequent than others.
        let grid: [[(&str, &str); 2]; 4] =
            [("1", "5"), ("1", "6"), ("2", "5"), ("2", "6")].map(|(x, y)| [("x", x), ("y", y)]);
        let all = grid.each_ref().map(|knobs| ("a", &knobs[..]));
        assert_eq!(names(&all), ["a x=1 y=5", "a x=1 y=6", "a x=2 y=5", "a x=2 y=6"]);
    }

    #[test]
    fn empty_value_is_left_out_if_others_tell_variants_apart() {
        let variants: [(&str, &[(&str, &str)]); 2] = [
            ("nginx", &[("keepalive", ""), ("connection", "close")]),
            ("nginx", &[("keepalive", "keepalive 8;"), ("connection", "reuse")]),
        ];
        assert_eq!(names(&variants), ["nginx connection=close", "nginx connection=reuse"]);
        let alone: [(&str, &[(&str, &str)]); 2] = [("nginx", &[("k", "")]), ("nginx", &[("k", "8")])];
        assert_eq!(names(&alone), ["nginx k=\"\"", "nginx k=8"]);
    }
}
