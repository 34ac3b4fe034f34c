//! Default path of the store.

use std::path::PathBuf;

/// Returns `$XDG_DATA_HOME/tenbin/tenbin.sqlite`, or `~/.local/share/tenbin/tenbin.sqlite`.
///
/// Ignores a relative `$XDG_DATA_HOME`, as its specification requires. Without a home directory, the path is relative to the
/// working directory.
pub fn default_path() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/share")))
        .unwrap_or_default();
    data.join("tenbin/tenbin.sqlite")
}
