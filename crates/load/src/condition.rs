//! Conditions on steps of an iteration: on the status of the previous reply, or on the value of a variable.

use alloc::boxed::Box;

/// Condition of a step, or of several consecutive steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Value that is tested.
    pub subject: Subject,
    /// Expectation.
    pub test: Test,
}

/// Value that a condition tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Status of the latest reply.
    Status,
    /// Value of the variable with this number.
    Variable(u16),
}

/// Expectation of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Equal to this text.
    Is(Box<[u8]>),
    /// Different from this text.
    IsNot(Box<[u8]>),
    /// Not empty.
    Present,
    /// Empty or missing.
    Absent,
}

/// Condition of one or more consecutive visits, attached to the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Condition. If it is false, the visits are skipped.
    pub condition: Condition,
    /// Number of visits to skip, including this one; at least 1.
    pub visits: u16,
}

impl Condition {
    /// Returns whether the condition is met. `value` looks up a variable.
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

/// Formats a status as three ASCII digits.
fn digits_of(status: u16) -> [u8; 3] {
    [status / 100 % 10, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_tests_status_or_variable() {
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
