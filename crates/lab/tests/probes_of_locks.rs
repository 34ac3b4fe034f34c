//! Tests that the holder of a glibc lock is found from outside, with what it does, and that idle threads of a pool hold no lock.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lab::probes::{Look, Subject, Watch};

use crate::support::LONG;

/// Six threads that repeat one kind of work, most with a lock held.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t of_pool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static const char *kind;
static int file, full[2];
static volatile long sum;
static void compute(void) { for (long i = 0; i < 4000000; i++) sum += i; }
static int is(const char *name) { return strcmp(kind, name) == 0; }
static void *run(void *number) {
    char block[65536] = {0};
    for (;;) {
        if (is("pool")) {
            pthread_mutex_lock(&of_pool);
            pthread_cond_wait(&work, &of_pool);
            pthread_mutex_unlock(&of_pool);
            continue;
        }
        if (is("rwlock")) {
            if (number == 0) {
                pthread_rwlock_wrlock(&shared);
                usleep(20000);
            } else {
                pthread_rwlock_rdlock(&shared);
            }
            pthread_rwlock_unlock(&shared);
            continue;
        }
        pthread_mutex_lock(&the_lock);
        if (is("compute")) compute();
        if (is("sync")) { pwrite(file, block, 4096, 0); fdatasync(file); }
        if (is("pipe")) write(full[1], block, sizeof block);
        if (is("sleep")) usleep(20000);
        pthread_mutex_unlock(&the_lock);
    }
}
int main(int count, char **words) {
    kind = words[1];
    file = open(words[2], O_CREAT | O_RDWR, 0600);
    pipe(full);
    for (long number = 0; number < 6; number++) {
        pthread_t thread;
        pthread_create(&thread, 0, run, (void *)number);
    }
    char block[4096];
    for (;;) {
        usleep(10000);
        if (is("pipe")) read(full[0], block, sizeof block);
        if (is("pool")) { pthread_mutex_lock(&of_pool); pthread_cond_broadcast(&work); pthread_mutex_unlock(&of_pool); }
    }
}
"#;

/// The compiled program. Removed with its folder.
struct Program(tempfile::TempDir);

impl Program {
    fn compile() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("locks.c"), PROGRAM).unwrap();
        let mut cc = Command::new("cc");
        cc.current_dir(&folder).args(["-O1", "-w", "-pthread", "-o", "locks", "locks.c"]);
        let status = cc.status().expect("a C compiler is needed: apt-get install gcc libc6-dev");
        assert!(status.success());
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("locks")
    }
}

/// A shell that acts as a keeper, with the program below it.
struct Keeper(Child);

impl Keeper {
    fn start(program: &Path, kind: &str) -> Self {
        let file = program.with_extension("data");
        let script = format!(
            "'{}' {kind} '{}' < /dev/null & read end; kill $!; wait",
            program.display(),
            file.display()
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The shell ends its child when its input ends.
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// Sums of readings of the program: looks that found a holder, and those among them by label.
#[derive(Debug, Default)]
struct Looks {
    all: f64,
    samples: f64,
    works: Vec<(String, f64)>,
}

impl Looks {
    fn add(&mut self, look: &Look) {
        for reading in look.readings.iter().filter(|reading| reading.subject == "app") {
            match reading.metric {
                "thread_samples" => self.samples += reading.value,
                "lock_looks" => self.all += reading.value,
                "lock_holder_looks" => self.works.push((reading.label.clone(), reading.value)),
                _ => {}
            }
        }
    }

    /// Looks at a lock of this kind whose holder did this.
    fn of(&self, work: &str, kind: &str) -> f64 {
        let is_meant = |label: &str| {
            label.split_once(' ').is_some_and(|(of, lock)| of == work && lock.starts_with(kind))
        };
        self.works.iter().filter(|(label, _)| is_meant(label)).map(|(_, looks)| looks).sum()
    }
}

/// Observes the program until `is_so`.
fn until(program: &Program, kind: &str, is_so: impl Fn(&Looks) -> bool) -> Looks {
    let keeper = Keeper::start(&program.path(), kind);
    let watch = Watch::begin(Subject { roots: vec![("app".into(), keeper.0.id())], ..Subject::default() });
    let (end, mut looks) = (Instant::now() + LONG, Looks::default());
    while !is_so(&looks) {
        assert!(Instant::now() < end, "it did not come: {looks:#?}");
        thread::sleep(Duration::from_millis(20));
        watch.take().iter().for_each(|look| looks.add(look));
    }
    looks
}

#[test]
fn holder_of_a_mutex_is_seen_at_its_work() {
    let program = Program::compile();
    for (kind, work) in
        [("compute", "running"), ("sync", "fdatasync"), ("pipe", "pipe_write"), ("sleep", "timer")]
    {
        let looks = until(&program, kind, |looks| looks.of(work, "mutex locks+0x") >= 10.0);
        let others: f64 = looks.works.iter().map(|(_, count)| count).sum::<f64>() - looks.of(work, "mutex");
        assert_eq!(looks.of(work, "mutex") + others, looks.all, "{looks:?}");
        assert!(kind == "sync" || looks.of(work, "mutex") > 0.5 * looks.all, "{kind}: {looks:?}");
    }
}

#[test]
fn writer_of_a_rwlock_is_seen_at_its_work() {
    let program = Program::compile();
    let looks = until(&program, "rwlock", |looks| looks.of("timer", "rwlock locks+0x") >= 10.0);
    // The writer itself waits for readers in between, and for a core on a busy machine.
    let works = ["timer", "readers", "running"].map(|work| looks.of(work, "rwlock"));
    assert_eq!(works.iter().sum::<f64>(), looks.all, "{looks:?}");
}

#[test]
fn idle_pool_at_a_condition_variable_holds_no_lock() {
    let program = Program::compile();
    let looks = until(&program, "pool", |looks| looks.samples >= 60.0);
    // The mutex of the pool itself is held for moments.
    assert!(looks.all <= 1.0, "{looks:?}");
}
