"""A name server over UDP: answers each query after MS, one after the other or `together`.

Usage: names.py PORT MS [together]
"""

import socket
import sys
import threading
import time

listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(("127.0.0.1", int(sys.argv[1])))


def answer(peer):
    time.sleep(int(sys.argv[2]) / 1000)
    listener.sendto(b"127.0.0.1", peer)


while True:
    _, peer = listener.recvfrom(512)
    if sys.argv[3:] == ["together"]:
        threading.Thread(target=answer, args=[peer]).start()
    else:
        answer(peer)
