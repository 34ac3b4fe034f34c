//! Opens a file in a browser, if there is one.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::output;

/// Starts a browser that keeps running, or prints the address to open.
pub(crate) fn open(path: &Path) {
    let url = url(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    match openers().iter().find(|opener| start(opener, &url)) {
        Some(opener) => output::remark(&format!("opened with {opener}: {url}")),
        None => output::note(&format!("no browser was found to open it with; it is at {url}")),
    }
}

/// Programs that can open a page: the user's choice first, then the default of the desktop, if any.
fn openers() -> Vec<String> {
    let named = std::env::var("BROWSER").unwrap_or_default();
    let mut openers: Vec<String> =
        named.split(':').filter(|opener| !opener.is_empty()).map(str::to_owned).collect();
    if ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|display| std::env::var_os(display).is_some()) {
        openers.push("xdg-open".to_owned());
    }
    openers
}

fn start(opener: &str, url: &str) -> bool {
    let [program, arguments @ ..] = &words(opener, url)[..] else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A separate process group keeps Ctrl-C in this terminal from reaching the browser.
    command.process_group(0).spawn().is_ok()
}

/// Words of the command line: an opener with the address instead of `%s`, or after its words. No shell interprets them.
fn words(opener: &str, url: &str) -> Vec<String> {
    if Path::new(opener).is_file() {
        return vec![opener.to_owned(), url.to_owned()];
    }
    let mut words: Vec<String> = opener.split_whitespace().map(|word| word.replace("%s", url)).collect();
    if !opener.contains("%s") {
        words.push(url.to_owned());
    }
    words
}

/// Address of a file. All bytes are encoded, except `/`, `-`, `.`, `_`, `~`, and ASCII letters and digits.
fn url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opener_may_have_arguments_and_a_placeholder_for_the_address() {
        assert_eq!(words("firefox", "file:///a"), ["firefox", "file:///a"]);
        assert_eq!(words("firefox  --new-window", "file:///a"), ["firefox", "--new-window", "file:///a"]);
        assert_eq!(
            words("chromium --app=%s --incognito", "file:///a"),
            ["chromium", "--app=file:///a", "--incognito"]
        );
        assert_eq!(words("x; rm -r $HOME", "file:///a"), ["x;", "rm", "-r", "$HOME", "file:///a"]);
        assert_eq!(words("%s", "file:///a"), ["file:///a"]);
        assert_eq!(words(" ", "file:///a"), ["file:///a"]);
    }

    #[test]
    fn encodes_any_path_as_an_address() {
        assert_eq!(url(Path::new("/tmp/report-1.html")), "file:///tmp/report-1.html");
        assert_eq!(url(Path::new("/tmp/a b#?%é")), "file:///tmp/a%20b%23%3F%25%C3%A9");
    }
}
