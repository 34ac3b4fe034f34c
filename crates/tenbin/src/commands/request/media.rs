//! Media types of files by extension.

use std::path::Path;

const MEDIA_TYPES: [(&str, &str); 16] = [
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("txt", "text/plain"),
    ("csv", "text/csv"),
    ("js", "text/javascript"),
    ("css", "text/css"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("svg", "image/svg+xml"),
    ("gz", "application/gzip"),
    ("zip", "application/zip"),
];

/// Media type of a file. `None` if its extension is unknown.
pub(super) fn media_type(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    MEDIA_TYPES.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
}
