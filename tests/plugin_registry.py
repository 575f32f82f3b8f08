"""The registry forgets what a test has loaded."""

import sys

from ohash.models import registry
from ohash.models.plugin_files import PLUGIN_MODULE


def forget_plugins() -> None:
    """Plugin files are imported anew when they are next asked for."""
    registry.plugin_modules.cache_clear()
    registry.hashers.cache_clear()
    for name in [name for name in sys.modules if name.startswith(PLUGIN_MODULE)]:
        del sys.modules[name]
