"""A loopback TCP proxy to the daemon's Unix socket, run as the user whom the daemon is to see at the other end."""

import os
import socket
import sys
import threading


def carry(source, target):
    try:
        while piece := source.recv(1 << 16):
            target.sendall(piece)
    except OSError:
        pass
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def serve(one, path):
    with one, socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(path)
        back = threading.Thread(target=carry, args=(daemon, one), daemon=True)
        back.start()
        carry(one, daemon)
        back.join()


def main(uid, gid, port, path):
    os.setgroups([gid])
    os.setgid(gid)
    os.setuid(uid)
    with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
        print("ready", flush=True)
        while True:
            one, _ = listener.accept()
            threading.Thread(target=serve, args=(one, path), daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
