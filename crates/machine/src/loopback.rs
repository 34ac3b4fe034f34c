//! Throughput and round trips of a TCP connection over loopback.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::figure::Findings;
use crate::site::Site;
use crate::stopwatch::{Stopwatch, per_s};

const CHUNK_BYTES: usize = 128 << 10;
/// Timeout of socket operations, which are exceeded only if something blocks loopback traffic, such as a firewall.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Number of round trips between two clock reads.
const BATCH: u32 = 8;

/// Measures throughput and round trips.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    findings.note("loopback_bytes", site.repeat(|| bulk(site).map_err(|error| error.to_string())));
    let round_trips = site.repeat(|| round_trips(site).map_err(|error| error.to_string()));
    findings.note("loopback_round_trips", round_trips);
}

/// Returns both ends of a connection.
fn connection() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect_timeout(&listener.local_addr()?, TIMEOUT)?;
    let (far, address) = listener.accept()?;
    if address != near.local_addr()? {
        return Err(io::Error::other("another program connected to the trial"));
    }
    for end in [&near, &far] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(TIMEOUT))?;
        end.set_write_timeout(Some(TIMEOUT))?;
    }
    Ok((near, far))
}

/// Measures throughput in GB/s.
fn bulk(site: &Site<'_>) -> io::Result<f64> {
    let (mut near, mut far) = connection()?;
    thread::scope(|scope| {
        let write = scope.spawn(move || -> io::Result<()> {
            let (chunk, watch) = (vec![1; CHUNK_BYTES], Stopwatch::start());
            while watch.elapsed() < site.effort.slice {
                near.write_all(&chunk)?;
            }
            near.shutdown(Shutdown::Write)
        });
        let (mut buffer, mut bytes, watch) = (vec![0; CHUNK_BYTES], 0, Stopwatch::start());
        loop {
            match far.read(&mut buffer)? {
                0 => break,
                count => bytes += count,
            }
        }
        let elapsed_s = watch.elapsed_s();
        write.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))?;
        Ok(bytes as f64 / 1e9 / elapsed_s)
    })
}

/// Measures round trips per second.
fn round_trips(site: &Site<'_>) -> io::Result<f64> {
    let (mut near, mut far) = connection()?;
    thread::scope(|scope| {
        let echo = scope.spawn(move || -> io::Result<()> {
            let mut byte = [0];
            while far.read(&mut byte)? == 1 {
                far.write_all(&byte)?;
            }
            Ok(())
        });
        let (mut byte, mut result) = ([1], Ok(()));
        let per_s = per_s(site.effort.slice, BATCH, || {
            if result.is_ok() {
                result = near.write_all(&byte).and_then(|()| near.read_exact(&mut byte));
            }
        });
        drop(near);
        echo.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))?;
        result.map(|()| per_s)
    })
}
