//! Assertions and overflow checks are also active in release builds.

use rules::{files, tokens};

#[test]
fn product_code_has_no_debug_assertions() {
    for file in files::rust().iter().filter(|file| file.is_product()) {
        let code = tokens::of(&file.text);
        for name in ["debug_assert", "debug_assert_eq", "debug_assert_ne", "debug_assertions"] {
            let lines = tokens::lines_of(&code, &[name]);
            assert!(
                lines.is_empty(),
                "{}:{lines:?} checks with {name}, which release builds leave out: answer with an error, or use assert!",
                file.path
            );
        }
    }
}

#[test]
fn functions_that_merge_counts_can_return_identity_broken() {
    let text = files::read("crates/record/src/interval.rs");
    for function in ["absorb", "settle", "cut_short"] {
        let body = text.split(&format!("fn {function}(")).nth(1).unwrap_or_default();
        let signature = body.split('{').next().unwrap_or_default();
        assert!(
            signature.contains("IdentityBroken"),
            "Whole::{function} must be able to answer IdentityBroken: whoever merges counts must hear of it"
        );
    }
}

#[test]
fn release_profile_checks_overflow() {
    let manifest = files::read("Cargo.toml");
    let profile = manifest.split("[profile.release]").nth(1).unwrap_or_default();
    let profile = profile.split("\n[").next().unwrap_or_default();
    assert!(
        profile.contains("overflow-checks = true"),
        "[profile.release] in Cargo.toml must say overflow-checks = true: a wrapped counter is a wrong figure"
    );
}
