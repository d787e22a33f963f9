"""What could not be read of a report's input."""

from __future__ import annotations

from dataclasses import dataclass, field

SHOWN = 5


@dataclass(slots=True)
class Problems:
    """What was left out or repaired, counted; the first few are kept in words."""

    count: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Count a problem."""
        self.count += 1
        if len(self.shown) < SHOWN:
            self.shown.append(text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the report: how many, and the first few."""
        if not self.count:
            return ()
        more = f"; and {self.count - len(self.shown):,} more" if self.count > len(self.shown) else ""
        return (f"{self.count:,} problems in the input: " + "; ".join(self.shown) + more,)
