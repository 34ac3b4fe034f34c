//! Looks up one value in a JSON text (RFC 8259) by its path.
//!
//! The text is read once, without building a tree, and must be valid JSON as a whole. Numbers are returned as written.

use alloc::borrow::Cow;
use alloc::string::String;

use super::capture::Missing;
use super::json_path::Part;

/// Max nesting of arrays and objects; a deeper text is rejected.
const DEPTH_MAX: u32 = 128;

/// Whether the whole text is JSON.
pub(super) fn is_json(text: &[u8]) -> bool {
    !matches!(find(text, &[]), Err(Missing::NotJson))
}

/// Returns the value at a path: a string without its quotes; a number, `true`, or `false` as it is written.
pub(super) fn find<'a>(text: &'a [u8], path: &[Part]) -> Result<Cow<'a, [u8]>, Missing> {
    let text = core::str::from_utf8(text).map_err(|_| Missing::NotJson)?;
    let mut reader = Reader { text, at: 0, depth: 0 };
    let found = reader.value(Some(path)).ok_or(Missing::NotJson)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(Missing::NotJson);
    }
    match found {
        PathValue::Nothing => Err(Missing::NotThere),
        PathValue::NotScalar => Err(Missing::NotScalar),
        PathValue::Plain(text) => Ok(Cow::Borrowed(text.as_bytes())),
        PathValue::Quoted(text) => Ok(match unescaped(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }),
    }
}

/// Value at the end of the path.
#[derive(Clone, Copy)]
enum PathValue<'a> {
    Nothing,
    /// An object, an array, or null.
    NotScalar,
    /// Number, `true`, or `false`, as written.
    Plain(&'a str),
    /// Content of a string between its quotes, with escapes.
    Quoted(&'a str),
}

/// Parser of a JSON text. Its methods return `None` if the text is not JSON.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// Parses one value. With a path, returns the value that it leads to from here; an empty path leads to the value itself.
    fn value(&mut self, path: Option<&[Part]>) -> Option<PathValue<'a>> {
        self.skip_space();
        let from = self.at;
        let here = match self.peek()? {
            b'{' => return self.within(|reader| reader.object(path)),
            b'[' => return self.within(|reader| reader.list(path)),
            b'"' => PathValue::Quoted(self.string()?),
            b'n' => self.word("null").map(|()| PathValue::NotScalar)?,
            first => {
                match first {
                    b't' => self.word("true")?,
                    b'f' => self.word("false")?,
                    _ => self.number()?,
                }
                PathValue::Plain(&self.text[from..self.at])
            }
        };
        Some(if path.is_some_and(<[Part]>::is_empty) { here } else { PathValue::Nothing })
    }

    fn within(&mut self, read: impl FnOnce(&mut Self) -> Option<PathValue<'a>>) -> Option<PathValue<'a>> {
        self.at += 1;
        self.depth += 1;
        let found = if self.depth <= DEPTH_MAX { read(self) } else { None };
        self.depth -= 1;
        found
    }

    fn object(&mut self, path: Option<&[Part]>) -> Option<PathValue<'a>> {
        let (mut found, step) = enter(path);
        let wanted = step.and_then(|(part, rest)| match part {
            Part::Key(name) | Part::KeyOrIndex(name, _) => Some((name.as_str(), rest)),
            Part::Index(_) => None,
        });
        let mut is_first = true;
        while !self.ends_with(b'}', &mut is_first)? {
            self.skip_space();
            let key = unescaped(self.string()?);
            self.skip_space();
            self.take(b':')?;
            let rest = wanted.filter(|(name, _)| *name == key).map(|(_, rest)| rest);
            let value = self.value(rest)?;
            if rest.is_some() {
                // If a key is repeated, the last value counts, as in most JSON parsers.
                found = value;
            }
        }
        Some(found)
    }

    fn list(&mut self, path: Option<&[Part]>) -> Option<PathValue<'a>> {
        let (mut found, step) = enter(path);
        let wanted = match step {
            None | Some((Part::Key(_) | Part::KeyOrIndex(_, None), _)) => None,
            Some((Part::KeyOrIndex(_, Some(index)), rest)) => Some((*index, rest)),
            Some((Part::Index(index), rest)) => match u64::try_from(*index) {
                Ok(index) => Some((index, rest)),
                // The length of an array is known only at its end.
                Err(_) => {
                    self.look_ahead(Self::count)?.checked_sub(index.unsigned_abs()).map(|index| (index, rest))
                }
            },
        };
        let (mut is_first, mut number) = (true, 0);
        while !self.ends_with(b']', &mut is_first)? {
            let rest = wanted.filter(|(wanted, _)| *wanted == number).map(|(_, rest)| rest);
            let value = self.value(rest)?;
            if rest.is_some() {
                found = value;
            }
            number += 1;
        }
        Some(found)
    }

    /// Number of remaining elements of an array.
    fn count(&mut self) -> Option<u64> {
        let (mut is_first, mut count) = (true, 0);
        while !self.ends_with(b']', &mut is_first)? {
            self.value(None)?;
            count += 1;
        }
        Some(count)
    }

    /// Runs `read`, then returns to the present position.
    fn look_ahead<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let at = self.at;
        let told = read(self);
        self.at = at;
        told
    }

    /// Parses the end of an array or an object, or the comma between two members. Returns whether it was the end.
    fn ends_with(&mut self, end: u8, is_first: &mut bool) -> Option<bool> {
        self.skip_space();
        if self.peek()? == end {
            self.at += 1;
            return Some(true);
        }
        if !core::mem::take(is_first) {
            self.take(b',')?;
        }
        Some(false)
    }

    /// Parses a string. Returns its content between the quotes, with escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let from = self.at;
        loop {
            match self.next()? {
                b'"' => return self.text.get(from..self.at - 1),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        for _ in 0..4 {
                            self.next().filter(u8::is_ascii_hexdigit)?;
                        }
                    }
                    _ => return None,
                },
                0..0x20 => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.next()? {
            b'0' => {}
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        self.next().filter(u8::is_ascii_digit)?;
        self.skip_digits();
        Some(())
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_there.then_some(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.next().filter(|next| *next == byte).map(drop)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Result for an array or an object before its members are parsed, and the path's next part with the parts after it.
fn enter<'a>(path: Option<&[Part]>) -> (PathValue<'a>, Option<(&Part, &[Part])>) {
    match path {
        None => (PathValue::Nothing, None),
        Some(path) => {
            path.split_first().map_or((PathValue::NotScalar, None), |next| (PathValue::Nothing, Some(next)))
        }
    }
}

/// Replaces the escapes in the content of a valid string.
fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        out.push(match rest.next().unwrap_or(char::REPLACEMENT_CHARACTER) {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => code_point(&mut rest),
            itself => itself,
        });
    }
    Cow::Owned(out)
}

