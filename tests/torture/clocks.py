"""Wall clocks of processes that can be set from outside (`jumping_clock.c`)."""

from __future__ import annotations

import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOUR_S, DAY_S = 3600.0, 86_400.0
JUMPS_S = (-2 * DAY_S, -DAY_S, -HOUR_S, -90.0, -5.0, 5.0, 90.0, HOUR_S, 2 * HOUR_S, DAY_S, 2 * DAY_S)
"""Up to days, either way: beyond all durations that are measured, far below what delegations last."""
SOURCE = Path(__file__).with_name("jumping_clock.c")


def clock_library(folder: Path) -> Path:
    """Compile the library that is preloaded."""
    library = folder / "jumping_clock.so"
    if not library.exists():
        words = ["-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run([os.environ.get("CC", "cc"), *words], check=True)
    return library


@dataclass
class Clock:
    """The wall clock of one process, or of several that share it."""

    file: Path
    library: Path
    ahead_s: float = 0.0
    """Of the machine's own."""

    def __post_init__(self) -> None:
        self.set(self.ahead_s)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to go by this clock."""
        preloaded = [os.environ.get("LD_PRELOAD", ""), str(self.library)]
        return {"LD_PRELOAD": " ".join(filter(None, preloaded)), "JUMPING_CLOCK": str(self.file)}

    def set(self, ahead_s: float) -> None:
        """Jump; whoever looks at the clock sees it at once."""
        self.ahead_s = ahead_s
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("=q", round(ahead_s * 1e9)))
