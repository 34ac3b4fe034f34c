"""Reads datagrams of a log from a Unix socket, at most RATE a second.

Usage: collector.py PATH RATE
"""

import os
import socket
import sys
import time

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
while True:
    listener.recv(65536)
    if int(sys.argv[2]) < 100_000:
        time.sleep(1 / int(sys.argv[2]))
