//! Embeds the plans of the gallery, and links the program with packed relocations if the local C library can read them, which saves a
//! megabyte of file and memory.

#![allow(clippy::print_stdout, reason = "a build script speaks to Cargo on stdout")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// First version of glibc that reads packed relocations (DT_RELR).
const READS_PACKED: [u32; 2] = [2, 36];

/// Folder of the gallery, relative to this crate.
const GALLERY: &str = "../../docs/gallery";
/// Endings of files that are read in the repository alone: pages and their charts.
const PAGE_FILES: [&str; 2] = ["md", "svg"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(error) = embed_gallery() {
        println!(
            "cargo::error=docs/gallery, whose plans are part of the program, cannot be embedded: {error}"
        );
    }
    link_packed();
}

/// Writes the list `FILES` of all files of the gallery but its pages and charts, with their texts.
fn embed_gallery() -> io::Result<()> {
    let from_environment = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let folder = from_environment("CARGO_MANIFEST_DIR").join(GALLERY);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.extension().is_none_or(|ending| !PAGE_FILES.iter().any(|one| ending == *one)));
    paths.sort();
    let entries: String = paths.iter().map(|path| entry(path)).collect();
    let list = format!("const FILES: &[(&str, &str)] = &[\n{entries}];\n");
    fs::write(from_environment("OUT_DIR").join("gallery.rs"), list)
}

/// Line of the list for one file.
fn entry(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!("    ({name:?}, include_str!({path:?})),\n")
}

/// Sets the linker's option if the local C library reads packed relocations.
fn link_packed() {
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
