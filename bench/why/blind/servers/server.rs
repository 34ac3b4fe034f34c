//! A web server with a thread for each connection. Each request runs the steps of the command line in order.
//!
//! Usage: server PORT STEP… [-- BACKGROUND-STEP…]…
//! A step is `NAME[=NUMBER][:STEP]`; some steps run another one:
//!   sleep=US, cpu=US (about), log=BYTES (to standard output), call=PORT, copy=KIB, sort=COUNT, sync (a byte to the file SYNC_FILE, then fsync)
//!   mutex:, read:, write: (a RwLock), spin: (yields until it is free), slots=N:, workers=N: (a channel), cache=MS: (refreshed by one thread)
//! Each group of steps after `--` runs again and again in a thread of its own.
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

type Step = Arc<dyn Fn() + Send + Sync>;

thread_local! {
    static PEER: RefCell<Option<TcpStream>> = const { RefCell::new(None) };
}

fn us(number: u64) -> Duration {
    Duration::from_micros(number)
}

fn compute(number: u64) {
    // A fixed amount of work: time would pass without work, too, where the cores are short.
    let mut sum = 0u64;
    for i in 0..number * 2000 {
        sum = std::hint::black_box(sum.wrapping_add(i));
    }
}

fn call(port: u64) {
    PEER.with_borrow_mut(|peer| {
        let peer = peer.get_or_insert_with(|| TcpStream::connect(("127.0.0.1", port as u16)).expect("dependency"));
        peer.set_nodelay(true).expect("nodelay");
        peer.write_all(b"GET / HTTP/1.1\r\nHost: dependency\r\n\r\n").expect("dependency");
        let mut reply = [0; 4096];
        assert!(peer.read(&mut reply).expect("dependency") > 0, "the dependency closed the connection");
    });
}

fn sort(count: u64) {
    let mut state = 88172645463325252u64;
    let mut values: Vec<u64> = (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect();
    // Insertion sort.
    for i in 1..values.len() {
        let mut at = i;
        while at > 0 && values[at - 1] > values[at] {
            values.swap(at - 1, at);
            at -= 1;
        }
    }
    std::hint::black_box(values);
}

fn slots(count: u64, inner: Step) -> Step {
    let free = Arc::new((Mutex::new(count), Condvar::new()));
    Arc::new(move || {
        let (count, is_free) = &*free;
        *is_free.wait_while(count.lock().unwrap(), |count| *count == 0).unwrap() -= 1;
        inner();
        *count.lock().unwrap() += 1;
        is_free.notify_one();
    })
}

fn workers(count: u64, inner: Step) -> Step {
    let (jobs, queue) = channel::<SyncSender<()>>();
    let queue: Arc<Mutex<Receiver<SyncSender<()>>>> = Arc::new(Mutex::new(queue));
    for _ in 0..count {
        let (queue, inner) = (Arc::clone(&queue), Arc::clone(&inner));
        thread::spawn(move || loop {
            let job = queue.lock().unwrap().recv().expect("a job");
            inner();
            let _ = job.send(());
        });
    }
    let jobs = Mutex::new(jobs);
    Arc::new(move || {
        let (done, waiting) = sync_channel(1);
        jobs.lock().unwrap().send(done).expect("a worker");
        waiting.recv().expect("a worker");
    })
}

fn cache(ms: u64, inner: Step) -> Step {
    let fresh_until = Mutex::new(Instant::now());
    Arc::new(move || {
        let mut fresh_until = fresh_until.lock().unwrap();
        if Instant::now() >= *fresh_until {
            inner();
            *fresh_until = Instant::now() + Duration::from_millis(ms);
        }
    })
}

fn spin(inner: Step) -> Step {
    let is_taken = AtomicBool::new(false);
    Arc::new(move || {
        while is_taken.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        inner();
        is_taken.store(false, Ordering::Release);
    })
}

fn sync() -> Step {
    let file = File::create(std::env::var("SYNC_FILE").expect("SYNC_FILE")).expect("SYNC_FILE");
    Arc::new(move || {
        (&file).write_all(b"x").expect("a write");
        file.sync_data().expect("a sync");
    })
}

fn step(word: &str) -> Step {
    let (head, rest) = word.split_once(':').map_or((word, None), |(head, rest)| (head, Some(rest)));
    let (name, number) = head.split_once('=').unwrap_or((head, "0"));
    let number: u64 = number.parse().unwrap_or_else(|_| panic!("not a number: {head}"));
    let inner = || step(rest.unwrap_or_else(|| panic!("{name} needs a step")));
    match name {
        "sleep" => Arc::new(move || thread::sleep(us(number))),
        "cpu" => Arc::new(move || compute(number)),
        "log" => Arc::new(move || println!("{}", "x".repeat(number as usize))),
        "call" => Arc::new(move || call(number)),
        "copy" => {
            let text = vec![1u8; (number as usize) << 10];
            Arc::new(move || drop(std::hint::black_box(text.clone())))
        }
        "sort" => Arc::new(move || sort(number)),
        "sync" => sync(),
        "mutex" => {
            let (mutex, inner) = (Mutex::new(()), inner());
            Arc::new(move || {
                let _guard = mutex.lock().unwrap();
                inner();
            })
        }
        "read" | "write" => {
            static LOCK: RwLock<()> = RwLock::new(());
            let inner = inner();
            let is_read = name == "read";
            Arc::new(move || {
                let _read = is_read.then(|| LOCK.read().unwrap());
                let _write = (!is_read).then(|| LOCK.write().unwrap());
                inner();
            })
        }
        "slots" => slots(number, inner()),
        "workers" => workers(number, inner()),
        "cache" => cache(number, inner()),
        "spin" => spin(inner()),
        _ => panic!("no step {name}"),
    }
}

fn serve(mut client: TcpStream, steps: &[Step]) {
    let _ = client.set_nodelay(true);
    let (mut request, mut length) = ([0; 8192], 0);
    loop {
        match client.read(&mut request[length..]) {
            Ok(got) if got > 0 => length += got,
            _ => return,
        }
        if !request[..length].ends_with(b"\r\n\r\n") {
            continue;
        }
        length = 0;
        steps.iter().for_each(|step| step());
        if client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n").is_err() {
            return;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (port, words) = arguments.split_first().expect("usage: server PORT STEP…");
    let mut groups = words.split(|word| word == "--").map(|words| words.iter().map(|word| step(word)).collect());
    let steps: Arc<Vec<Step>> = Arc::new(groups.next().expect("steps"));
    for group in groups {
        let group: Vec<Step> = group;
        thread::spawn(move || loop {
            group.iter().for_each(|step| step());
        });
    }
    let listener = TcpListener::bind(("127.0.0.1", port.parse().expect("a port"))).expect("a free port");
    for client in listener.incoming() {
        let (client, steps) = (client.expect("a client"), Arc::clone(&steps));
        thread::spawn(move || serve(client, &steps));
    }
}
