"""Methods are discovered, not listed: every method file, plugin file and entry point that defines HASHER.

Methods of the field that are not here are listed, each with the reason: nothing is written from guesses.

A user's method comes from a file named in OHASH_PLUGINS (several are separated as in PATH), from ``--plugin FILE``, or
from an installed package's entry point in the group ``ohash.plugins``. Plugins are code, and are executed.
"""

import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ohash.models.base import HasherSpec, OnlineHasher


@dataclass(frozen=True)
class AbsentMethod:
    """A published method without an implementation; `reason` ends the sentence "not here, because ..."."""

    title: str
    aliases: tuple[str, ...]
    cite: str
    reason: str

    def __str__(self) -> str:
        """One sentence."""
        return f"{self.title} ({self.cite}) is not here, because {self.reason}."


ABSENT = (
    AbsentMethod(
        "FCOH",
        ("fast class-wise updating for online hashing",),
        "Lin, Ji, Sun, Zhang, Huang, Tian, Tao: Fast Class-wise Updating for Online Hashing, TPAMI 2022",
        "neither the text of its paper nor a program of its authors was at hand, and the abstract does not determine "
        "its updates",
    ),
    AbsentMethod(
        "FOH",
        ("fast online hashing", "fast online hashing with multi-label projection"),
        "Jia, Cao, Liu, Gui: Fast Online Hashing with Multi-Label Projection, AAAI 2023",
        "the text of its paper was not at hand, and the authors' program does not settle it: in the step for the codes "
        "of the past the label projection has a sign that pushes codes away from it, and the loop for several labels "
        "is left out",
    ),
)


PLUGINS = "OHASH_PLUGINS"
ENTRY_POINTS = "ohash.plugins"
PLUGIN_MODULE = "ohash_plugin_"  # then the name of the file
FOLDERS = ("batch", "online", "quantizers")
# A method, a dataset.
DECLARED = ("HASHER", "DATASET")


def scan(package: str) -> list[ModuleType]:
    """Every module of a package and its sub-packages, imported."""
    path = importlib.import_module(package).__path__
    return [importlib.import_module(module.name) for module in pkgutil.walk_packages(path, f"{package}.")]


@cache
def plugin_modules() -> tuple[ModuleType, ...]:
    """The user's plugin files and entry points, imported once."""
    files = [Path(name) for name in os.environ.get(PLUGINS, "").split(os.pathsep) if name]
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    modules = [(str(file), import_file(file)) for file in files]
    modules += [(f"{point.name} = {point.value}", point.load()) for point in points]
    for name, module in modules:
        if not any(hasattr(module, one) for one in DECLARED):
            raise ValueError(
                f"plugin {name} must define {' or '.join(DECLARED)}, a spec or a tuple of specs, it defines neither; "
                "ohash/models/quantizers/lsh.py and ohash/streams/datasets/digits.py show how"
            )
    return tuple(module for _, module in modules)


def add_plugin(file: str | Path) -> None:
    """Register one more plugin file for this process and its children, whatever folder they run in."""
    file = _existing(Path(file)).resolve()
    known = os.environ.get(PLUGINS, "")
    os.environ[PLUGINS] = f"{known}{os.pathsep}{file}" if known else str(file)
    plugin_modules.cache_clear()
    hashers.cache_clear()


def collect_specs(modules: list[ModuleType], name: str) -> dict[str, Any]:
    """What the modules declare under `name` (one spec, or a tuple of specs), by key; a key used twice is an error."""
    specs: dict[str, Any] = {}
    for module in modules:
        spec = getattr(module, name, ())
        for one in spec if isinstance(spec, tuple) else (spec,):
            if not hasattr(one, "key"):
                raise ValueError(f"{name} of {module.__name__} must be a spec or a tuple of specs, got {one!r}")
            if one.key in specs:
                raise ValueError(f"{name} key {one.key!r} of {module.__name__} is taken already; choose another")
            specs[one.key] = one
    return specs


@cache
def hashers() -> dict[str, HasherSpec]:
    """Every method, by key."""
    modules = [module for folder in FOLDERS for module in scan(f"ohash.models.{folder}")]
    return collect_specs([*modules, *plugin_modules()], "HASHER")


def find(name: str) -> HasherSpec:
    """The method with this key, or else with this title or alias, in any case and with hyphens or without."""
    if name in hashers():
        return hashers()[name]
    for spec in hashers().values():
        if _plain(name) in (_plain(other) for other in (spec.key, spec.title, *spec.aliases)):
            return spec
    for absent in ABSENT:
        if _plain(name) in (_plain(other) for other in (absent.title, *absent.aliases)):
            raise ValueError(f"{absent} The methods are {', '.join(sorted(hashers()))}")
    raise ValueError(f"method must be one of {', '.join(sorted(hashers()))}, got {name!r}")


def key_of(hasher: OnlineHasher) -> str:
    """The key a hasher is registered under."""
    return str(hasher.key)


def own_methods() -> tuple[str, ...]:
    """The keys of the methods that come from plugins, if they have a number of bits; none if a plugin is broken."""
    try:
        specs = collect_specs(list(plugin_modules()), "HASHER")
    except ValueError:  # whoever asks for the method is told
        return ()
    return tuple(key for key, spec in specs.items() if "r" in spec.table)


def plugin_code(methods: Iterable[str]) -> str:
    """The lines of a script that make these methods known: the files of those that come from a plugin; often none."""
    files, wanted = {}, set(methods)
    for module in plugin_modules():
        declares = collect_specs([module], "HASHER")
        for key in wanted:
            if key in declares and module.__name__.startswith(PLUGIN_MODULE):
                files[str(Path(str(module.__file__)).resolve())] = key
    if not files:
        return ""
    names = ", ".join(sorted(set(files.values())))
    return (
        f"import os\n\n# your own: {names}; this must come before `import ohash`\n"
        f'os.environ["{PLUGINS}"] = os.pathsep.join({list(files)})\n'
    )


def _plain(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ")


def import_file(file: Path) -> ModuleType:
    """A plugin file as a module; what goes wrong in it is a ValueError that names the file."""
    spec = importlib.util.spec_from_file_location(f"{PLUGIN_MODULE}{file.stem}", _existing(file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[spec.name]
        if isinstance(error, Exception) and not isinstance(error, ValueError):
            raise ValueError(f"plugin {file} could not be imported: {error!r}") from error
        raise
    return module


def _existing(file: Path) -> Path:
    if file.suffix != ".py" or not file.is_file():
        raise ValueError(f"plugin must be a Python file (.py) that exists, got {file}")
    return file
