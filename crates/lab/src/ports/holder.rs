//! Finds the process that uses a port, from the kernel's socket tables and the open files of processes.

use std::fs;

use crate::processes;

const STATE_LISTEN: &str = "0A";

/// Describes the holder of a port as "pid 4711 (puma -w 2)", as far as it is known. `None` if no socket has this port.
pub(crate) fn holder(port: u16) -> Option<String> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let mut sockets: Vec<Socket> = tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .filter_map(|line| parse_row(line, port))
        .collect();
    sockets.sort_by_key(|socket| !socket.listens);
    let socket = sockets.first()?;
    let owner = owner(socket.inode).map(|pid| format!("pid {pid} ({})", processes::command_line(pid)));
    Some(match (owner, socket.listens) {
        (Some(owner), true) => owner,
        (Some(owner), false) => format!("a connection of {owner}"),
        (None, true) => "a process of another user".to_owned(),
        (None, false) => "a connection that has just ended".to_owned(),
    })
}

struct Socket {
    listens: bool,
    inode: u64,
}

/// Parses a row of `/proc/net/tcp`: number, local address, remote address, state, queues, timer, retries, user, timeout, and inode.
fn parse_row(line: &str, port: u16) -> Option<Socket> {
    let mut columns = line.split_whitespace();
    let local = columns.nth(1)?;
    let (_, local_port) = local.rsplit_once(':')?;
    if u16::from_str_radix(local_port, 16).ok()? != port {
        return None;
    }
    let state = columns.nth(1)?;
    Some(Socket { listens: state == STATE_LISTEN, inode: columns.nth(5)?.parse().ok()? })
}

fn owner(inode: u64) -> Option<u32> {
    let wanted = format!("socket:[{inode}]");
    processes::pids().into_iter().find(|pid| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|link| link.to_str() == Some(&wanted)))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn this_process_is_found_by_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let found = holder(port).expect("somebody listens");
        assert!(found.starts_with(&format!("pid {} (", std::process::id())), "{found}");
    }

    #[test]
    fn malformed_rows_are_skipped() {
        for line in ["", "0:", "  1: zz:zz 0:0 0A", "0: 0100007F:1F90 00000000:0000 0A x x x 0 0"] {
            assert!(parse_row(line, 8080).is_none(), "{line}");
        }
        let line = "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12345 1 0 0";
        assert!(parse_row(line, 8080).is_some_and(|socket| socket.listens && socket.inode == 12_345));
    }
}
