"""How the live world is set up."""

from dataclasses import dataclass

from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserConfig:
    """Settings of the browser and of page time.

    Example:
        BrowserConfig(executable="/usr/bin/chromium", deadline_sec=10.0)
    """

    executable: str = ""
    """Path of a Chromium; empty means the first one found (see `chromium.find_chromium`)."""
    width_px: int = 500
    """Width of the page, in CSS pixels (BrowserGym's MiniWoB++ viewport)."""
    height_px: int = 320
    """Height of the page, in CSS pixels."""
    deadline_sec: float = 20.0
    """Longest wall-clock time for one reset or step; then the page is given up as broken."""
    settle_floor_ms: int = 20
    """Page time that passes after every action, in ms."""
    settle_cap_ms: int = 1500
    """Most page time an action may take to settle: animations, delayed menus."""
    noop_cap_ms: int = 10_000
    """Longest wait that `noop` may ask for, in ms of page time."""
    episodes_per_tab: int = 1
    """Episodes that one tab serves on MiniWoB++, cleaned in between (other sites: always 1); 1 gives each a new context,
    50 takes about half the processor time."""
    prefetch: int = 2
    """Fresh tabs made ready while episodes run; 0 makes each one when it is needed."""

    def __post_init__(self) -> None:
        positive = {
            "width_px": self.width_px,
            "height_px": self.height_px,
            "deadline_sec": self.deadline_sec,
            "settle_cap_ms": self.settle_cap_ms,
            "episodes_per_tab": self.episodes_per_tab,
        }
        for name, value in positive.items():
            if value <= 0:
                raise UserError(f"browser setting {name} must be above 0, got {value!r}")
        if not 0 <= self.settle_floor_ms <= self.settle_cap_ms:
            raise UserError(
                f"browser setting settle_floor_ms must be between 0 and settle_cap_ms "
                f"({self.settle_cap_ms}), got {self.settle_floor_ms!r}"
            )
        if self.noop_cap_ms < 0:
            raise UserError(
                f"browser setting noop_cap_ms must be 0 or more, got {self.noop_cap_ms!r}"
            )
        if not 0 <= self.prefetch <= 8:
            raise UserError(
                f"browser setting prefetch must be between 0 and 8, got {self.prefetch!r}"
            )