/// Decodes the digits after `\u`, and a second surrogate after them.
fn code_point(rest: &mut core::str::Chars<'_>) -> char {
    let unit = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let text = rest.as_str();
    let Some(first) = unit(text) else { return char::REPLACEMENT_CHARACTER };
    *rest = text[4..].chars();
    let second = text[4..].strip_prefix("\\u").and_then(unit);
    let mut units = char::decode_utf16([Some(first), second].into_iter().flatten());
    match units.next() {
        Some(Ok(letter)) => {
            if letter.len_utf16() == 2 {
                *rest = text[10..].chars();
            }
            letter
        }
        // A lone surrogate.
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::super::json_path::JsonPath;
    use super::*;
    use alloc::format;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use serde_json::Value;

    fn found(text: &str, path: &str) -> Result<String, Missing> {
        let path = JsonPath::read(path).expect(path);
        find(text.as_bytes(), path.parts()).map(|value| String::from_utf8(value.into_owned()).unwrap())
    }

    #[test]
    fn finds_examples_of_rfc_6901() {
        let text = r#"{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4,
            "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}"#;
        for (pointer, value) in [
            ("/foo/0", "bar"),
            ("/foo/1", "baz"),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(found(text, pointer).as_deref(), Ok(value), "{pointer}");
        }
        for pointer in ["", "/foo"] {
            assert_eq!(found(text, pointer), Err(Missing::NotScalar), "{pointer:?}");
        }
        for pointer in ["/foo/2", "/foo/00", "/foo/-", "/foo/+1", "/foo/0/x", "/bar", "/foo/"] {
            assert_eq!(found(text, pointer), Err(Missing::NotThere), "{pointer}");
        }
    }

    #[test]
    fn queries_find_members_by_name_and_elements_from_both_ends() {
        let text =
            r#"{"data": [{"id": 7}, {"id": 8, "1": "one"}], "0": "zero", "": {"it's": true}, "none": []}"#;
        for (query, value) in [
            ("$.data[0].id", Ok("7")),
            ("$['data'][-1].id", Ok("8")),
            ("$.data[-2]['id']", Ok("7")),
            ("$.data[1]['1']", Ok("one")),
            ("$['0']", Ok("zero")),
            ("$['']['it\\'s']", Ok("true")),
            ("$[0]", Err(Missing::NotThere)),
            ("$.data['0']", Err(Missing::NotThere)),
            ("$.data[-3]", Err(Missing::NotThere)),
            ("$.none[-1]", Err(Missing::NotThere)),
            ("$.data[2]", Err(Missing::NotThere)),
            ("$.data", Err(Missing::NotScalar)),
            ("$", Err(Missing::NotScalar)),
        ] {
            assert_eq!(found(text, query), value.map(Into::into), "{query}");
        }
        assert_eq!(found("[1, [2, [3,]]]", "$[-1][-1][-1]"), Err(Missing::NotJson));
        let deep = format!("{}1{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(found(&deep, &format!("${}", "[-1]".repeat(128))).as_deref(), Ok("1"));
    }

    #[test]
    fn returns_values_as_written() {
        for (text, value) in [
            ("-1.50e+07", "-1.50e+07"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-2.5e311", "-2.5e311"),
            ("true", "true"),
            (" false ", "false"),
            (r#""""#, ""),
            (r#""a\u00e9\n\ud83d\ude00\/""#, "aé\n😀/"),
            (r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}"),
        ] {
            assert_eq!(found(text, "").as_deref(), Ok(value), "{text}");
        }
        assert_eq!(found("null", ""), Err(Missing::NotScalar));
        assert_eq!(found(r#"{"a": 1, "a": 2}"#, "/a").as_deref(), Ok("2"));
        assert_eq!(found(r#"{"\u0061": 1}"#, "/a").as_deref(), Ok("1"));
    }

    #[test]
    fn rejects_malformed_json_at_any_position() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "1 2",
            "nul",
            "[1]]",
            "NaN",
            "'a'",
            "\u{feff}1",
            "{\"a\":1}x",
        ] {
            assert_eq!(found(text, "/a"), Err(Missing::NotJson), "{text:?}");
        }
        assert_eq!(find(b"\"\xff\"", &[]), Err(Missing::NotJson));
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(found(&deep(128), &"/0".repeat(128)).as_deref(), Ok("1"));
        assert_eq!(found(&deep(129), ""), Err(Missing::NotJson));
        assert_eq!(found(&"[".repeat(1_000_000), ""), Err(Missing::NotJson));
    }

    fn json() -> impl Strategy<Value = String> {
        let parts = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"b\"",
            "\"\\u0061\"",
            "1",
            "0",
            "-2.5e3",
            "true",
            "null",
            " ",
            "\"",
            "\\",
            "{\"a\":",
            "[1,",
            "]}",
            "\u{1}",
            "é",
        ];
        proptest::collection::vec(0..parts.len(), 0..12)
            .prop_map(move |numbers| numbers.into_iter().map(|number| parts[number]).collect())
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\é~/]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("[ab~/\"]{0,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Collects every pointer in a value, with the value at this pointer.
    fn places(value: &Value, pointer: String, out: &mut alloc::vec::Vec<(String, Value)>) {
        match value {
            Value::Array(list) => {
                for (number, value) in list.iter().enumerate() {
                    places(value, format!("{pointer}/{number}"), out);
                }
            }
            Value::Object(members) => {
                for (key, value) in members {
                    places(value, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), out);
                }
            }
            _ => {}
        }
        out.push((pointer, value.clone()));
    }

    proptest! {
        #[test]
        fn accepts_same_texts_as_serde_json(text in json()) {
            // A `Value` would have to represent each number, and the grammar does not limit numbers.
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(found(&text, "/a") != Err(Missing::NotJson), is_json, "{}", text);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), path in "([/~01a]{0,6}|\\$(\\[-?[0-3]\\]|\\.a){0,3})") {
            if let Ok(path) = JsonPath::read(&path) {
                let _ = find(&bytes, path.parts());
            }
        }

        #[test]
        fn finds_same_values_as_serde_json(value in tree()) {
            let mut all = alloc::vec::Vec::new();
            places(&value, String::new(), &mut all);
            let text = serde_json::to_string_pretty(&value).unwrap();
            for (pointer, value) in all {
                let expected = match value {
                    Value::String(text) => Ok(text),
                    Value::Bool(_) | Value::Number(_) => Ok(format!("{value}")),
                    _ => Err(Missing::NotScalar),
                };
                prop_assert_eq!(found(&text, &pointer), expected, "{} in {}", pointer, text);
            }
        }
    }
}
