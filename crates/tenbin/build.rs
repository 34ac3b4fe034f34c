//! Links the program with packed relocations if the local C library can read them, which saves a megabyte of file and memory.

#![allow(clippy::print_stdout, reason = "a build script speaks to Cargo on stdout")]

use std::env;
use std::process::Command;

/// First version of glibc that reads packed relocations (DT_RELR).
const READS_PACKED: [u32; 2] = [2, 36];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_native = is("CARGO_CFG_TARGET_ENV", "gnu") && env::var("HOST") == env::var("TARGET");
    // A linker that the user names may link for another machine, or not know the option.
    let is_default_linker = env::var_os("RUSTC_LINKER").is_none();
    if is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is_native
        && is_default_linker
        && glibc() >= Some(READS_PACKED)
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Major and minor version of the local glibc. `None` if `getconf` does not report one.
fn glibc() -> Option<[u32; 2]> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}
