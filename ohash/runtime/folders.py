"""Where ohash keeps what it makes: the folder OHASH_HOME, else the user's data directory of this system."""

import os
import sys
from pathlib import Path

HOME = "OHASH_HOME"


def home() -> Path:
    """The folder; it need not exist yet."""
    chosen = os.environ.get(HOME, "").strip()
    if chosen:
        return Path(chosen).expanduser()
    return _user_data(sys.platform, dict(os.environ), Path(os.path.expanduser("~"))) / "ohash"  # noqa: PTH111


def _user_data(platform: str, environment: dict[str, str], user: Path) -> Path:
    """What platformdirs would say.

    >>> _user_data("linux", {}, Path("/home/eve")).as_posix()
    '/home/eve/.local/share'
    >>> _user_data("linux", {"XDG_DATA_HOME": "/data"}, Path("/home/eve")).as_posix()
    '/data'
    >>> _user_data("darwin", {}, Path("/Users/eve")).as_posix()
    '/Users/eve/Library/Application Support'
    """
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local) if local else user / "AppData" / "Local"
    if platform == "darwin":
        return user / "Library" / "Application Support"
    xdg = environment.get("XDG_DATA_HOME", "")
    return Path(xdg) if Path(xdg).is_absolute() else user / ".local" / "share"
