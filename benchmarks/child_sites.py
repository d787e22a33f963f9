"""HTTP servers on 127.96.0.1 and following, each with a delay before the first byte; prints the port.

python -m benchmarks.child_sites COUNT LEAST_MS MOST_MS

One loop over epoll and a heap of what is due: quick enough not to be what is measured.
"""

from __future__ import annotations

import heapq
import select
import socket
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def delay_ms(number: int, count: int, least: float, most: float) -> float:
    """Spread delays evenly over the addresses."""
    return least + (most - least) * number / max(1, count - 1)


def listening(count: int) -> dict[int, tuple[socket.socket, int]]:
    first = socket.create_server(("127.96.0.1", 0), backlog=4096)
    port = first.getsockname()[1]
    others = (f"127.96.{number // 250}.{number % 250 + 1}" for number in range(1, count))
    made = [first, *(socket.create_server((other, port), backlog=4096) for other in others)]
    for one in made:
        one.settimeout(0)
    print(port, flush=True)
    return {one.fileno(): (one, number) for number, one in enumerate(made)}


def main() -> None:
    count, least, most = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    doors = listening(count)
    poll = select.epoll()
    for door in doors:
        poll.register(door, select.EPOLLIN)
    visitors: dict[int, tuple[socket.socket, float]] = {}
    due: list[tuple[float, int]] = []
    while True:
        wait = max(0.0, due[0][0] - time.perf_counter()) if due else 1.0
        for file, _ in poll.poll(wait):
            if file in doors:
                door, number = doors[file]
                try:
                    visitor, _ = door.accept()
                except BlockingIOError:
                    continue
                visitor.settimeout(0)
                visitor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                visitors[visitor.fileno()] = (visitor, delay_ms(number, count, least, most) / 1e3)
                poll.register(visitor.fileno(), select.EPOLLIN)
                continue
            visitor, delay_s = visitors[file]
            try:
                data = visitor.recv(4096)
            except OSError:
                data = b""
            if data:
                heapq.heappush(due, (time.perf_counter() + delay_s, file))
            else:
                poll.unregister(file)
                del visitors[file]
                visitor.close()
        while due and due[0][0] <= time.perf_counter():
            file = heapq.heappop(due)[1]
            if file in visitors:
                visitors[file][0].send(ANSWER)


if __name__ == "__main__":
    main()
