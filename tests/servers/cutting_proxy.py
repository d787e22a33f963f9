"""A proxy before PostgreSQL that cuts connections at chosen words, as a network does by chance."""

from __future__ import annotations

import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

SOCKET = ".s.PGSQL.5432"


class CuttingProxy:
    """Passes everything on, and cuts once where told: before a word is passed on, or after its answer."""

    def __init__(self, server: Path) -> None:
        self._server = str(server / SOCKET)
        self._word = b""
        self._is_after = False
        self._is_open = True
        self.cuts = 0

    def cut(self, word: str, *, is_after: bool) -> None:
        """Cut the next connection that sends a word."""
        self._word, self._is_after = word.encode(), is_after

    def close_door(self) -> None:
        """Let nobody else in."""
        self._is_open = False

    def open_door(self) -> None:
        """Let everybody in again."""
        self._is_open = True

    def url(self, database: str) -> str:
        return f"postgresql://tests@/{database}?host={self._folder.name}"

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="px", dir="/tmp")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{self._folder.name}/{SOCKET}")
        self._listener.listen()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        self._folder.cleanup()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self._is_open:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self._server)
                except OSError:
                    server.close()
                    client.close()
                    continue
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()
                threading.Thread(target=self._pass_back, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), server:
            while data := client.recv(1 << 16):
                if self._word and self._word in data:
                    self._word = b""
                    self.cuts += 1
                    if self._is_after:
                        client.shutdown(socket.SHUT_WR)  # the answer is lost
                        server.sendall(data)
                        server.recv(1 << 16)
                    server.shutdown(socket.SHUT_RDWR)
                    client.shutdown(socket.SHUT_RDWR)
                    return
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _pass_back(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), client:
            while data := server.recv(1 << 16):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
