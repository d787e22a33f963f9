"""Download one dump.

Theory of operation
-------------------
Dumps are large, connections break, and registries publish new versions while an old one is being received.
So there is no state but the files: `NAME`, the last complete dump, and `NAME.part`, an unfinished one, each
with a sidecar that says which version it is (`state.py`, `partial.py`). Every attempt looks at them, asks
for what is missing, and acts on the answer:

1. `_question` asks for the rest of `NAME.part` if its version is known by a strong validator (`Range` with
   `If-Range`: a server that has another version by now sends the whole of it), else for a version other
   than that of `NAME`, else for everything.
2. `judge` (`answer.py`, which does no I/O) turns status and headers into a verdict.
3. `_act` and `_receive` carry it out. The body is not read before there is a verdict, so that an answer
   which turns out to be the dump we have is not downloaded again.

How an attempt can end:

- a result: the bytes were complete, matched the published checksum if there is one, and were renamed to
  `NAME`. Nothing else ever replaces `NAME`;
- `Trouble`: `Requester.persist` pauses and calls `attempt` again. After a cut the bytes stay, and the next
  attempt (or the next run) resumes after them; bytes that do not fit the server's version are discarded
  first;
- `FetchError`: trying again would not help, or was tried often enough. Where the bytes themselves are at
  fault (a wrong checksum, a dump above the limit) they are discarded, since resuming them would fail in the
  same way for ever.

Why not urllib3's own retries? They repeat a request from its first byte and know nothing of bodies that
were cut, which is the usual trouble with files of this size.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, NoReturn

from ipmicra.edge.fetch.answer import Asked, Verdict, judge, objection, state_of
from ipmicra.edge.fetch.checksum import read_checksum
from ipmicra.edge.fetch.options import FetchOptions, FetchResult, Progress, Trouble
from ipmicra.edge.fetch.partial import partial_file
from ipmicra.edge.fetch.redact import hidden_from_logs, links_of
from ipmicra.edge.fetch.request import Requester, body, refusal
from ipmicra.edge.fetch.state import finished_state
from ipmicra.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    from ipmicra.edge.fetch.options import Status
    from ipmicra.edge.fetch.partial import PartialFile
    from ipmicra.edge.fetch.redact import Link
    from ipmicra.edge.fetch.state import FileState
    from ipmicra.model.dump_source import DumpSource

DEFAULT_OPTIONS = FetchOptions()


def fetch(
    source: DumpSource,
    folder: Path,
    *,
    session: requests.Session,
    sleep: Callable[[float], None],
    progress: Callable[[Progress], None] | None = None,
    options: FetchOptions = DEFAULT_OPTIONS,
) -> FetchResult:
    """Download a dump into a folder, or find that it did not change.

    What cannot be completed raises `FetchError`; the bytes received so far stay in `NAME.part` and the next
    call resumes there. A dump that lies in the folder is replaced only by a complete one.
    """
    link, checksum_link = links_of(source)
    target = Path(folder) / _checked_name(source.name, link)
    requester = Requester(session=session, options=options, sleep=sleep)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with hidden_from_logs(link), partial_file(target) as part:
            download = _Download(
                source=source,
                link=link,
                checksum_link=checksum_link,
                target=target,
                part=part,
                requester=requester,
                progress=progress or (lambda _: None),
            )
            return requester.persist(link, download.attempt)
    except BlockingIOError as error:
        raise FetchError(link.shown, f"another process is downloading {target}") from error
    except OSError as error:
        raise FetchError(link.shown, f"cannot write {error.filename or target}: {error.strerror}") from error


def _checked_name(name: str, link: Link) -> str:
    """Refuse a name that is no plain file name on any system."""
    is_plain = PurePosixPath(name).name == name == PureWindowsPath(name).name and name.isprintable()
    if not name or not is_plain or name.startswith("."):
        raise FetchError(link.shown, f"{name!r} is no plain file name")
    return name


@dataclass(slots=True, kw_only=True)
class _Download:
    """One dump on its way to the disk."""

    source: DumpSource
    link: Link
    checksum_link: Link | None
    target: Path
    part: PartialFile
    requester: Requester
    progress: Callable[[Progress], None]
    received: int = field(default=0)
    """Bytes received over the network."""

    def attempt(self) -> FetchResult | Trouble:
        """Ask once, and do what the answer calls for."""
        finished = finished_state(self.target, self.link.shown)
        asked, headers = self._question(finished)
        answer = self.requester.ask(self.link, headers)
        if isinstance(answer, Trouble):
            return answer
        with answer:
            verdict = judge(answer.status_code, answer.headers, asked)
            if finished is not None and self._is_latest(finished, verdict):
                return self._unchanged(finished)
            return self._act(verdict, answer, asked)

    def _act(self, verdict: Verdict, answer: requests.Response, asked: Asked) -> FetchResult | Trouble:
        """Do what a verdict says."""
        if verdict in {Verdict.LATER, Verdict.REFUSED}:
            return refusal(self.link, answer)
        if verdict is Verdict.DISCARD:
            self.part.discard()
            return Trouble(reason="the server's file is another than the partial one", wait_s=0.0)
        state = state_of(self.link.shown, verdict, answer.headers, asked)
        if verdict is Verdict.COMPLETE:
            return self._finish(state, "resumed")
        return self._receive(answer, state, is_whole=verdict is Verdict.WHOLE)

    def _question(self, finished: FileState | None) -> tuple[Asked, dict[str, str]]:
        """Ask for the rest of a partial download, else for a newer version, else for all."""
        part = self.part.resumable_state(self.link.shown)
        if part is not None and part.strong_validator is not None:
            headers = {"Range": f"bytes={self.part.size}-", "If-Range": part.strong_validator}
            return Asked(offset=self.part.size, part=part), headers
        conditions = finished.conditions() if finished else {}
        return Asked(is_conditional=bool(conditions)), conditions

    def _is_latest(self, finished: FileState, verdict: Verdict) -> bool:
        """Return whether the finished dump is still the latest.

        ARIN's servers each have validators of their own: there the published checksum decides.
        """
        if verdict is not Verdict.WHOLE or finished.checksum is None:
            return verdict is Verdict.UNCHANGED
        return finished.checksum == self._published_checksum()

    def _unchanged(self, finished: FileState) -> FetchResult:
        """Keep the finished dump."""
        self.part.discard()
        size = self.target.stat().st_size
        return FetchResult(
            path=self.target,
            status="unchanged",
            bytes_received=self.received,
            bytes_total=size,
            checksum=finished.checksum,
        )

    def _receive(
        self, answer: requests.Response, state: FileState, *, is_whole: bool
    ) -> FetchResult | Trouble:
        """Write a body to disk."""
        reason = objection(self.source.name, answer.headers)
        if reason:
            raise FetchError(self.link.shown, reason)
        self._check_size(state.bytes_total or 0)
        if is_whole:
            self.part.start(state)
        self._report(state)
        for piece in body(self.link, answer, self.requester.options.pace):
            if isinstance(piece, Trouble):
                return self._cut(state, piece.reason)
            self._check_size(self.part.size + len(piece))
            self.part.append(piece)
            self.received += len(piece)
            self._report(state)
        return self._received(state, "downloaded" if is_whole else "resumed")

    def _received(self, state: FileState, status: Status) -> FetchResult | Trouble:
        """Judge a body that has ended."""
        if not self.part.size:
            raise FetchError(self.link.shown, "the dump is empty")
        if state.bytes_total is None or self.part.size == state.bytes_total:
            return self._finish(state, status)
        if self.part.size < state.bytes_total:
            return self._cut(state, "the server sent no more")
        size = self.part.size
        self.part.discard()
        return Trouble(reason=f"{size} bytes came, but {state.bytes_total} were announced")

    def _cut(self, state: FileState, reason: str) -> Trouble:
        """Describe a body that was cut off."""
        total = "an unknown number of" if state.bytes_total is None else state.bytes_total
        return Trouble(reason=f"cut after {self.part.size} of {total} bytes: {reason}")

    def _check_size(self, size: int) -> None:
        """Refuse to fill the disk."""
        limit = self.requester.options.max_bytes
        if size > limit:
            self._give_up(f"{size} bytes or more, above the limit of {limit}")

    def _report(self, state: FileState) -> None:
        """Report the progress."""
        self.progress(
            Progress(name=self.source.name, bytes_done=self.part.size, bytes_total=state.bytes_total),
        )

    def _finish(self, state: FileState, status: Status) -> FetchResult:
        """Check the bytes against the published checksum and put them in place."""
        checksum = self._checked_sum()
        size = self.part.size
        self.part.publish(replace(state, bytes_total=size, checksum=checksum))
        return FetchResult(
            path=self.target,
            status=status,
            bytes_received=self.received,
            bytes_total=size,
            checksum=checksum,
        )

    def _checked_sum(self) -> str | None:
        """Compare with the published checksum; None if there is none."""
        published = self._published_checksum()
        if published is None:
            return None
        kind = self.source.checksum_kind
        actual = self.part.checksum(kind)
        if actual != published:
            self._give_up(
                f"its {kind} is {actual}, but the published one is {published}: it was damaged on the way,"
                " or is being published at this moment; try again in a quarter of an hour",
            )
        return actual

    def _published_checksum(self) -> str | None:
        """Fetch the published checksum; None if there is none."""
        if self.checksum_link is None:
            return None
        text = self.requester.read_small(self.checksum_link)
        if text is None:
            return None
        published = read_checksum(text, name=self.source.name, kind=self.source.checksum_kind)
        if published is None:
            reason = f"holds no {self.source.checksum_kind} of {self.source.name}"
            raise FetchError(self.checksum_link.shown, reason)
        return published

    def _give_up(self, reason: str) -> NoReturn:
        """Discard the bytes and raise."""
        self.part.discard()
        raise FetchError(self.link.shown, reason)
