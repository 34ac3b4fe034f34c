//! Runs the server for all tools: nginx with one worker on one core, which answers 13 bytes from memory.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};

use crate::certificate::{self, Certificate};
use crate::installed::Installed;
use harness::child::Child;
use harness::interrupt::Interrupt;

/// Number of attempts to start nginx. Another program may take a free port before nginx binds it.
const ATTEMPTS: usize = 3;
const READY_WITHIN: Duration = Duration::from_secs(10);
const STOPPED_WITHIN: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const BODY: &str = "hello, world\n";

/// Running nginx, stopped on drop.
#[derive(Debug)]
pub(crate) struct Nginx {
    child: Child,
    /// Address for HTTP/1.1 without TLS.
    pub(crate) plain: SocketAddr,
    /// Address for HTTP/1.1 over TLS 1.3.
    pub(crate) tls: SocketAddr,
}

impl Nginx {
    /// Starts nginx on two free ports of 127.0.0.1 and waits until it answers. Its files are in `folder`.
    ///
    /// # Errors
    ///
    /// If the certificate cannot be created, or if nginx does not start or answer in time. The message includes the last line of its
    /// log.
    pub(crate) fn start(
        folder: &Path,
        installed: &Installed,
        core: usize,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let certificate = certificate::make(folder, &installed.openssl, interrupt)?;
        let mut last_error = anyhow!("nginx was not started");
        for _ in 0..ATTEMPTS {
            match Self::attempt(folder, installed, core, &certificate, interrupt) {
                Ok(nginx) => return Ok(nginx),
                Err(error) => last_error = error,
            }
            if interrupt.is_asked() {
                break;
            }
        }
        let log = fs::read_to_string(folder.join("error.log")).unwrap_or_default();
        let last_words = log.lines().last().unwrap_or("its log is empty");
        Err(last_error.context(format!("nginx does not come up: {last_words}")))
    }

    fn attempt(
        folder: &Path,
        installed: &Installed,
        core: usize,
        certificate: &Certificate,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let (plain, tls) = free_addresses().context("no free port on 127.0.0.1")?;
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration(folder, plain, tls, certificate))
            .with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = Command::new(&installed.taskset);
        command
            .args(["-c", &core.to_string()])
            .arg(&installed.nginx)
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(&file);
        command.arg("-e").arg(folder.join("error.log")).stdout(Stdio::null()).stderr(Stdio::null());
        let child = Child::start(&mut command).map_err(anyhow::Error::msg)?;
        let mut nginx = Self { child, plain, tls };
        nginx.wait_until_ready(interrupt)?;
        Ok(nginx)
    }

    fn wait_until_ready(&mut self, interrupt: &Interrupt) -> anyhow::Result<()> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(status) = self.child.ended().map_err(anyhow::Error::msg)? {
                bail!("it ended at once with {status}");
            }
            let answer =
                ask(self.plain).and_then(|()| TcpStream::connect_timeout(&self.tls, POLL_INTERVAL).map(drop));
            match answer {
                Ok(()) => return Ok(()),
                Err(_) if interrupt.is_asked() => bail!("interrupted"),
                Err(error) if Instant::now() >= deadline => {
                    return Err(error)
                        .with_context(|| format!("no answer within {} s", READY_WITHIN.as_secs()));
                }
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.child.stop(STOPPED_WITHIN);
    }
}

/// Sends a request, and checks the body of the response.
fn ask(address: SocketAddr) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut answer)?;
    if answer.ends_with(BODY.as_bytes()) {
        Ok(())
    } else {
        Err(std::io::Error::other("another server answered"))
    }
}

fn free_addresses() -> std::io::Result<(SocketAddr, SocketAddr)> {
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Binds both ports before it releases one, so that they differ.
    let (one, other) = (listen()?, listen()?);
    Ok((one.local_addr()?, other.local_addr()?))
}

/// Returns the nginx configuration with the least work per request: no access log, no reads from disk. Connections have no
/// practical limit on requests.
fn configuration(folder: &Path, plain: SocketAddr, tls: SocketAddr, certificate: &Certificate) -> String {
    let folder = folder.display();
    let temp_paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path \"{folder}/{name}\";\n"))
        .concat();
    let body = BODY.replace('\n', "\\n");
    format!(
        "daemon off;\n\
         worker_processes 1;\n\
         worker_rlimit_nofile 16000;\n\
         pid \"{folder}/nginx.pid\";\n\
         error_log \"{folder}/error.log\";\n\
         events {{ worker_connections 15000; }}\n\
         http {{\n\
         {temp_paths}    access_log off;\n    \
             keepalive_requests 1000000000;\n    \
             keepalive_timeout 300s;\n    \
             default_type text/plain;\n    \
             server {{\n        \
                 listen {plain} backlog=4096;\n        \
                 listen {tls} ssl backlog=4096;\n        \
                 ssl_protocols TLSv1.3;\n        \
                 ssl_certificate \"{}\";\n        \
                 ssl_certificate_key \"{}\";\n        \
                 location / {{ return 200 \"{body}\"; }}\n    \
             }}\n\
         }}\n",
        certificate.certificate.display(),
        certificate.key.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_free_addresses_differ_and_are_loopback() {
        let (one, other) = free_addresses().unwrap();
        assert_ne!(one, other);
        assert!(one.ip().is_loopback() && other.ip().is_loopback());
    }
}
