"""A DNS server on loopback that answers every question for an address at once; prints its port."""

from __future__ import annotations

import socket


def main() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as served:
        served.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        served.bind(("127.0.0.1", 0))
        print(served.getsockname()[1], flush=True)
        record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x01\x2c\x00\x04\xc6\x33\x64\x07"
        while True:
            data, sender = served.recvfrom(512)
            question = data[12 : data.index(b"\0", 12) + 5]
            served.sendto(data[:2] + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + question + record, sender)


if __name__ == "__main__":
    main()
