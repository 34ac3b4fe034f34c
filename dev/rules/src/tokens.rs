//! Splits Rust files into tokens, so that comments and strings are not mistaken for code.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A token and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Identifier, punctuation mark, or literal as written. Brackets are omitted.
    pub text: String,
    /// Line number, from 1.
    pub line: usize,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name of the function.
    pub name: String,
    /// Line of the name, from 1.
    pub line: usize,
    /// Number of lines from the name to the closing bracket.
    pub lines: usize,
}

/// Returns all tokens of a file.
///
/// # Panics
///
/// If the text is not valid Rust.
pub fn of(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    flatten(parse(text), &mut tokens);
    tokens
}

/// Returns all tokens of a file, except those of test modules.
///
/// # Panics
///
/// If the text is not valid Rust.
pub fn without_tests(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    flatten(strip_tests(parse(text)), &mut tokens);
    tokens
}

/// Returns the lines on which this sequence of tokens begins.
pub fn lines_of(tokens: &[Token], sequence: &[&str]) -> Vec<usize> {
    let is_here = |window: &&[Token]| window.iter().zip(sequence).all(|(token, text)| token.text == *text);
    tokens.windows(sequence.len()).filter(is_here).map(|window| window[0].line).collect()
}

/// Returns all functions of a file, including tests.
///
/// # Panics
///
/// If the text is not valid Rust.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    find_functions(parse(text), &mut found);
    found
}

/// Returns the arguments of each call of a function whose name starts with `name`, with the line of the call. Excludes tests.
///
/// # Panics
///
/// If the text is not valid Rust.
pub fn arguments(text: &str, name: &str) -> Vec<(usize, Vec<Token>)> {
    let mut found = Vec::new();
    find_arguments(strip_tests(parse(text)), name, &mut found);
    found
}

fn find_arguments(stream: TokenStream, name: &str, found: &mut Vec<(usize, Vec<Token>)>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    for pair in trees.windows(2) {
        if let [TokenTree::Ident(called), TokenTree::Group(group)] = pair
            && called.to_string().starts_with(name)
            && group.delimiter() == Delimiter::Parenthesis
        {
            let mut tokens = Vec::new();
            flatten(group.stream(), &mut tokens);
            found.push((called.span().start().line, tokens));
        }
    }
    for tree in trees {
        if let TokenTree::Group(group) = tree {
            find_arguments(group.stream(), name, found);
        }
    }
}

fn parse(text: &str) -> TokenStream {
    TokenStream::from_str(text).unwrap_or_else(|error| panic!("this is not Rust: {error}"))
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => flatten(group.stream(), out),
            other => out.push(Token { text: other.to_string(), line: other.span().start().line }),
        }
    }
}

/// Removes each item after `#[cfg(test)]`, up to its body or semicolon.
fn strip_tests(stream: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut is_skipping = false;
    for tree in stream {
        if is_skipping {
            let ends = match &tree {
                TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                other => other.to_string() == ";",
            };
            is_skipping = !ends;
            continue;
        }
        match tree {
            TokenTree::Group(group) if is_cfg_test(&kept, &group) => {
                kept.pop();
                is_skipping = true;
            }
            TokenTree::Group(group) => {
                let inner = strip_tests(group.stream());
                let mut copy = proc_macro2::Group::new(group.delimiter(), inner);
                copy.set_span(group.span());
                kept.push(copy.into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn is_cfg_test(before: &[TokenTree], group: &proc_macro2::Group) -> bool {
    let is_attribute = before.last().is_some_and(|tree| tree.to_string() == "#");
    is_attribute && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

fn find_functions(stream: TokenStream, found: &mut Vec<Function>) {
    let mut open: Option<(String, usize)> = None;
    let mut is_after_fn = false;
    for tree in stream {
        let text = tree.to_string();
        match tree {
            TokenTree::Ident(name) if is_after_fn => {
                open = Some((text, name.span().start().line));
                is_after_fn = false;
            }
            TokenTree::Group(group) => {
                is_after_fn = false;
                if group.delimiter() == Delimiter::Brace
                    && let Some((name, line)) = open.take()
                {
                    let lines = group.span_close().end().line + 1 - line;
                    found.push(Function { name, line, lines });
                }
                find_functions(group.stream(), found);
            }
            _ => {
                is_after_fn = text == "fn";
                if text == ";" {
                    open = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! About std::fs.\nuse std::fs; // std::io\nfn a(f: fn(u8)) -> u8 {\n    2\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() { std::io::stdin(); }\n}\n";

    #[test]
    fn comments_are_not_code_and_tests_can_be_left_out() {
        let found = |tokens: Vec<Token>| lines_of(&tokens, &["std", ":", ":"]);
        assert_eq!(found(of(TEXT)), [2, 9]);
        assert_eq!(found(without_tests(TEXT)), [2]);
    }

    #[test]
    fn functions_are_measured_from_their_name_to_their_end() {
        let found: Vec<(String, usize, usize)> = functions(TEXT)
            .into_iter()
            .map(|function| (function.name, function.line, function.lines))
            .collect();
        assert_eq!(found, [("a".to_owned(), 3, 3), ("b".to_owned(), 9, 1)]);
    }

    #[test]
    fn arguments_of_calls_are_found_in_macros_too() {
        let text = "fn a() { format!(\"{}\", percent_of(b / 2.0), other(1)) }";
        let found: Vec<Vec<String>> = arguments(text, "percent")
            .into_iter()
            .map(|(_, tokens)| tokens.into_iter().map(|token| token.text).collect())
            .collect();
        assert_eq!(found, [["b", "/", "2.0"]]);
    }
}
