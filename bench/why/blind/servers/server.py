"""A web server with a thread for each connection, or with the setting async an event loop. Each request runs the steps in order.

Usage: server.py PORT [async] STEP... [-- BACKGROUND-STEP...]...
A step is NAME[=VALUE][:STEP]; some steps run another one:
  sleep=US, cpu=US, block=US (sleeps in the event loop, too), regex=LENGTH (backtracks), quadratic=COUNT, collect, garbage=COUNT
  call=PORT, fresh=PORT (a connection for each call), ask=PORT (UDP), log=BYTES (logging, with its lock), spawn, flock=FILE:
  lock:, repeat=N:, slots=N: (a semaphore), workers=N: (a pool of threads)
  sql=STATEMENT (PostgreSQL at DB_PORT over DB_POOL connections), login=STATEMENT (over a new one), lite=STATEMENT (SQLite in LITE_FILE)
Each group of steps after -- runs again and again in a thread of its own. KEEP is thousands of small objects that stay alive.
"""

import asyncio
import concurrent.futures
import fcntl
import gc
import http.client
import logging
import os
import pathlib
import queue
import random
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "cases/servers"))
import postgres

logging.basicConfig(stream=sys.stdout, format="%(message)s")
kept = [{"n": n, "items": [n]} for n in range(int(os.environ.get("KEEP", "0")) * 1000)]
local = threading.local()
is_async = sys.argv[2:3] == ["async"]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
COMBINED = ("flock", "lock", "repeat", "slots", "workers")
ERROR = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 3\r\n\r\nno\n"


def per_thread(name, make):
    if not hasattr(local, name):
        setattr(local, name, make())
    return getattr(local, name)


def compute(us):
    end = time.thread_time() + us / 1e6
    while time.thread_time() < end:
        sum(range(1000))


def regex(length):
    re.match("(a+)+$", "a" * length + "b")


def quadratic(count):
    rows = []
    for n in range(count):
        if n not in rows:
            rows.append(n)


def garbage(count):
    for n in range(count):
        kept[random.randrange(len(kept))] = {"n": n, "items": [n]}


def request(client):
    client.request("GET", "/")
    client.getresponse().read()


def call(port):
    request(per_thread("peer", lambda: http.client.HTTPConnection("127.0.0.1", port)))


def fresh(port):
    client = http.client.HTTPConnection("127.0.0.1", port)
    request(client)
    client.close()


def ask(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        # The name server may not be there yet.
        peer.settimeout(1)
        for _ in range(10):
            try:
                peer.sendto(b"name", ("127.0.0.1", port))
                peer.recv(512)
                return
            except TimeoutError:
                pass


def pooled(statement):
    pool = queue.SimpleQueue()
    for _ in range(int(os.environ.get("DB_POOL", "64"))):
        pool.put(None)

    def run():
        connection = pool.get() or postgres.Connection(int(os.environ["DB_PORT"]))
        try:
            connection.query(statement.replace("RANDOM", str(random.randrange(1, 100_000))))
        finally:
            pool.put(connection)

    return run


def login(statement):
    connection = postgres.Connection(int(os.environ["DB_PORT"]))
    connection.query(statement)
    connection.close()


def lite(statement):
    def opened():
        return sqlite3.connect(os.environ["LITE_FILE"], timeout=60, isolation_level=None)

    per_thread("lite", opened).execute(statement, [random.randrange(1, 100_000)] if "?" in statement else []).fetchall()


def locked_file(path):
    return per_thread("file", lambda: open(path, "a"))


def under(lock, inner, unlock):
    def run():
        lock()
        try:
            inner()
        finally:
            unlock()

    return run


def step(word):
    head, _, rest = word.partition(":") if word.split("=")[0].split(":")[0] in COMBINED else (word, "", "")
    name, _, value = head.partition("=")
    number = int(value) if value.isdigit() else 0
    inner = step(rest) if rest else None
    if name == "lock":
        lock = threading.Lock()
        return under(lock.acquire, inner, lock.release)
    if name == "repeat":
        return lambda: [inner() for _ in range(number)]
    if name == "slots":
        slots = threading.Semaphore(number)
        return under(slots.acquire, inner, slots.release)
    if name == "flock":
        return under(lambda: fcntl.flock(locked_file(value), fcntl.LOCK_EX), inner, lambda: fcntl.flock(locked_file(value), fcntl.LOCK_UN))
    if name == "workers":
        pool = concurrent.futures.ThreadPoolExecutor(number)
        return lambda: pool.submit(inner).result()
    if name == "sql":
        return pooled(value)
    steps = {
        "sleep": lambda: time.sleep(number / 1e6),
        "block": lambda: time.sleep(number / 1e6),
        "cpu": lambda: compute(number),
        "regex": lambda: regex(number),
        "quadratic": lambda: quadratic(number),
        "collect": gc.collect,
        "garbage": lambda: garbage(number),
        "call": lambda: call(number),
        "fresh": lambda: fresh(number),
        "ask": lambda: ask(number),
        "log": lambda: logging.warning("x" * number),
        "spawn": lambda: subprocess.run(["true"], check=True),
        "login": lambda: login(value),
        "lite": lambda: lite(value),
    }
    return steps[name]


def answer(steps):
    try:
        for one in steps:
            one()
        return OK
    except (RuntimeError, OSError, sqlite3.Error, http.client.HTTPException) as error:
        print(error, file=sys.stderr, flush=True)
        return ERROR


def serve(client, steps):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = b""
    with client:
        while True:
            try:
                got = client.recv(8192)
                received += got
                if not got:
                    return
                if received.endswith(b"\r\n\r\n"):
                    received = b""
                    client.sendall(answer(steps))
            except OSError:
                return


async def serve_async(reader, writer, words, steps):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            for word, one in zip(words, steps):
                # Steps other than `sleep` block the event loop.
                await asyncio.sleep(int(word[6:]) / 1e6) if word.startswith("sleep=") else one()
            writer.write(OK)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def repeat(steps):
    while True:
        for one in steps:
            one()


async def run_async(listener, words, steps):
    server = await asyncio.start_server(lambda reader, writer: serve_async(reader, writer, words, steps), sock=listener)
    await server.serve_forever()


def main():
    groups = [[]]
    for word in sys.argv[3 if is_async else 2 :]:
        groups.append([]) if word == "--" else groups[-1].append(word)
    steps = [[step(word) for word in group] for group in groups]
    for group in steps[1:]:
        threading.Thread(target=repeat, args=[group], daemon=True).start()
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
    if is_async:
        asyncio.run(run_async(listener, groups[0], steps[0]))
    while True:
        threading.Thread(target=serve, args=[listener.accept()[0], steps[0]], daemon=True).start()


main()
