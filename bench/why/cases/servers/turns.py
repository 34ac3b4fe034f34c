"""A web server that takes connections only every 20 ms, and then all that wait.

Usage: turns.py PORT|PATH BACKLOG
"""

import os
import socket
import sys
import time

place, backlog = sys.argv[1], int(sys.argv[2])
if place.isdigit():
    listener = socket.create_server(("127.0.0.1", int(place)), backlog=backlog)
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    os.chmod(place, 0o777)
    listener.listen(backlog)
listener.setblocking(False)
print("listening", flush=True)
while True:
    time.sleep(0.02)
    try:
        while True:
            client, _ = listener.accept()
            client.settimeout(1)
            try:
                if client.recv(8192):
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n")
            except OSError:
                pass
            client.close()
    except BlockingIOError:
        pass
