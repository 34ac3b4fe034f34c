//! Bodies of `multipart/form-data` (RFC 7578), as browsers write them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

/// A body with its media type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormBody {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// Media type with the boundary.
    pub content_type: String,
}

/// A file in a form.
#[derive(Clone, Copy, Debug)]
pub struct FilePart<'a> {
    /// Path of the file. Only its last segment is sent.
    pub name: &'a str,
    /// Media type, such as `image/png`.
    pub content_type: &'a str,
}

/// Headers of a part, including the blank line after them.
pub fn head(name: &str, file: Option<FilePart<'_>>) -> String {
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", parameter(name));
    if let Some(FilePart { name, content_type }) = file {
        let name = name.rsplit('/').next().unwrap_or_default();
        head += &format!("; filename=\"{}\"\r\nContent-Type: {content_type}", parameter(name));
    }
    head + "\r\n\r\n"
}

/// Joins parts into a body. Each part is its headers and its content.
pub fn body(parts: &[(Vec<u8>, Vec<u8>)]) -> FormBody {
    let boundary = boundary(parts);
    let delimiter = format!("--{boundary}\r\n");
    let mut bytes: Vec<u8> = parts
        .iter()
        .flat_map(|(head, content)| [delimiter.as_bytes(), head, content, b"\r\n"].concat())
        .collect();
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    FormBody { bytes, content_type: format!("multipart/form-data; boundary={boundary}") }
}

/// Escapes a name for a quoted parameter, as browsers do.
fn parameter(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Boundary that occurs in no part. Values that are inserted later have no line breaks.
fn boundary(parts: &[(Vec<u8>, Vec<u8>)]) -> String {
    let contents: Vec<&[u8]> = parts.iter().map(|(_, content)| content.as_slice()).collect();
    let all = contents.concat();
    let mut seed = Sha256::digest(&all);
    loop {
        let digits: String = seed.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        let boundary = format!("tenbin-{digits}");
        if memchr::memmem::find(&all, boundary.as_bytes()).is_none() {
            return boundary;
        }
        seed = Sha256::digest(seed);
    }
}
