"""As much of PostgreSQL's protocol as a query takes, for servers that trust whoever connects."""

import socket
import struct


class Connection:
    def __init__(self, port, user="bench", database="postgres"):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        words = f"user\0{user}\0database\0{database}\0\0".encode()
        self.socket.sendall(struct.pack("!ii", len(words) + 8, 196608) + words)
        self.wait_until_ready()

    def query(self, text):
        words = text.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(words) + 4) + words)
        self.wait_until_ready()

    def wait_until_ready(self):
        while True:
            head = self.file.read(5)
            if len(head) < 5:
                raise RuntimeError("PostgreSQL closed the connection")
            body = self.file.read(struct.unpack("!i", head[1:])[0] - 4)
            if head[:1] == b"E":
                fields = dict((field[:1], field[1:]) for field in body.split(b"\0") if field)
                raise RuntimeError(fields.get(b"M", b"").decode())
            if head[:1] == b"Z":
                return

    def close(self):
        self.socket.sendall(b"X\0\0\0\4")
        self.file.close()
        self.socket.close()
