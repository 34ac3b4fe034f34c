//! `-F NAME=VALUE`: parts of a multipart form, in the syntax of curl.

use std::path::Path;

use plan::multipart::{self, FilePart, FormBody};
use plan::{BodyFile, Fault};

use super::media::media_type;

const EXAMPLE: &str = "write -F name=text, -F name=@photo.png, or -F 'name=@photo.png;type=image/png'";

/// Reads the parts, and the files that they name. `None` if there are no parts, or if one of them has an error.
pub(super) fn read(parts: &[String], faults: &mut Vec<Fault>) -> Option<FormBody> {
    let before = faults.len();
    let mut read = Vec::new();
    for text in parts {
        match part(text) {
            Ok(part) => read.push(part),
            Err((what, help)) => faults.push(Fault::new("-F", what, help)),
        }
    }
    if parts.is_empty() || faults.len() > before {
        return None;
    }
    Some(multipart::body(&read))
}

type Part = (Vec<u8>, Vec<u8>);

/// Header and content of `name=text`, `name=@file`, or `name=<file`, with `;type=` and `;filename=` after a file.
fn part(text: &str) -> Result<Part, (String, String)> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err((format!("{text:?} is not NAME=VALUE"), EXAMPLE.to_owned()));
    };
    if let Some(path) = value.strip_prefix('<') {
        return Ok((multipart::head(name, None).into_bytes(), content(name, path)?));
    }
    let Some(file) = value.strip_prefix('@') else {
        return Ok((multipart::head(name, None).into_bytes(), value.as_bytes().to_vec()));
    };
    let mut words = file.split(';');
    let path = words.next().unwrap_or_default();
    let (mut shown, mut content_type) = (path, media_type(Path::new(path)));
    for word in words {
        match word.trim().split_once('=') {
            Some(("type", given)) if !given.contains(char::is_control) => content_type = Some(given),
            Some(("filename", given)) => shown = given.trim_matches('"'),
            _ => return Err((format!("{name}: {word:?} is not type= or filename="), EXAMPLE.to_owned())),
        }
    }
    let content_type = content_type.unwrap_or("application/octet-stream");
    let head = multipart::head(name, Some(FilePart { name: shown, content_type }));
    Ok((head.into_bytes(), content(name, path)?))
}

fn content(name: &str, path: &str) -> Result<Vec<u8>, (String, String)> {
    let file = BodyFile { flag: "-F", path: path.into() };
    file.read().map_err(|fault| (format!("{name}: {}", fault.what), fault.help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_has_the_text_and_file_parts_that_curl_sends() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.png");
        std::fs::write(&file, "PNG").expect("written");
        let parts = ["user=me;x".to_owned(), format!("photo=@{}", file.display())];
        let mut faults = Vec::new();
        let form = read(&parts, &mut faults).expect("a form");
        let text = String::from_utf8(form.bytes).expect("text");
        let boundary = form.content_type.strip_prefix("multipart/form-data; boundary=").expect("a boundary");
        assert_eq!(
            text,
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nme;x\r\n--{boundary}\r\n\
                 Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\
                 PNG\r\n--{boundary}--\r\n"
            )
        );
        assert_eq!(faults, []);
    }

    #[test]
    fn rejects_part_without_name_or_file() {
        let mut faults = Vec::new();
        let parts = ["x", "=x", "a=@/no/such", "a=@/dev/null;kind=x"].map(str::to_owned);
        assert!(read(&parts, &mut faults).is_none());
        let what: Vec<&str> = faults.iter().map(|fault| fault.what.as_str()).collect();
        assert_eq!(
            what,
            [
                "\"x\" is not NAME=VALUE",
                "\"=x\" is not NAME=VALUE",
                "a: /no/such: No such file or directory (os error 2)",
                "a: \"kind=x\" is not type= or filename="
            ]
        );
    }
}
