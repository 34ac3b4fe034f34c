"""A web server with a thread for each connection.

Usage: threads.py PORT WORK [ARGUMENTS]
  cpu MS            computes
  call PORT         asks a web server on another port
  pooled PORT SIZE  asks PostgreSQL over a pool of SIZE connections
  connect PORT      asks PostgreSQL over a new connection; answers 500 if there is none to be had
  fail PERCENT      answers so many of 100 requests with 500
"""

import http.client
import http.server
import queue
import random
import socket
import sys
import threading
import time

import postgres

work, arguments = sys.argv[2], sys.argv[3:]
local = threading.local()
pool = queue.SimpleQueue()
if work == "pooled":
    for _ in range(int(arguments[1])):
        pool.put(postgres.Connection(int(arguments[0])))


def compute():
    end = time.thread_time() + float(arguments[0]) / 1000
    while time.thread_time() < end:
        sum(range(1000))


def call():
    if not hasattr(local, "client"):
        local.client = http.client.HTTPConnection("127.0.0.1", int(arguments[0]))
    local.client.request("GET", "/")
    local.client.getresponse().read()


def pooled():
    connection = pool.get()
    try:
        connection.query("SELECT pg_sleep(0.01)")
    finally:
        pool.put(connection)


def connect():
    connection = postgres.Connection(int(arguments[0]))
    connection.query("SELECT pg_sleep(0.05)")
    connection.close()


def fail():
    time.sleep(0.01)
    if random.random() * 100 < float(arguments[0]):
        raise RuntimeError("it does not work")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        status, body = "200 OK", b"ok\n"
        try:
            {"cpu": compute, "call": call, "pooled": pooled, "connect": connect, "fail": fail}[work]()
        except (RuntimeError, OSError) as error:
            print(error, file=sys.stderr, flush=True)
            status, body = "500 Internal Server Error", b"error\n"
        self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 1024
    address_family = socket.AF_INET


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
