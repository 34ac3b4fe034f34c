//! Variables of one client.

use crate::script::script_set::Names;
use crate::script::value::{Value, typed};

/// Variables by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(Vec<Variable>);

/// A variable: a text, a value, or both after a conversion.
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

    /// Sets a variable to a text without a type.
    pub(crate) fn set_text(&mut self, slot: u16, text: &[u8]) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        variable.value = None;
        variable.text.clear();
        variable.text.extend_from_slice(text);
        variable.has_text = true;
    }

    /// Sets a variable to a value that is not a text.
    pub(crate) fn set_value(&mut self, slot: u16, value: Value) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        variable.value = Some(value);
        variable.has_text = false;
    }

    /// Text of a variable without a type. `None` if it has a type.
    pub(crate) fn untyped(&self, slot: u16) -> Option<&[u8]> {
        let variable = self.0.get(usize::from(slot))?;
        (variable.value.is_none() && variable.has_text).then_some(&variable.text)
    }

    /// Value of a variable. A text keeps the type that it gets here.
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

    /// Converts the value of a variable to text, if it has one.
    pub(crate) fn write(&mut self, slot: u16) {
        let Some(variable) = self.0.get_mut(usize::from(slot)) else { return };
        if let (Some(value), false) = (variable.value, variable.has_text) {
            variable.text.clear();
            value.write(&mut variable.text);
            variable.has_text = true;
        }
    }

    /// Text of a variable after [`Variables::write`]. `None` if it has no value.
    pub(crate) fn text(&self, slot: u16) -> Option<&[u8]> {
        let variable = self.0.get(usize::from(slot))?;
        variable.has_text.then_some(&variable.text)
    }

    /// True if a variable is known to be a number or Boolean.
    pub(crate) fn is_plain(&self, slot: u16) -> bool {
        let value = self.0.get(usize::from(slot)).and_then(|variable| variable.value);
        matches!(value, Some(Value::Boolean(_) | Value::Int(_) | Value::Double(_)))
    }

    /// True if a variable is known to be NULL, as opposed to a text with that word.
    pub(crate) fn is_null(&self, slot: u16) -> bool {
        self.0.get(usize::from(slot)).is_some_and(|variable| variable.value == Some(Value::Null))
    }
}
