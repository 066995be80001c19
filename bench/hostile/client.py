"""A client of the daemon on its Unix socket: raw HTTP/1.1, as little of it as an attack or its victim needs."""

import json
import os
import re
import selectors
import socket
import time

STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")


def request(method, target, body=None, headers=(), declared=None):
    """Returns the bytes of a request. `declared` is the length that is said, whatever is sent."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
    content = b"" if body is None else json.dumps(body).encode()
    if body is not None or declared is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content) if declared is None else declared}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


class Connection:
    """One connection; asks one request at a time and waits for its answer."""

    def __init__(self, path, timeout):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.heard = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, *what, **more):
        """Returns status and body. Raises OSError where no whole answer comes."""
        self.socket.sendall(request(*what, **more))
        while b"\r\n\r\n" not in self.heard:
            self._more()
        head, _, self.heard = self.heard.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
        while len(self.heard) < length:
            self._more()
        body, self.heard = self.heard[:length], self.heard[length:]
        return int(lines[0].split()[1]), body

    def _more(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise ConnectionError("the connection ended before the answer")
        self.heard += piece


class Swarm:
    """Many connections that send what they are told and throw away what they hear, in one thread."""

    def __init__(self, path, until):
        self.path, self.until = path, until
        self.selector = selectors.DefaultSelector()
        self.statuses = {}
        self.opened = 0

    def open(self, next_bytes):
        """Opens a connection; `next_bytes()` is sent now and again after each answer. None: nothing more."""
        one = socket.socket(socket.AF_UNIX)
        one.setblocking(False)
        try:
            one.connect(self.path)
        except BlockingIOError:  # the backlog is full
            one.close()
            return False
        self.opened += 1
        self.selector.register(one, selectors.EVENT_READ | selectors.EVENT_WRITE, [next_bytes, next_bytes() or b"", b""])
        return True

    def close(self, one):
        self.selector.unregister(one)
        one.close()

    def close_all(self):
        for key in list(self.selector.get_map().values()):
            self.close(key.fileobj)

    def count(self):
        return len(self.selector.get_map())

    def turn(self, seconds=0.05):
        """Sends and hears what can be sent and heard now. Returns how many connections ended."""
        ended = 0
        for key, events in self.selector.select(seconds):
            try:
                if events & selectors.EVENT_WRITE:
                    self._send(key)
                if events & selectors.EVENT_READ:
                    self._hear(key)
            except (ConnectionError, OSError):
                self.close(key.fileobj)
                ended += 1
        return ended

    def _send(self, key):
        waiting = key.data[1]
        if waiting:
            key.data[1] = waiting[key.fileobj.send(waiting):]
        if not key.data[1]:
            self.selector.modify(key.fileobj, selectors.EVENT_READ, key.data)

    def _hear(self, key):
        piece = key.fileobj.recv(1 << 18)
        if not piece:
            raise ConnectionError
        heard = key.data[2] + piece
        key.data[2] = heard[-11:]  # shorter than what is looked for: nothing is counted twice
        for status in STATUS.findall(heard):
            status = status.decode()
            self.statuses[status] = self.statuses.get(status, 0) + 1
            following = key.data[0]()
            if following:
                key.data[1] += following
                self.selector.modify(key.fileobj, selectors.EVENT_READ | selectors.EVENT_WRITE, key.data)

    def heard(self):
        """How many connections were opened, and how many answers came, by status."""
        return {"opened": self.opened, **self.statuses}

    def going_on(self):
        return time.monotonic() < self.until


def become(uid, gid, cores):
    """Runs from here on as that user, on those cores alone."""
    os.sched_setaffinity(0, cores)
    os.setgroups([gid])
    os.setgid(gid)
    os.setuid(uid)
