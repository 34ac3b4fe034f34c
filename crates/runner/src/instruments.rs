//! Instruments of an instrumented run: scripts and settings that make runtimes of a system report on themselves.
//!
//! Environment variables reach every process of the system and its children, and each runtime reads its own: Node loads a script that
//! samples its CPU time, Python and Ruby load one with a thread that samples the others, and Go writes its collections and run queues to
//! stderr. Java needs no setting: `lab` takes thread dumps.

use std::path::{Path, PathBuf};

use plan::Launch;

/// Folder of the scripts and of their output, in the folder of the run.
const FOLDER: &str = "tenbin-instruments";

const SCRIPTS: [(&str, &[u8]); 3] = [
    ("node.js", include_bytes!("instruments/node.js")),
    ("python/sitecustomize.py", include_bytes!("instruments/sitecustomize.py")),
    ("ruby.rb", include_bytes!("instruments/ruby.rb")),
];

/// Adds scripts and variables to every process of a system. Returns the folder that the scripts write to.
pub(crate) fn add(launch: &mut Launch, dir: &Path) -> PathBuf {
    let folder = dir.join(FOLDER);
    launch.files.extend(SCRIPTS.map(|(name, text)| (Path::new(FOLDER).join(name), text.to_vec())));
    for process in launch.processes.iter_mut().filter(|process| process.proxy.is_none()) {
        for (name, between, value) in variables(&folder) {
            join(&mut process.command.env, name, between, &value, std::env::var(name).ok());
        }
    }
    folder
}

/// Variables with the text between several values, and their values.
fn variables(folder: &Path) -> [(&'static str, &'static str, String); 5] {
    let in_folder = |name: &str| folder.join(name).display().to_string();
    [
        ("TENBIN_INSTRUMENTS", "", folder.display().to_string()),
        ("NODE_OPTIONS", " ", format!("--require={}", in_folder("node.js"))),
        ("PYTHONPATH", ":", in_folder("python")),
        ("RUBYOPT", " ", format!("-r{}", in_folder("ruby.rb"))),
        ("GODEBUG", ",", "gctrace=1,schedtrace=1000".to_owned()),
    ]
}

/// Adds a value before those that the plan or this process's own environment has.
fn join(env: &mut Vec<(String, String)>, name: &str, between: &str, value: &str, inherited: Option<String>) {
    let own = env.iter().rev().find(|(of, _)| of == name).map(|(_, own)| own.clone()).or(inherited);
    let own = own.filter(|own| !own.is_empty() && !between.is_empty());
    let value = own.map_or_else(|| value.to_owned(), |own| format!("{value}{between}{own}"));
    env.retain(|(of, _)| of != name);
    env.push((name.to_owned(), value));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    use lab::probes::{Subject, Watch};

    use super::*;

    /// Long enough for a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    /// A shell that acts as a keeper. It ends its child when its input ends.
    struct Keeper(Child);

    impl Drop for Keeper {
        fn drop(&mut self) {
            drop(self.0.stdin.take());
            self.0.wait().unwrap();
        }
    }

    /// Runs a program of this runtime with instruments until these metrics are read, with a label that begins so.
    fn until(program: &str, ending: &str, text: &str, package: &str, wanted: &[(&str, &str)]) {
        let there =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(there.is_ok_and(|status| status.success()), "{program} is needed: apt-get install {package}");
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(FOLDER);
        for (name, script) in SCRIPTS {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, script).unwrap();
        }
        let source = dir.path().join(format!("busy.{ending}"));
        fs::write(&source, text).unwrap();
        let script = format!("{program} '{}' < /dev/null & read end; kill $!; wait", source.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).envs(variables(&folder).map(|(name, _, value)| (name, value)));
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = Keeper(shell.spawn().unwrap());
        let roots = vec![("app".to_owned(), keeper.0.id())];
        let watch = Watch::begin(Subject { roots, instruments: Some(folder), ..Subject::default() });
        let end = Instant::now() + LONG;
        let mut missing = wanted.to_vec();
        while !missing.is_empty() {
            assert!(Instant::now() < end, "{program} did not say {missing:?}");
            thread::sleep(Duration::from_millis(50));
            for reading in watch.take().iter().flat_map(|look| &look.readings).filter(|one| one.value > 0.0) {
                missing
                    .retain(|(metric, label)| reading.metric != *metric || !reading.label.starts_with(label));
            }
        }
    }

    #[test]
    fn node_names_functions_and_collections() {
        let text = "function work(end) { let sum = 0; while (Date.now() < end) sum += Math.sqrt(sum + 1); return sum; }\n\
                    function fill() { const all = []; for (let i = 0; i < 300000; i++) all.push({ i, text: 'x' + i }); return all; }\n\
                    setInterval(() => { work(Date.now() + 20); globalThis.kept = fill(); }, 1);\n";
        let wanted = [("runtime", "node"), ("runtime_function_s", "work busy.js:1"), ("runtime_gc_s", "")];
        until("node", "js", text, "nodejs", &wanted);
    }

    #[test]
    fn python_names_functions_collections_and_waits_for_the_gil() {
        let text = "import threading, gc\n\
                    def work():\n    while True:\n        sum(range(1000))\n\
                    for _ in range(3):\n    threading.Thread(target=work).start()\n\
                    while True:\n    gc.collect()\n";
        let wanted = [
            ("runtime", "python"),
            ("runtime_function_s", "work busy.py:2"),
            ("runtime_gil_waits", ""),
            ("runtime_gc_s", ""),
        ];
        until("python3", "py", text, "python3", &wanted);
    }

    #[test]
    fn ruby_names_methods_and_collections() {
        let text = "def work\n  x = 0\n  2000.times { x += 1 }\n  Array.new(20000) { 'x' * 40 }\nend\nloop { work }\n";
        let wanted = [("runtime", "ruby"), ("runtime_function_s", ""), ("runtime_gc_s", "")];
        until("ruby", "rb", text, "ruby", &wanted);
    }

    #[test]
    fn values_of_the_plan_and_of_the_environment_stay() {
        let mut env = vec![("PYTHONPATH".to_owned(), "/app".to_owned())];
        join(&mut env, "PYTHONPATH", ":", "/own", Some("/inherited".to_owned()));
        join(&mut env, "GODEBUG", ",", "gctrace=1", Some("http2client=0".to_owned()));
        join(&mut env, "RUBYOPT", " ", "-rown", None);
        let expected =
            [("PYTHONPATH", "/own:/app"), ("GODEBUG", "gctrace=1,http2client=0"), ("RUBYOPT", "-rown")];
        assert_eq!(env, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
