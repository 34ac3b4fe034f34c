//! Parses the output of GNU time: elapsed time, CPU time in steps of 10 ms, and peak resident memory.

use serde::Serialize;

/// Format for `time -f`.
pub const FORMAT: &str = "%e %U %S %M";

/// Resource use of a program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Used {
    /// Elapsed time, in steps of 10 ms.
    pub wall_s: f64,
    /// CPU time in user space, in steps of 10 ms.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in steps of 10 ms.
    pub cpu_sys_s: f64,
    /// Peak resident memory, in bytes.
    pub rss_peak_bytes: u64,
}

/// Parses the last line. Earlier lines are messages, for example about an exit code.
///
/// # Errors
///
/// Returns a message with the line if it has another format.
pub fn parse(text: &str) -> Result<Used, String> {
    let line = text.lines().last().unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let numbers = match words[..] {
        [wall, user, system, rss_kib] => {
            (wall.parse().ok(), user.parse().ok(), system.parse().ok(), rss_kib.parse::<u64>().ok())
        }
        _ => (None, None, None, None),
    };
    let (Some(wall_s), Some(cpu_user_s), Some(cpu_sys_s), Some(rss_kib)) = numbers else {
        return Err(format!("time(1) wrote {line:?} instead of times and memory"));
    };
    Ok(Used { wall_s, cpu_user_s, cpu_sys_s, rss_peak_bytes: rss_kib.saturating_mul(1024) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_is_parsed() {
        let used = Used { wall_s: 1.1, cpu_user_s: 0.12, cpu_sys_s: 0.97, rss_peak_bytes: 4_743_168 };
        assert_eq!(parse("1.10 0.12 0.97 4632\n"), Ok(used));
        assert_eq!(parse("Command exited with non-zero status 4\n1.10 0.12 0.97 4632\n"), Ok(used));
        for odd in ["", "1.10 0.12 0.97", "a b c d", "1.10 0.12 0.97 46 32", "Command terminated by signal 9"]
        {
            assert!(parse(odd).is_err(), "{odd}");
        }
    }
}
