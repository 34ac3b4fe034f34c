//! Tests that connections that wait to be accepted are measured.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

use lab::probes::{Look, NotAvailable, Subject, Watch};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

fn value(look: &Look, metric: &str, label: &str) -> Option<f64> {
    let mut readings = look.readings.iter().filter(|reading| reading.subject == "system");
    readings.find(|reading| reading.metric == metric && reading.label == label).map(|reading| reading.value)
}

fn look_at(subject: Subject) -> (Look, Vec<NotAvailable>) {
    let (mut looks, missing) = Watch::begin(subject).end();
    (looks.remove(0), missing)
}

/// Whether listen queues can be read. A kernel may be built without sock_diag, which the probe must report.
fn can_read_listen_queues(missing: &[NotAvailable]) -> bool {
    let not = missing.iter().find(|missing| missing.probe.starts_with("listen queues"));
    assert!(not.is_none_or(|missing| missing.because.contains("kernel")), "{not:?}");
    not.is_none()
}

#[test]
fn full_queue_of_a_port_is_measured_with_its_limit() {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &std::net::SocketAddrV4::new([127, 0, 0, 1].into(), 0)).unwrap();
    listen(&listener, 1).unwrap();
    let address = std::net::SocketAddr::try_from(rustix::net::getsockname(&listener).unwrap()).unwrap();
    let clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
    let (look, missing) = look_at(Subject { ports: vec![address.port()], ..Subject::default() });
    if can_read_listen_queues(&missing) {
        let port = address.port().to_string();
        assert_eq!(value(&look, "listen_queue", &port), Some(2.0), "one more than the limit may wait");
        assert_eq!(value(&look, "listen_queue_limit", &port), Some(1.0));
    }
    drop(clients);
}

#[test]
fn full_queue_of_a_unix_socket_is_measured_with_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.sock");
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&listener, 7).unwrap();
    let client = UnixStream::connect(&path).unwrap();
    // The symbolic link leads to the bound socket.
    let other = folder.path().join("link.sock");
    std::os::unix::fs::symlink(&path, &other).unwrap();
    let unix_sockets = vec![path.clone(), other.clone()];
    let (look, missing) = look_at(Subject { unix_sockets, ..Subject::default() });
    if can_read_listen_queues(&missing) {
        for path in [&path, &other] {
            let label = path.to_string_lossy();
            assert_eq!(value(&look, "listen_queue", &label), Some(1.0), "{label}");
            assert_eq!(value(&look, "listen_queue_limit", &label), Some(7.0), "{label}");
        }
    }
    drop(client);
}

#[test]
fn missing_listener_is_reported_once() {
    let ports = lab::ports::find_free(1).unwrap();
    let unix_sockets = vec![Path::new("/no-such-folder/app.sock").to_owned()];
    let (look, missing) = look_at(Subject { ports: ports.clone(), unix_sockets, ..Subject::default() });
    if can_read_listen_queues(&missing) {
        for label in [ports[0].to_string(), "/no-such-folder/app.sock".into()] {
            let probe = format!("listen queue of {label}");
            assert_eq!(missing.iter().filter(|missing| missing.probe == probe).count(), 1, "{missing:?}");
            assert_eq!(value(&look, "listen_queue", &label), None);
        }
    }
}

#[test]
fn connection_on_which_the_system_sent_last_waits_for_its_client() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut clients = [(); 3].map(|()| TcpStream::connect(address).unwrap());
    let mut served: Vec<TcpStream> = clients.iter().map(|_| listener.accept().unwrap().0).collect();
    let mut byte = [0];
    for (client, served) in clients.iter_mut().zip(&mut served) {
        client.write_all(b"?").unwrap();
        served.read_exact(&mut byte).unwrap();
    }
    // Longer than a tick of the kernel, so that the answer is known to be later.
    std::thread::sleep(std::time::Duration::from_millis(25));
    served[0].write_all(b"!").unwrap();
    clients[0].read_exact(&mut byte).unwrap();
    let roots = vec![("app".to_owned(), std::process::id())];
    let watch = Watch::begin(Subject { roots, entry: Some(address.port()), ..Subject::default() });
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    let (looks, _) = watch.end();
    let means: Vec<_> = looks.iter().filter_map(|look| value(look, "load_connections", "")).collect();
    let idle: Vec<_> = looks.iter().filter_map(|look| value(look, "load_connections_idle", "")).collect();
    assert!(means.iter().all(|mean| *mean == 3.0), "{means:?}");
    assert!(idle.iter().all(|mean| *mean == 1.0), "{idle:?}");
    let (_, missing) = look_at(Subject { ports: vec![address.port()], ..Subject::default() });
    assert!(!means.is_empty() || !can_read_listen_queues(&missing), "the kernel lists connections");
}
