//! Compiles requests from shapes alone, before their contents are known.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Checks, Http1, HttpStep, Request};
use crate::secrets::Secrets;
use crate::step::{RequestShape, ShapedRequests, Step};

/// See [`crate::step::CompileShapes`].
pub(super) fn compile(
    shapes: &[RequestShape<'_>],
    like: &dyn Step,
    secrets: &Secrets,
) -> Result<Box<dyn ShapedRequests>, String> {
    let like = like.downcast::<HttpStep>().ok_or("it is a step of another protocol")?;
    let headers = shapes.iter().map(|shape| shape.headers.len()).max().unwrap_or(0);
    // Must match the numbering in `RequestShape`.
    let mut variables = vec!["target".to_owned(), "body".to_owned()];
    variables.extend((0..headers).map(|header| format!("header{header}")));
    let steps: Vec<HttpStep> = shapes.iter().map(|shape| step(shape, &like.request)).collect();
    let compiled = Http1::compile(&steps, &variables, secrets).map_err(|wrong| wrong.what)?;
    Ok(Box::new(compiled))
}

/// The request `like` with a shape.
fn step(shape: &RequestShape<'_>, like: &Request) -> HttpStep {
    let is_given = |name: &str| shape.headers.iter().any(|given| given.eq_ignore_ascii_case(name));
    let own = like.headers.iter().filter(|(name, _)| !is_given(name)).cloned();
    let headers = shape.headers.iter().enumerate();
    let headers = headers.map(|(number, name)| ((*name).to_owned(), format!("{{header{number}}}")));
    HttpStep {
        request: Request {
            method: shape.method.to_owned(),
            target: "{target}".to_owned(),
            headers: own.chain(headers).collect(),
            body: shape.has_body.then(|| b"{body:raw}".to_vec()),
            ..like.clone()
        },
        checks: Checks::default(),
        captures: Vec::new(),
    }
}
