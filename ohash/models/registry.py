"""Methods are discovered, not listed: every method file, plugin file and entry point that defines HASHER.

Methods of the field that are not here are listed, each with the reason: nothing is written from guesses.

A user's method comes from a file named in OHASH_PLUGINS (several are separated as in PATH), from ``--plugin FILE``, or
from an installed package's entry point in the group ``ohash.plugins``. Plugins are code, and are executed.
"""

import importlib
import importlib.metadata
import os
import pkgutil
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ohash.core.parameters import did_you_mean
from ohash.models.base import HasherSpec, OnlineHasher
from ohash.models.plugin_files import PLUGIN_MODULE, check_file, fingerprint, import_file, is_edited, locate_errors


class UnknownMethodError(ValueError):
    """No method has this name here; a stored run or sweep may be of a plugin that is not loaded."""

    def __init__(self, name: str) -> None:
        """The full message lists the methods; `not_loaded` is the one for what was stored."""
        keys = sorted(hashers())
        super().__init__(
            f"method must be one of {', '.join(keys)}, got {name!r}{did_you_mean(name, keys)}; one of your own needs "
            "--plugin FILE"
        )
        self.not_loaded = f"its method {name!r} is not here: load its plugin (--plugin FILE)"


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
    files = list(dict.fromkeys(Path(name) for name in os.environ.get(PLUGINS, "").split(os.pathsep) if name))
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
    file = check_file(Path(file)).resolve()
    paths = os.environ.get(PLUGINS, "")
    os.environ[PLUGINS] = f"{paths}{os.pathsep}{file}" if paths else str(file)
    plugin_modules.cache_clear()
    hashers.cache_clear()


def check_plugins(files: Iterable[Path]) -> None:
    """Import plugin files; ValueError if one is broken, or declares a key that another method or data set has."""
    loaded = {Path(str(module.__file__)) for module in plugin_modules()}
    collect_specs([*_own_modules(), *plugin_modules(), *(import_file(file) for file in {*files} - loaded)], "HASHER")


def collect_specs(modules: list[ModuleType], name: str) -> dict[str, Any]:
    """What the modules declare under `name` (one spec, or a tuple of specs), by key; a key used twice is an error."""
    specs: dict[str, Any] = {}
    owners: dict[str, ModuleType] = {}
    for module in modules:
        spec = getattr(module, name, ())
        for one in spec if isinstance(spec, tuple) else (spec,):
            if not hasattr(one, "key"):
                raise ValueError(f"{name} of {module.__name__} must be a spec or a tuple of specs, got {one!r}")
            if one.key in specs:
                raise ValueError(
                    f"{name} key {one.key!r} of {_file_name(module)} is taken already by "
                    f"{_file_name(owners[one.key])}; choose another"
                )
            specs[one.key], owners[one.key] = one, module
    return specs


@cache
def hashers() -> dict[str, HasherSpec]:
    """Every method, by key."""
    return collect_specs([*_own_modules(), *plugin_modules()], "HASHER")


def _own_modules() -> list[ModuleType]:
    return [module for folder in FOLDERS for module in scan(f"ohash.models.{folder}")]


def _file_name(module: ModuleType) -> str:
    return Path(str(module.__file__)).name if module.__name__.startswith(PLUGIN_MODULE) else module.__name__


def find(name: str) -> HasherSpec:
    """The method with this key, or else with this title or alias, in any case and with hyphens or without."""
    if name in hashers():
        return hashers()[name]
    for spec in hashers().values():
        if _normalise_name(name) in (_normalise_name(other) for other in (spec.key, spec.title, *spec.aliases)):
            return spec
    for absent in ABSENT:
        if _normalise_name(name) in (_normalise_name(other) for other in (absent.title, *absent.aliases)):
            raise ValueError(f"{absent} The methods are {', '.join(sorted(hashers()))}")
    raise UnknownMethodError(name)


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


@dataclass(frozen=True)
class PluginVersion:
    """The file that a method or a data set comes from, and the fingerprint of what was imported from it."""

    file: str
    fingerprint: str

    @property
    def name(self) -> str:
        """The name of the file, without its folder."""
        return Path(self.file).name


def plugin_version(method: str) -> PluginVersion | None:
    """The version of the plugin that a method comes from; None for the methods of ohash."""
    return _versions(plugin_modules(), "HASHER").get(method)


def data_plugin_version(dataset: str) -> PluginVersion | None:
    """The version of the plugin that a data set comes from; None for all others."""
    return _versions(plugin_modules(), "DATASET").get(dataset)


@lru_cache(maxsize=8)  # plugins may be loaded later
def _versions(plugins: tuple[ModuleType, ...], name: str) -> dict[str, PluginVersion]:
    return {
        key: PluginVersion(str(module.__file__), fingerprint(module))
        for module in plugins
        for key in collect_specs([module], name)
    }


def edited_plugins() -> list[str]:
    """The names of plugin files that were edited after they had been imported; they are not imported again."""
    return [_file_name(module) for module in plugin_modules() if is_edited(module)]


def locate_plugin_errors(spec: HasherSpec) -> AbstractContextManager[None]:
    """Whatever a plugin's method raises inside becomes a ValueError that names function, file and line."""
    version = plugin_version(spec.key)
    return locate_errors(spec.title, (version.file,) if version else ())


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


def _normalise_name(name: str) -> str:
    return name.lower().replace("-", " ").replace("_", " ")
