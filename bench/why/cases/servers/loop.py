"""A web server in one thread with an event loop.

Usage: loop.py PORT WORK [NUMBER [PROCESSES]]
  cpu MS       computes
  sleep MS     waits
  pool COUNT   waits for 20 ms in a pool of COUNT threads
  refuse RATE  answers at most RATE requests a second, others with 429 at once
  shape RATE   delays answers, so that no more than RATE requests a second are answered
  freeze MS    waits for 5 ms, and stands still for MS after every second
"""

import asyncio
import concurrent.futures
import os
import signal
import socket
import sys
import time

port, work = int(sys.argv[1]), sys.argv[2]
number = float(sys.argv[3]) if len(sys.argv) > 3 else 0
processes = int(sys.argv[4]) if len(sys.argv) > 4 else 1
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
TOO_MANY = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 5\r\n\r\nslow\n"
turn = 0.0
pool = concurrent.futures.ThreadPoolExecutor(int(number)) if work == "pool" else None


def compute():
    end = time.process_time() + number / 1000
    while time.process_time() < end:
        sum(range(1000))


async def answer():
    global turn
    if work == "cpu":
        compute()
    elif work == "sleep":
        await asyncio.sleep(number / 1000)
    elif work == "freeze":
        await asyncio.sleep(0.005)
    elif work == "pool":
        await asyncio.get_running_loop().run_in_executor(pool, time.sleep, 0.02)
    elif work == "refuse":
        now = time.monotonic()
        # A bucket of a tenth of a second.
        if turn - now > 0.1:
            return TOO_MANY
        turn = max(turn, now) + 1 / number
    elif work == "shape":
        now = time.monotonic()
        turn = max(turn, now) + 1 / number
        await asyncio.sleep(turn - now)
    return OK


async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(await answer())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def freeze():
    while True:
        await asyncio.sleep(1)
        time.sleep(number / 1000)


async def main(listener):
    server = await asyncio.start_server(serve, sock=listener)
    if work == "freeze":
        asyncio.get_running_loop().create_task(freeze())
    await server.serve_forever()


listener = socket.create_server(("127.0.0.1", port), backlog=1024)
children = []
for _ in range(processes - 1):
    child = os.fork()
    if child == 0:
        children = []
        break
    children.append(child)


def stop(*_):
    for child in children:
        os.kill(child, signal.SIGTERM)
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
asyncio.run(main(listener))
