"""`bin/fuzz NAME`: drive a Python target by coverage, or replay files without Atheris.

Modules of ipmicra are instrumented while they are imported; compiled code is not, and has targets of its own
under sanitizers. Words of the kept inputs become a dictionary: so mutations know the names of fields.
"""

from __future__ import annotations

import logging
import re
import sys
from importlib import import_module
from pathlib import Path

from tests.fuzz.json_mutation import mutated
from tests.fuzz.target import CORPUS, TARGETS, Target
from tests.fuzz.targets import MODULE_OF

FOUND = CORPUS.parents[1] / "build" / "fuzz"
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_.-]{2,30}")


def main() -> int:
    """List the targets, replay files, or look for inputs that break a target."""
    name, *options = sys.argv[1:]
    if name == "--list":
        print("\n".join(MODULE_OF))  # noqa: T201
        return 0
    if name not in MODULE_OF:
        print(f"fuzz: there is no target {name}; `bin/fuzz --list` lists them", file=sys.stderr)  # noqa: T201
        return 2
    logging.disable()
    files = [Path(option) for option in options if not option.startswith("-")]
    if not files:
        explore(name, options)
    chosen = loaded(name)
    for file in files:
        chosen.run(file.read_bytes())
        print(f"{file}: no finding")  # noqa: T201
    return 0


def loaded(name: str) -> Target:
    """Import a target."""
    import_module(f"tests.fuzz.targets.{MODULE_OF[name]}")
    return TARGETS[name]


def explore(name: str, options: list[str]) -> None:
    """Look for inputs that break a target; ends the process."""
    import atheris

    instrumented = atheris.instrument_imports(include=["ipmicra"], enable_loader_override=False)
    # What is compared with what is not noted: the dictionary has the words, and it took a fifth of the time.
    instrumented._trace_dataflow = False
    with instrumented:
        chosen = loaded(name)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        made = mutated(data, most, seed) if seed % 2 else None
        return bytes(atheris.Mutate(data, most)) if made is None else made

    own = FOUND / name
    own.mkdir(parents=True, exist_ok=True)
    words = [f"-max_len={chosen.longest}", *_dictionary(chosen), *options, str(own), str(CORPUS / name)]
    atheris.Setup([sys.argv[0], *words], chosen.run, custom_mutator=mutate)
    atheris.Fuzz()


def _dictionary(chosen: Target) -> list[str]:
    """Write the words of the kept inputs as libFuzzer reads them; return the option that names them."""
    words = {word for file in chosen.corpus() for word in _WORD.findall(file.read_bytes())}
    path = FOUND / f"{chosen.name}.dict"
    path.write_text("".join(f'"{word.decode()}"\n' for word in sorted(words)), encoding="ascii")
    return [f"-dict={path}"] if words else []


if __name__ == "__main__":
    sys.exit(main())
