"""Check a method of your own: the contract tests of ohash's methods, every mistake in one sentence with its line.

Example:
  python3 -m ohash check my.py

The file is executed. The exit status is 1 if there is a mistake.
"""

import argparse
import ast
import inspect
import traceback
from collections.abc import Iterator
from pathlib import Path

from ohash.models import registry
from ohash.models.base import HasherSpec
from ohash.models.contract import CHECKS, Case, ContractError, state_exists_before_data
from ohash.models.plugin_files import import_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("file", type=Path, help="Python file that defines HASHER")


def run(options: argparse.Namespace) -> int:
    """Print the mistakes as compilers do: file:line: sentence."""
    if not options.file.is_file():
        raise ValueError(f"file must be a Python file that exists, got {options.file}")
    mistakes = list(mistakes_in(options.file))
    for line, text in mistakes:
        print(f"{options.file}:{line}: {text}.")
    if not mistakes:
        print(f"{options.file}: no mistake in {len(CHECKS)} checks.")
    return 1 if mistakes else 0


def mistakes_in(file: Path) -> Iterator[tuple[int, str]]:
    """(line, sentence) of every mistake in a file with methods of one's own; the file is executed."""
    file = file.resolve()
    source = file.read_text(encoding="utf-8")
    try:
        tree = ast.parse(source, str(file))
    except SyntaxError as error:
        yield error.lineno or 1, f"Python cannot read this line: {error.msg}"
        return
    try:
        module = import_file(file)
    except Exception as error:  # whatever the user's file raises
        cause = error.__cause__ or error
        yield _line_in(file, cause) or 1, f"the file cannot be imported: {_words(cause)}"
        return
    specs = getattr(module, "HASHER", None)
    if specs is None:
        yield len(source.splitlines()), "HASHER is missing: end the file with HASHER = HasherSpec(hasher=..., ...)"
        return
    for spec in specs if isinstance(specs, tuple) else (specs,):
        if not isinstance(spec, HasherSpec):
            yield _line_of(tree, "HASHER"), f"HASHER must be a HasherSpec or a tuple of them, got {spec!r}"
        elif _is_taken(spec, file):
            yield _line_of(tree, "key"), f"the key {spec.key!r} belongs to another method; choose another"
        else:
            yield from _mistakes_of(spec, file, tree)


def _mistakes_of(spec: HasherSpec, file: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    seen = set()
    for check in CHECKS:
        try:
            check(Case(spec))
            continue
        except ContractError as error:
            line, text = _line_of(tree, error.about), str(error)
        except Exception as error:  # whatever the user's method raises
            line = _line_in(file, error) or _line_of(tree, "HASHER")
            text = f"{check.__name__.replace('_', ' ')} cannot be checked: {_words(error)}"
            if check is state_exists_before_data:
                text = f"a model that has seen no data cannot be saved and loaded: {_words(error)}"
        if (line, text.split(": ")[-1]) not in seen:  # one mistake often breaks several checks
            seen.add((line, text.split(": ")[-1]))
            yield line, text


def _is_taken(spec: HasherSpec, file: Path) -> bool:
    other = registry.hashers().get(spec.key)
    return other is not None and Path(inspect.getfile(other.params)).resolve() != file


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)


def _line_in(file: Path, error: BaseException) -> int:
    """The last line of the file that the error passed through; 0 if none."""
    lines = [at.lineno or 0 for at in traceback.extract_tb(error.__traceback__) if Path(at.filename) == file]
    return lines[-1] if lines else 0


def _line_of(tree: ast.AST, name: str) -> int:
    """Where a class, function or name is defined; else where HASHER is."""
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            lines.setdefault(node.name, node.lineno)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    lines.setdefault(target.id, node.lineno)
    hooks = {"learn": "_learn_pair_block", "learn_points": "_learn_block"}
    return lines.get(name) or lines.get(hooks.get(name, "")) or lines.get("HASHER", 1)
