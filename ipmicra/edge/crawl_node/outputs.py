"""Files that grow while a node crawls, and are cut back after a kill to what the frontier has committed.

A file that is being written ends in `.open`; it gets its own name when it is complete, so whoever reads the
folder sees only complete files. `Outputs.commit` is the one place where files and frontier are brought into
step: sync, note the lengths, commit, and only then rename what is complete. A commit may be lost in a power
cut, and then pages are fetched again; but what it says of the files is true.
"""

from __future__ import annotations

import os
from pathlib import Path

from ipmicra.edge.crawl_node.frontier import Frontier
from ipmicra.edge.durable import settle
from ipmicra.errors import StoreError

OPEN = ".open"


class GrowingFile:
    """A file that only grows."""

    def __init__(self, path: Path, length: int) -> None:
        """Open for appending; what lies behind `length` was never committed and goes."""
        self.path = path
        self._growing = path.with_name(path.name + OPEN)
        self._file = self._growing.open("ab")
        # After a crash of the machine it may be shorter than was committed.
        self.length = min(length, self._file.seek(0, os.SEEK_END))
        self._file.truncate(self.length)
        self._is_synced = False
        self._trouble: OSError | None = None
        """What went wrong, which ends its use."""

    @property
    def name(self) -> str:
        """Its name when it is complete."""
        return self.path.name

    def write(self, data: bytes) -> int:
        """Append; return where the data begin."""
        begin = self.length
        self._is_synced = False
        try:
            self._file.write(data)
        except OSError as error:
            self._trouble = error
            raise self._store_error(error) from error
        self.length += len(data)
        return begin

    def sync(self) -> None:
        """See that everything is on the disk: a commit is about to say so.

        After an error nobody knows what is there, so there is no way on but to open it anew.
        """
        if self._trouble is None and not self._is_synced:
            try:
                self._file.flush()
                os.fdatasync(self._file.fileno())
            except OSError as error:
                self._trouble = error
        if self._trouble is not None:
            raise self._store_error(self._trouble)
        self._is_synced = True

    def complete(self) -> None:
        """Close, and give it its own name; one without content is removed."""
        self._file.close()
        if self.length:
            settle(self._growing, self.path)
        else:
            self._growing.unlink()

    def close(self) -> None:
        """Close, to be continued."""
        self._file.close()

    def _store_error(self, error: OSError) -> StoreError:
        reason = error.strerror or str(error)
        return StoreError(str(self._growing), f"{reason}: see to the disk, then start the node again")


class Outputs:
    """All growing files of a node."""

    def __init__(self, folder: Path, frontier: Frontier) -> None:
        """Continue in a folder: files that no commit knows are removed, complete ones get their names."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self.frontier = folder, frontier
        self._files: dict[str, GrowingFile] = {}
        self._complete: list[GrowingFile] = []
        known = frontier.lengths()
        growing = {path.name.removesuffix(OPEN) for path in folder.glob(f"*{OPEN}")}
        for name in growing - known.keys():
            (folder / f"{name}{OPEN}").unlink()
        frontier.commit(closed=known.keys() - growing)  # those got their names just before a kill

    def file(self, name: str) -> GrowingFile:
        """Return the file of a name, continued where the last commit left it."""
        if name not in self._files:
            length = self.frontier.lengths().get(name, 0)
            self._files[name] = GrowingFile(self._folder / name, length)
        return self._files[name]

    def names(self) -> list[str]:
        """List the files that are continued."""
        return sorted(self.frontier.lengths())

    def complete(self, name: str) -> None:
        """Let a file get its own name with the next commit."""
        self._complete.append(self.file(name))
        del self._files[name]

    def commit(self) -> None:
        """Bring files and frontier into step."""
        growing = (*self._files.values(), *self._complete)
        for one in growing:
            one.sync()
        self.frontier.commit((one.name, one.length) for one in growing)
        complete, self._complete = self._complete, []
        if complete:
            for one in complete:
                one.complete()
            self.frontier.commit(closed=[one.name for one in complete])

    def close(self, *, is_done: bool) -> None:
        """Commit; at the end of a turn all files are complete, else they are continued next time."""
        if is_done:
            # Also those of an earlier process to which this one had nothing to add.
            for name in {*self._files, *self.frontier.lengths()}:
                self.complete(name)
        self.commit()
        for one in self._files.values():
            one.close()
