//! The crates that only compute cannot do anything else.

use rules::{files, packages, tokens};

/// They have no clock, no socket, no file and no thread.
const PURE: [&str; 5] = ["load", "outcome", "wire", "record", "stats"];

/// Packages that the pure crates may rest on. Each was looked at: none opens a file, a socket, a thread or a clock.
/// `libc` could; `cpufeatures` alone uses it, on some processors, to ask which instructions there are.
/// `autocfg` and `rustc_version` ask the compiler what it can, and those of `curve25519-dalek-derive` write code: they run when
/// Tenbin is built, and are no part of it.
const COMPUTE_ONLY: &[&str] = &[
    "adler2",
    "aho-corasick",
    "alloc-no-stdlib",
    "alloc-stdlib",
    "autocfg",
    "base64",
    "block-buffer",
    "brotli-decompressor",
    "cfg-if",
    "cpufeatures",
    "crypto-common",
    "curve25519-dalek",
    "curve25519-dalek-derive",
    "digest",
    "fiat-crypto",
    "httparse",
    "hybrid-array",
    "itoa",
    "libc",
    "libm",
    "md-5",
    "memchr",
    "miniz_oxide",
    "num-bigint",
    "num-integer",
    "num-traits",
    "proc-macro2",
    "quote",
    "rand_core",
    "rand_pcg",
    "regex",
    "regex-automata",
    "regex-syntax",
    "rustc_version",
    "ruzstd",
    "semver",
    "sha1",
    "sha2",
    "simd-adler32",
    "subtle",
    "syn",
    "typenum",
    "unicode-ident",
];

#[test]
fn pure_crates_are_no_std_so_that_the_compiler_proves_it() {
    for name in PURE {
        let path = format!("crates/{name}/src/lib.rs");
        let found = tokens::lines_of(&tokens::of(&files::read(&path)), &["#", "!", "no_std"]);
        assert_eq!(found.len(), 1, "{path} must say #![no_std]: {name} does no I/O and reads no clock");
    }
}

#[test]
fn pure_crates_do_not_let_std_in_by_another_door() {
    let sources = files::rust();
    let pure =
        sources.iter().filter(|file| file.is_product() && PURE.contains(&file.package().unwrap_or("")));
    for file in pure {
        let code = tokens::without_tests(&file.text);
        for sequence in [&["std", ":", ":"][..], &["extern", "crate", "std"]] {
            let lines = tokens::lines_of(&code, sequence);
            assert!(
                lines.is_empty(),
                "{}:{lines:?} uses std: use core or alloc, or do it in another crate",
                file.path
            );
        }
    }
}

#[test]
fn pure_crates_rest_on_crates_that_only_compute() {
    let packages = packages::all();
    for name in PURE {
        for needed in packages::closure(&packages[name].needs) {
            assert!(
                PURE.contains(&needed.as_str()) || COMPUTE_ONLY.contains(&needed.as_str()),
                "{name} now rests on {needed}: read it, and list it in COMPUTE_ONLY if it only computes"
            );
        }
    }
}

#[test]
fn the_list_of_what_is_needed_has_no_leftovers() {
    let packages = packages::all();
    let needed: Vec<_> = PURE.iter().flat_map(|name| packages::closure(&packages[*name].needs)).collect();
    for name in COMPUTE_ONLY {
        assert!(
            needed.iter().any(|needed| needed == name),
            "nothing needs {name} any more: take it out of COMPUTE_ONLY"
        );
    }
}

/// Who may write to a terminal: the one file through which all text of the program leaves, and makes it harmless there.
const MAY_SPEAK: [&str; 2] = ["crates/tenbin/src/output.rs", "crates/runner/src/watchdog.rs"];

#[test]
fn text_leaves_the_program_in_one_place() {
    for file in files::rust().iter().filter(|file| file.is_product() && !file.path.contains("/src/bin/")) {
        let code = tokens::without_tests(&file.text);
        let names = [
            &["stdout", "(", ")"][..],
            &["stderr", "(", ")"],
            &["print", "!"],
            &["println", "!"],
            &["eprint", "!"],
            &["eprintln", "!"],
        ];
        let lines: Vec<usize> = names.iter().flat_map(|name| tokens::lines_of(&code, name)).collect();
        assert!(
            lines.is_empty() || MAY_SPEAK.contains(&file.path.as_str()),
            "{}:{lines:?} writes to a terminal: have crates/tenbin/src/output.rs do it, which escapes what servers say",
            file.path
        );
    }
}
