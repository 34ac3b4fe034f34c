//! Whether a step is done in an iteration: what the reply before it was, or what a value is.

use alloc::boxed::Box;

/// A condition for a step, or for several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What is looked at.
    pub subject: Subject,
    /// What it must be.
    pub test: Test,
}

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The status of the latest reply.
    Status,
    /// The value of a variable.
    Variable(u16),
}

/// What a value must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// This text.
    Is(Box<[u8]>),
    /// Any other.
    IsNot(Box<[u8]>),
    /// Not empty.
    Present,
    /// Empty, or not there.
    Absent,
}

/// A condition for the visit that has it, and for those behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// If it does not hold, they are left out.
    pub condition: Condition,
    /// How many visits are left out, this one included; at least 1.
    pub visits: u16,
}

impl Condition {
    /// Whether it holds.
    pub fn holds<'a>(&self, status: u16, value: impl FnOnce(u16) -> Option<&'a [u8]>) -> bool {
        let digits;
        let seen: &[u8] = match self.subject {
            Subject::Status => {
                digits = digits_of(status);
                &digits
            }
            Subject::Variable(variable) => value(variable).unwrap_or_default(),
        };
        match &self.test {
            Test::Is(text) => *seen == **text,
            Test::IsNot(text) => *seen != **text,
            Test::Present => !seen.is_empty(),
            Test::Absent => seen.is_empty(),
        }
    }
}

/// A status has three digits.
fn digits_of(status: u16) -> [u8; 3] {
    [status / 100 % 10, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_looks_at_the_status_or_at_a_value() {
        let holds = |subject, test, value: Option<&[u8]>| Condition { subject, test }.holds(204, |_| value);
        let text = |text: &[u8]| Box::from(text);
        assert!(holds(Subject::Status, Test::Is(text(b"204")), None));
        assert!(!holds(Subject::Status, Test::Is(text(b"20")), None));
        assert!(holds(Subject::Status, Test::IsNot(text(b"200")), None));
        assert!(holds(Subject::Variable(3), Test::Is(text(b"a")), Some(b"a")));
        assert!(holds(Subject::Variable(3), Test::IsNot(text(b"a")), None));
        for (value, is_present) in [(None, false), (Some(&b""[..]), false), (Some(b"0"), true)] {
            assert_eq!(holds(Subject::Variable(0), Test::Present, value), is_present);
            assert_eq!(holds(Subject::Variable(0), Test::Absent, value), !is_present);
        }
    }
}
