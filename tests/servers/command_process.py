"""Commands in processes of their own without the cost of starting Python: a process forks one for each.

Run as a module it loads the package once. For each message it forks a process that gets standard input,
output and error and the environment with the message, and runs `ipmicra` to its end. Forked processes share
the seed of hashes and what is loaded: a test about either starts Python anew.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from ipmicra.cli.main import run

ROOT = Path(__file__).parents[2]
LOADED = ("ipmicra.app", "ipmicra.cli", "ipmicra.edge", "ipmicra.lab")
LONGEST_MESSAGE = 1 << 20


class CommandProcesses:
    """Runs commands one after the other; its process ends with ours."""

    def __init__(self) -> None:
        """Start the process that forks."""
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._child = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(
        self, words: Sequence[str], stdin: bytes, environment: Mapping[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command with its output into pipes."""
        pipes = [os.pipe() for _ in range(3)]
        (their_input, our_input), (our_output, their_output), (our_error, their_error) = pipes
        theirs = [their_input, their_output, their_error]
        message = json.dumps({"words": list(words), "environment": dict(environment)})
        socket.send_fds(self._line, [message.encode()], theirs)
        for number in theirs:
            os.close(number)
        self._line.settimeout(timeout_s)
        command = int(self._line.recv(100))
        with ThreadPoolExecutor(3) as threads:
            threads.submit(_write, our_input, stdin)
            output, error = (threads.submit(_read, number) for number in (our_output, our_error))
            try:
                code = int(self._line.recv(100))
            except TimeoutError:
                os.kill(command, signal.SIGKILL)
                self._line.settimeout(None)
                self._line.recv(100)
                raise subprocess.TimeoutExpired(list(words), timeout_s) from None
            return subprocess.CompletedProcess(list(words), code, output.result(), error.result())

    def close(self) -> None:
        """End the process that forks."""
        self._line.close()
        self._child.wait()


def _write(number: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(number, "wb") as file:
        file.write(data)


def _read(number: int) -> bytes:
    with os.fdopen(number, "rb") as file:
        return file.read()


# --- the process that forks


def main() -> None:
    """Fork until nobody is at the other end."""
    line = socket.socket(fileno=int(sys.argv[1]))
    for package in LOADED:
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    gc.freeze()  # or each process would look for garbage in all that is loaded when it ends
    while True:
        message, numbers, _, _ = socket.recv_fds(line, LONGEST_MESSAGE, 3)
        if not message:
            return
        child = os.fork()
        if not child:
            line.close()
            become(json.loads(message), numbers)
        for number in numbers:
            os.close(number)
        line.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(asked: dict[str, Any], numbers: list[int]) -> NoReturn:
    """Run a command in this process."""
    for standard, number in enumerate(numbers):
        os.dup2(number, standard)
        os.close(number)
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["ipmicra", *asked["words"]]
    run()
    sys.exit(0)


if __name__ == "__main__":
    main()
