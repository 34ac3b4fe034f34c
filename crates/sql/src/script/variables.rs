//! The variables of one client.

use crate::script::deck::Names;
use crate::script::value::{Value, typed};

/// By their slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(Vec<Variable>);

/// One variable: a text, a value, or both once one was made from the other.
#[derive(Clone, Debug, Default)]
struct Variable {
    value: Option<Value>,
    text: Vec<u8>,
    has_text: bool,
}

impl Variables {
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![Variable::default(); count])
    }

    /// Gives a variable a text without a type.
    pub(crate) fn set_text(&mut self, slot: u16, text: &[u8]) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        variable.value = None;
        variable.text.clear();
        variable.text.extend_from_slice(text);
        variable.has_text = true;
    }

    /// Gives a variable a value that is no text.
    pub(crate) fn set_value(&mut self, slot: u16, value: Value) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        variable.value = Some(value);
        variable.has_text = false;
    }

    /// The text of a variable that has no type yet.
    pub(crate) fn untyped(&self, slot: u16) -> Option<&[u8]> {
        let variable = self.0.get(usize::from(slot))?;
        (variable.value.is_none() && variable.has_text).then_some(&variable.text)
    }

    /// The value of a variable. A text keeps the type it gets here.
    pub(crate) fn typed(&mut self, slot: u16, names: &Names) -> Result<Value, String> {
        let undefined = || format!("undefined variable \"{}\"", names.name(slot));
        let variable = self.0.get_mut(usize::from(slot)).ok_or_else(undefined)?;
        if let Some(value) = variable.value {
            return Ok(value);
        }
        if !variable.has_text {
            return Err(undefined());
        }
        let value = typed(&variable.text, names.name(slot))?;
        variable.value = Some(value);
        Ok(value)
    }

    /// Makes the text of a variable, if it has a value.
    pub(crate) fn write(&mut self, slot: u16) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        if let (Some(value), false) = (variable.value, variable.has_text) {
            variable.text.clear();
            value.write(&mut variable.text);
            variable.has_text = true;
        }
    }

    /// The text of a variable, once [`Variables::write`] was called for it; `None` if it has no value.
    pub(crate) fn text(&self, slot: u16) -> Option<&[u8]> {
        let variable = self.0.get(usize::from(slot))?;
        variable.has_text.then_some(&variable.text)
    }

    /// Whether a variable is known to be a number or a truth.
    pub(crate) fn is_plain(&self, slot: u16) -> bool {
        let value = self.0.get(usize::from(slot)).and_then(|variable| variable.value);
        matches!(value, Some(Value::Boolean(_) | Value::Int(_) | Value::Double(_)))
    }

    /// Whether a variable is known to be NULL, rather than to hold that word as a text of somebody else.
    pub(crate) fn is_null(&self, slot: u16) -> bool {
        self.0.get(usize::from(slot)).is_some_and(|variable| variable.value == Some(Value::Null))
    }
}
