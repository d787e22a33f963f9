"""Compiles `ipmicra.native.kernels` for wheels and editable installs: one call of the C compiler."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path("ipmicra", "native")
MODULE = NATIVE / "kernels.abi3.so"
OLDEST_PYTHON = (3, 11)
"""Its stable ABI is used: what is compiled for it runs on all later ones."""
FLAGS = [
    "-std=c11",
    "-D_DEFAULT_SOURCE",
    "-O3",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
]


class NativeBuildHook(BuildHookInterface[Any]):
    """Compiles the module beside its sources, and puts it into the wheel."""

    def initialize(
        self,
        version: str,  # noqa: ARG002 - the interface has it
        build_data: dict[str, Any],
    ) -> None:
        """Compile before anything is packed."""
        compile_module(Path(self.root), self.config)
        oldest = "".join(str(part) for part in OLDEST_PYTHON)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{oldest}-abi3-{os.environ.get('IPMICRA_WHEEL_PLATFORM', platform)}"
        build_data["artifacts"].append(f"/{MODULE.as_posix()}")


def compile_module(root: Path, config: dict[str, Any] | None = None) -> None:
    """Compile all sources in one go; CC, CFLAGS and LDFLAGS of the environment count.

    Warnings are errors where `IPMICRA_STRICT` is set, as it is by `bin/setup-env`: a compiler that this
    project has not seen may warn of something, and a user's installation must not fail for that.
    """
    compiler = shlex.split(os.environ.get("CC") or (config or {}).get("compiler", "cc"))
    if shutil.which(compiler[0]) is None:
        raise SystemExit(
            f"ipmicra needs a C compiler, and there is no {compiler[0]!r}: install one (Debian: apt install "
            "gcc libc6-dev, Fedora: dnf install gcc) or name it in CC"
        )
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise SystemExit(
            f"ipmicra needs Python's headers, and there is no {headers / 'Python.h'}: install them (Debian: "
            f"apt install python3.{sys.version_info[1]}-dev, Fedora: dnf install python3-devel)"
        )
    # Paths from the root on, and none of this machine's in what is compiled: the same bytes everywhere.
    sources = sorted(path.relative_to(root).as_posix() for path in (root / NATIVE).glob("*/*.c"))
    limited = f"-DPy_LIMITED_API=0x{OLDEST_PYTHON[0]:02X}{OLDEST_PYTHON[1]:02X}0000"
    strict = ["-Werror"] if os.environ.get("IPMICRA_STRICT") else []
    added = shlex.split(os.environ.get("CFLAGS", "")), shlex.split(os.environ.get("LDFLAGS", ""))
    unfinished = root / MODULE.with_suffix(".part")  # a module in use must not be written to
    command = [
        *compiler,
        *FLAGS,
        *strict,
        *added[0],
        limited,
        f"-ffile-prefix-map={root}=.",
        f"-I{headers}",
        *sources,
        "-o",
        str(unfinished),
    ]
    command += [*added[1], "-lm"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"ipmicra cannot be compiled by {shlex.join(compiler)}:\n{done.stdout}{done.stderr}")
    unfinished.replace(root / MODULE)


if __name__ == "__main__":
    compile_module(Path(__file__).resolve().parent)
