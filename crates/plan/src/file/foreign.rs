//! Recognizes plan arguments that are files of other load generators, so that a single error names the replacement.

use crate::system_kind::begins_as_request_url;

/// Max bytes of a file that are read to recognize it.
const READ_BYTES_MAX: usize = 64 * 1024;

/// A kind of file that is not a plan.
struct ForeignFormat {
    what: &'static str,
    is_one: fn(&str) -> bool,
    /// Parts of a plan that correspond to it.
    help: &'static str,
}

const FOREIGN_FORMATS: &[ForeignFormat] = &[
    ForeignFormat {
        what: "this is a k6 script, not a Tenbin plan",
        is_one: |text| {
            let is_of_k6 = |line: &str| line.contains("'k6") || line.contains("\"k6");
            text.lines().any(|line| line.starts_with("import ") && is_of_k6(line))
        },
        help: "write a YAML plan (`tenbin init` starts one): each http.get(…) as a step `get: /path`, the host as `url`, `vus` as `users`, `duration` as `for`, \
               sleep(…) as `think`, check(…) as `expect`, and `thresholds` as `gates`",
    },
    ForeignFormat {
        what: "this is a JMeter test plan, not a Tenbin plan",
        is_one: |text| text.trim_start().starts_with('<') && text.contains("<jmeterTestPlan"),
        help: "write a YAML plan (`tenbin init` starts one): each HTTP sampler as a step such as `get: /path`, its server as `url`, the threads of the thread group \
               as `users`, its duration as `for`, timers as `think`, assertions as `expect`, and CSV data sets as `data`",
    },
    ForeignFormat {
        what: "this is an Artillery script, not a Tenbin plan",
        is_one: |text| {
            let has = |key: &str| {
                text.lines().any(|line| line.trim_start().trim_start_matches("- ").starts_with(key))
            };
            text.lines().any(|line| line.trim_end() == "config:")
                && (has("phases:") || has("arrivalRate:") || has("flow:"))
        },
        help: "write a plan (`tenbin init` starts one): `config.target` as `url`, `phases` as `load` with `arrivalRate` as `rate` and `duration` as `for`, `flow` as \
               `scenario` with steps such as `get: /path`, `think` as `think` of a step, `capture` as `save`, and `ensure` as `gates`",
    },
    ForeignFormat {
        what: "this is a Locust file, not a Tenbin plan",
        is_one: |text| {
            text.lines()
                .any(|line| line.starts_with("from locust import") || line.starts_with("import locust"))
        },
        help: "write a YAML plan (`tenbin init` starts one): each self.client.get(…) as a step `get: /path`, `host` as `url`, `wait_time` as `think`, weights of tasks \
               as `weight`, and the number of users as `users`",
    },
    ForeignFormat {
        what: "this is a Lua script of wrk, not a Tenbin plan",
        is_one: |text| text.lines().any(|line| line.starts_with("wrk.") || is_wrk_function(line)),
        help: "write a YAML plan (`tenbin init` starts one): `wrk.method` and `wrk.path` as a step such as `post: /path`, `wrk.headers` as `headers`, `wrk.body` \
               as `body`, and values that change as `data`",
    },
    ForeignFormat {
        what: "this is a file of Docker Compose, not a Tenbin plan",
        is_one: |text| {
            text.lines().any(|line| line.trim_end() == "services:")
                && text.lines().any(|line| {
                    let line = line.trim_start();
                    line.starts_with("image:") || line.starts_with("build:")
                })
        },
        help: "write a plan (`tenbin init` starts one) whose `url` is the published port of a service; `container: NAME` reads the service's figures",
    },
    ForeignFormat {
        what: "this is a list of requests as vegeta reads them, not a Tenbin plan",
        is_one: |text| {
            let is_target = |line: &str| {
                line.split_once(' ').is_some_and(|(method, url)| {
                    ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(&method) && url.contains("://")
                })
            };
            text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_target)
        },
        help: "write a YAML plan (`tenbin init` starts one): each line as a step such as `get: /path` of `scenario`, the host as `url`, and `-rate` as `rate`",
    },
    ForeignFormat {
        what: "this is a list of URLs, not a Tenbin plan",
        is_one: |text| {
            let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines().next().is_some() && lines().all(is_http_url)
        },
        help: "write a YAML plan (`tenbin init` starts one): each path as a step such as `get: /path` of `scenario`, and the host as `url`",
    },
    ForeignFormat {
        what: "this is an SQL script, not a Tenbin plan",
        is_one: |text| {
            let mut lines =
                text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
            let words = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "BEGIN", "\\set "];
            lines.next().is_some_and(|line| {
                let line = line.to_ascii_uppercase();
                words.iter().any(|word| line.starts_with(&word.to_ascii_uppercase()))
            })
        },
        help: "run it on a database: tenbin postgres://USER@HOST/DATABASE -f FILE; in a plan, it is a step `script: FILE`",
    },
];

/// Whether a line looks like an HTTP URL.
fn is_http_url(line: &str) -> bool {
    begins_as_request_url(line) && line.contains("://")
}

fn is_wrk_function(line: &str) -> bool {
    ["request", "response", "init", "setup", "done"]
        .iter()
        .any(|name| line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with("= function")))
}

/// Name of the file's format and the help, if the file belongs to another tool.
pub(crate) fn recognize(source: &str) -> Option<(&'static str, &'static str)> {
    let read = &source[..source.floor_char_boundary(READ_BYTES_MAX)];
    let foreign = FOREIGN_FORMATS.iter().find(|foreign| (foreign.is_one)(read))?;
    Some((foreign.what, foreign.help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_files_of_other_tools_but_not_plans() {
        let is = |text: &str, name: &str| recognize(text).is_some_and(|(what, _)| what.contains(name));
        assert!(is("import http from 'k6/http';\nexport default function () {}\n", "k6"));
        assert!(is("<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">\n", "JMeter"));
        assert!(is(
            "config:\n  target: http://127.0.0.1\n  phases:\n    - duration: 60\nscenarios:\n  - flow: []\n",
            "Artillery"
        ));
        assert!(is("from locust import HttpUser, task\n", "Locust"));
        assert!(is("wrk.method = \"POST\"\n", "wrk"));
        assert!(is("request = function()\nend\n", "wrk"));
        assert!(is("services:\n  web:\n    image: nginx\n", "Compose"));
        assert!(is("GET http://localhost/\n", "vegeta"));
        assert!(is("http://localhost/a\nhttp://localhost/b\n", "URLs"));
        assert!(is("-- all\nselect 1;\n", "SQL"));
        for plan in ["scenario: [ get: / ]\nload: { users: 1 }\n", "config:\n  a: 1\n", ""] {
            assert_eq!(recognize(plan), None, "{plan}");
        }
    }
}
