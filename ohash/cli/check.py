"""Check a method of your own: the contract tests of ohash's methods, every mistake in one sentence with its line.

Example:
  python3 -m ohash check my.py

The file is executed. The exit status is 1 if there is a mistake.
"""

import argparse
import ast
import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from ohash.models import registry
from ohash.models.base import HasherSpec
from ohash.models.contract import CHECKED_WHEN, CHECKS, DEFAULTS_ONLY, check_untrained_model
from ohash.models.contract_cases import BITS, COLUMNS, ROWS, Case, ContractError, cases_of
from ohash.models.learners import PairLearner, PointLearner
from ohash.models.plugin_files import describe, import_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("file", type=Path, help="Python file that defines HASHER")


def run(options: argparse.Namespace) -> int:
    """Print the mistakes as compilers do, file:line: sentence, each as soon as it is known."""
    if not options.file.is_file():
        raise ValueError(f"file must be a Python file that exists, got {options.file}")
    count = 0
    for count, (line, text) in enumerate(mistakes_in(options.file), 1):  # noqa: B007 (its last value is used)
        print(f"{options.file}:{line}: {text}.", flush=True)
    if not count:
        print(f"{options.file}: no mistake in {len(CHECKS)} checks.")
    return 1 if count else 0


def mistakes_in(file: Path) -> Iterator[tuple[int, str]]:
    """(line, sentence) of every mistake in a file with the user's own methods; the file is executed."""
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
        yield _line_in(file, cause) or 1, f"the file cannot be imported: {_words(cause, file)}"
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
    for case in cases_of(spec):
        for check in CHECKS:
            if case.choices and check in DEFAULTS_ONLY:
                continue
            try:
                check(case)
                continue
            except ContractError as error:
                line, text = _line_of(tree, error.about), str(error)
                cause = text.rsplit(": ", maxsplit=1)[-1]
            except Exception as error:  # whatever the user's method raises
                line, text = _line_in(file, error) or _line_of(tree, "HASHER"), _sentence(check, file, error)
                cause = _words(error, file)
            if (line, cause) not in seen:  # one mistake often breaks several checks
                seen.add((line, cause))
                yield line, _with_choices(case, text)


def _with_choices(case: Case, text: str) -> str:
    """The sentence, with the parameters it is true of if they are not the defaults."""
    return "".join(f"with {key}={value!r}: " for key, value in case.choices) + text


def _sentence(check: Callable[[Case], None], file: Path, error: Exception) -> str:
    """What an exception of a method means, as far as it can be told."""
    frames = traceback.extract_tb(error.__traceback__)
    last, words = frames[-1], _words(error, file)
    if isinstance(error, NotImplementedError) and Path(last.filename) != file:
        return f"the class has no {last.name}: write def {last.name}{_signature(last.name)}"
    own_frames = [frame for frame in frames if Path(frame.filename) == file]
    where = f" in {own_frames[-1].name}" if own_frames else ""
    if own_frames and own_frames[-1].name in ("__init__", "_setup") and re.search(r"\bd\b", own_frames[-1].line or ""):
        return f"d is not known before data: make state that depends on it in _begin(self, d), not{where} ({words})"
    if check is check_untrained_model:
        return f"a model that has seen no data cannot be saved and loaded: {words}"
    shapes = SHAPES.get(own_frames[-1].name, "") if own_frames and isinstance(error, ValueError | IndexError) else ""
    return f"an error{where} {CHECKED_WHEN[check]}: {words}{shapes}"


SHAPES = {
    "_learn_pair_block": f"; here self._Wt is ({BITS}, {COLUMNS}), x_i and x_j (n, {COLUMNS}), s, D_h, updated (n,)",
    "_learn_block": f"; here self._Wt is ({BITS}, {COLUMNS}), rows are (n, {COLUMNS}), labels (n,)",
    "fit": f"; here X is ({ROWS}, {COLUMNS}), y ({ROWS},), and W must be ({COLUMNS}, {BITS})",
    "encode": f"; here X is (n, {COLUMNS})",
}


def _signature(name: str) -> str:
    """The arguments of a method that a base class leaves to be written."""
    for base in (PairLearner, PointLearner):
        if hasattr(base, name):
            return f"({', '.join(inspect.signature(getattr(base, name)).parameters)})"
    return "(self, ...)"


def _is_taken(spec: HasherSpec, file: Path) -> bool:
    other = registry.hashers().get(spec.key)
    return other is not None and Path(inspect.getfile(other.params)).resolve() != file


def _words(error: BaseException, file: Path) -> str:
    """Type and message; of a ValueError that ohash itself raises, the message."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = isinstance(error, ValueError) and bool(frames) and Path(frames[-1].filename) != file
    return str(error) if ours else describe(error)


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
