"""A plugin file as a module: its fingerprint, which tells one version from another, and where in it an error arose."""

import ast
import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

PLUGIN_MODULE = "ohash_plugin_"  # then the name of the file
FINGERPRINT = "__fingerprint__"


def import_file(file: Path) -> ModuleType:
    """A plugin file as a module; what goes wrong in it is a ValueError that names the file.

    Exactly the bytes of the fingerprint are executed: no cached bytecode, which an edit within a second would leave
    in force. Like a script, it can import other files of its folder.
    """
    spec = importlib.util.spec_from_file_location(f"{PLUGIN_MODULE}{file.stem}", check_file(file))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    source = file.read_bytes()
    module.__dict__[FINGERPRINT] = _digest(file, source)
    if str(file.parent.resolve()) not in sys.path:
        sys.path.append(str(file.parent.resolve()))
    sys.modules[spec.name] = module  # dataclasses and pickle look their module up
    try:
        exec(compile(source, str(file), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[spec.name]
        if isinstance(error, Exception) and not isinstance(error, ValueError):
            raise ValueError(f"plugin {file} could not be imported: {error!r}") from error
        raise
    return module


def check_file(file: Path) -> Path:
    """`file`, if it is a file; else a ValueError."""
    if file.suffix != ".py" or not file.is_file():
        raise ValueError(f"plugin must be a Python file (.py) that exists, got {file}")
    return file


@cache
def fingerprint(module: ModuleType) -> str:
    """A short hash of the file of a plugin and of the files of its folder that it imports, as they were then."""
    fingerprint = module.__dict__.get(FINGERPRINT)
    return str(fingerprint) if fingerprint else _digest(Path(str(module.__file__)))  # of an installed package


def is_edited(module: ModuleType) -> bool:
    """Whether the file of a plugin, or one of its folder that it imports, is no longer what was imported."""
    try:
        return _digest(Path(str(module.__file__))) != fingerprint(module)
    except OSError:  # it was moved away
        return True


@contextmanager
def locate_errors(title: str, files: tuple[str, ...]) -> Iterator[None]:
    """An error that arises in one of these files becomes a ValueError that says where; others pass unchanged."""
    try:
        yield
    except Exception as error:
        text = failure(title, error, files)
        if not text:
            raise
        raise ValueError(text) from error


def failure(title: str, error: BaseException, files: tuple[str, ...]) -> str:
    """One sentence: which method failed in which function, on which line, with which error; "" for other errors."""
    places = [at for at in traceback.extract_tb(error.__traceback__) if at.filename in files]
    if not places:
        return ""
    at = places[-1]
    return f"{title} failed in {at.name}, {Path(at.filename).name} line {at.lineno}: {describe(error)}"


def describe(error: BaseException) -> str:
    """The type of an error, and its message if it has one.

    >>> describe(ValueError("no room")), describe(NotImplementedError())
    ('ValueError: no room', 'NotImplementedError')
    """
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _digest(file: Path, source: bytes | None = None) -> str:
    """A digest of a plugin's source, then of each file of its folder that it imports, in the order of their names."""
    digest = hashlib.sha256(file.read_bytes() if source is None else source)
    for one in sorted(_imported_files(file)):
        digest.update(f"\0{one.name}\0".encode() + one.read_bytes())
    return digest.hexdigest()[:16]


def _imported_files(file: Path) -> set[Path]:
    """The files of a plugin's folder, and of packages in it, that it imports, also by way of one another."""
    folder, start = file.parent.resolve(), file.resolve()
    known, left = {start}, [start]
    while left:
        for name in _imported_names(left.pop().read_bytes()):
            package = folder / name
            files = [folder / f"{name}.py", *(package.rglob("*.py") if (package / "__init__.py").is_file() else ())]
            new = {one for one in files if one.is_file()} - known if name != "ohash" else set()
            known |= new
            left += new
    return known - {start}


def _imported_names(source: bytes) -> set[str]:
    """The first parts of the names that a source imports, wherever it does; none if it is not Python."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {node.module} if node.module else {alias.name for alias in node.names}
    return {name.partition(".")[0] for name in names}
