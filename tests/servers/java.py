"""Other people's Java programs, from Maven Central, into a folder that is kept from run to run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "java"
JARS = ROOT / "build" / "java"
ENOUGH_S = 600.0

needs_java = [
    pytest.mark.java,
    pytest.mark.skipif(
        not os.environ.get("IPMICRA_JAVA"),
        reason="runs Java programs from Maven Central: `IPMICRA_JAVA=1 bin/test tests/java` (JDK 17, mvn)",
    ),
]


def jars_of(program: str) -> str:
    """Return the class path of a program, fetched at the first call."""
    for needed in ("java", "mvn"):
        if shutil.which(needed) is None:
            pytest.skip(f"there is no {needed}: install a JDK and Maven to run this")
    folder, mark = JARS / program, JARS / f"{program}.complete"
    wanted = (SOURCES / program / "pom.xml").read_text()
    if not mark.is_file() or mark.read_text() != wanted:
        fetched = subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"],
            cwd=SOURCES / program,
            capture_output=True,
            check=False,
            timeout=ENOUGH_S,
        )
        if fetched.returncode:
            pytest.skip(f"Maven Central cannot be reached: {fetched.stdout.decode()[:200]}")
        mark.write_text(wanted)
    return f"{folder}/*"


def java_words(program: str, source: str = "Check.java") -> list[str]:
    """Return the words that run a source file with the jars of a program."""
    return ["java", "-cp", jars_of(program), str(SOURCES / program / source)]


def checked(program: str, *words: str | Path, stdin: str = "", source: str = "Check.java") -> list[str]:
    """Run the check of a program; return the lines that it prints."""
    done = subprocess.run(
        [*java_words(program, source), *map(str, words)],
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=ENOUGH_S,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()
