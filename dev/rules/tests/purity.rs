//! Pure crates only compute: they do no I/O.

use rules::{files, packages, tokens};

/// Crates without a clock, a socket, a file, or a thread.
const PURE: [&str; 5] = ["load", "outcome", "wire", "record", "stats"];

/// Packages that pure crates may depend on. Each was reviewed: none uses a file, a socket, a thread, or a clock.
///
/// `libc` could do I/O. Only `cpufeatures` uses it, to detect instruction sets on some processors.
///
/// `autocfg` and `rustc_version` query the compiler, and the dependencies of `curve25519-dalek-derive` generate code. They run at
/// build time only.
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
    // Only its once cell is used, which works without the standard library.
    "once_cell",
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
fn pure_crates_are_no_std() {
    for name in PURE {
        let path = format!("crates/{name}/src/lib.rs");
        let found = tokens::lines_of(&tokens::of(&files::read(&path)), &["#", "!", "no_std"]);
        assert_eq!(found.len(), 1, "{path} must say #![no_std]: {name} does no I/O and reads no clock");
    }
}

#[test]
fn pure_crates_do_not_import_std() {
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
fn pure_crates_depend_only_on_packages_that_compute() {
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
fn every_listed_package_is_needed() {
    let packages = packages::all();
    let needed: Vec<_> = PURE.iter().flat_map(|name| packages::closure(&packages[*name].needs)).collect();
    for name in COMPUTE_ONLY {
        assert!(
            needed.iter().any(|needed| needed == name),
            "nothing needs {name} any more: take it out of COMPUTE_ONLY"
        );
    }
}

/// Files that may write to a terminal. All other text of the program passes through `output.rs`, which escapes control characters.
const MAY_PRINT: [&str; 2] = ["crates/tenbin/src/output.rs", "crates/runner/src/watchdog.rs"];

#[test]
fn only_listed_files_write_to_a_terminal() {
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
            lines.is_empty() || MAY_PRINT.contains(&file.path.as_str()),
            "{}:{lines:?} writes to a terminal: have crates/tenbin/src/output.rs do it, which escapes what servers say",
            file.path
        );
    }
}
