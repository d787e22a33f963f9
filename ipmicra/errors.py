"""Every error that ipmicra raises on purpose: one tree, one root, facts as attributes."""

from __future__ import annotations


class IpmicraError(Exception):
    """Root of everything ipmicra raises on purpose."""


class InputError(IpmicraError):
    """Input that cannot be used; the caller can fix it."""


EXTRA_OF = {
    "crawlee": "crawlee",
    "google": "urlfrontier",
    "grpc": "urlfrontier",
    "matplotlib": "plot",
    "pandas": "spark",
    "psycopg": "postgres",
    "pyarrow": "columnar",
    "pymetis": "partition",
    "pyspark": "spark",
    "rbloom": "partition",
    "scipy": "partition",
    "scrapy": "scrapy",
    "twisted": "scrapy",
    "warcio": "scrapy",
}
"""Packages that the base install does without, and the extra that installs each."""


class MissingExtraError(InputError):
    """A feature needs a package that the base install does not include."""

    def __init__(self, feature: str, package: str) -> None:
        """Name the feature, the missing package and the command that installs it."""
        self.feature = feature
        self.package = package
        self.extra = EXTRA_OF[package]
        super().__init__(f"{feature} needs {package}: pip install 'ipmicra[{self.extra}]'")


class AddressError(InputError):
    """Text that is no address, prefix or range."""

    def __init__(self, text: str, reason: str) -> None:
        """Keep the offending text and why it was refused."""
        super().__init__(f"{text!r} {reason}")
        self.text = text
        self.reason = reason


class DumpError(InputError):
    """A dump that cannot be read as a whole."""

    def __init__(self, dump: str, byte: int, reason: str) -> None:
        """Name the dump, the byte at which it became invalid, and why; byte 0 means the dump as a whole."""
        where = f"{dump}: byte {byte}" if byte else dump
        super().__init__(f"{where}: {reason}")
        self.dump = dump
        self.byte = byte
        self.reason = reason


class UnknownDialectError(DumpError):
    """A dump whose content is in no dialect that ipmicra reads."""


class TruncatedDumpError(DumpError):
    """A compressed dump that ends too early or is damaged."""


class HierarchyError(IpmicraError):
    """A hierarchy file that cannot be used."""


class MissingHierarchyError(HierarchyError):
    """There is no hierarchy at the given path."""

    def __init__(self, path: str) -> None:
        """Name the path and the command that makes a hierarchy."""
        super().__init__(
            f"no hierarchy at {path}: run `ipmicra build DUMP… -o {path}`, or `ipmicra demo` to see all of it"
        )
        self.path = path


class CorruptHierarchyError(HierarchyError):
    """A file that is no hierarchy, is cut, or contradicts itself."""

    def __init__(self, offset: int, reason: str) -> None:
        """Name the byte at fault and what is wrong there."""
        super().__init__(f"byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason


class CapacityError(IpmicraError):
    """More data than the hierarchy format can number."""


class CorruptStateError(IpmicraError):
    """Saved coordinates or a saved overlay that are cut, altered or of another version."""


class OverlayError(IpmicraError):
    """A request that the overlay cannot fulfil in its present state."""


class FetchError(IpmicraError):
    """A download that could not be completed."""

    def __init__(self, url: str, reason: str) -> None:
        """Name the address and what went wrong."""
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason


class StoreError(IpmicraError):
    """A store that cannot be opened, read or written."""

    def __init__(self, path: str, reason: str) -> None:
        """Name the store and what went wrong."""
        super().__init__(f"store {path}: {reason}")
        self.path = path
        self.reason = reason


class StoreBusyError(StoreError):
    """A store that another process works in."""

    def __init__(self, path: str, holder: str) -> None:
        """Name the store, who works in it, and what to do."""
        super().__init__(
            path, f"{holder} works in it: wait until that is done, stop it, or use another --store"
        )
        self.holder = holder


class LeaseLostError(IpmicraError):
    """Work under a lease that somebody else holds by now; nothing of it was written."""

    def __init__(self, name: str) -> None:
        """Name the lease."""
        super().__init__(
            f"the lease on {name} was lost: this process was stopped or cut off for too long, and another "
            "one took over; nothing was written since then"
        )
        self.name = name


class MessageError(IpmicraError):
    """A message between agent and coordinator that is invalid; its sender is to blame."""


class UnknownVersionError(MessageError):
    """A message of a version that is not spoken here."""

    def __init__(self, version: object, known: tuple[int, ...]) -> None:
        """Keep the version found and those that are known."""
        is_newer = isinstance(version, str) and version.isdecimal() and int(version) > max(known)
        step = "update ipmicra here" if is_newer else "update ipmicra where it was sent"
        super().__init__(f"version {version!r} of messages is not known here; known: {list(known)}; {step}")
        self.version = version
        self.known = known


class AgentError(IpmicraError):
    """An agent that does not answer, or answers nonsense."""


class CoordinatorError(IpmicraError):
    """A coordinator that does not answer, or refuses."""

    def __init__(self, url: str, reason: str, kind: str | None = None, status: int | None = None) -> None:
        """Name the coordinator and what went wrong; the kind of problem and the status, if it said so."""
        super().__init__(f"coordinator {url}: {reason}")
        self.url = url
        self.reason = reason
        self.kind = kind
        self.status = status


class WorldError(InputError):
    """A world that cannot be used as a whole."""

    def __init__(self, world: str, reason: str) -> None:
        """Name the world and what is missing."""
        super().__init__(f"{world}: {reason}")
        self.world = world
        self.reason = reason


class LifeCycleError(IpmicraError):
    """A step that a life cycle does not know: a bug in ipmicra, not in its use."""

    def __init__(self, state: str, step: str) -> None:
        """Name the state and the step."""
        super().__init__(f"{step} cannot happen to something that is {state}; please report this")
        self.state = state
        self.step = step
