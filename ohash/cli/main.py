"""The command line: every module of this folder that offers `add_arguments` and `run` is a command."""

import argparse
import importlib
import pkgutil
import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import ohash.cli
from ohash.cli.progress import RowProgress
from ohash.models import registry
from ohash.streams.data_folder import use_data_folder
from ohash.streams.feature_cache import report_progress_to


def commands() -> dict[str, ModuleType]:
    """The commands by name, in alphabetical order."""
    modules = {m.name: importlib.import_module(f"ohash.cli.{m.name}") for m in pkgutil.iter_modules(ohash.cli.__path__)}
    return {name: module for name, module in sorted(modules.items()) if hasattr(module, "add_arguments")}


def parser() -> argparse.ArgumentParser:
    """The whole parser."""
    top = argparse.ArgumentParser(
        prog="python3 -m ohash",
        description="Online Hashing from the command line. The dashboard is: python3 -m streamlit run app.py",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _common(top)
    below = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in commands().items():
        text = (module.__doc__ or "").strip()
        one = below.add_parser(
            name,
            help=text.splitlines()[0].rstrip("."),
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(one)
        _common(one, again=True)
    return top


def _common(options: argparse.ArgumentParser, *, again: bool = False) -> argparse.ArgumentParser:
    """What every command understands, before its name or (`again`) after it."""
    unset: Any = argparse.SUPPRESS if again else None
    options.add_argument(
        "--data", metavar="DIR", default=unset, help="folder with your own data sets (else the variable OHASH_DATA)"
    )
    options.add_argument(
        "--plugin", metavar="FILE", action="append", default=unset if again else [],
        help="Python file with a method or data set of yours",
    )  # fmt: skip
    return options


def _quiet(options: argparse.Namespace) -> bool:
    """Whether the user wants to see no progress."""
    return bool(getattr(options, "quiet", False) or getattr(options, "json", False))


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a mistake of the user's is one line on standard error, not a traceback."""
    command = "ohash"
    try:
        early, _ = _common(argparse.ArgumentParser(add_help=False)).parse_known_args(arguments)
        if early.data:
            use_data_folder(early.data)
        for file in early.plugin:
            registry.add_plugin(file)
        options = parser().parse_args(arguments)  # plugins bring options of their own
        command = f"ohash {options.command}"
        with nullcontext() if _quiet(options) else report_progress_to(RowProgress()):
            return int(commands()[options.command].run(options))
    except BrokenPipeError:  # the reader of our output (head, less) has gone
        sys.stderr.close()
        return 0
    except (ValueError, OSError) as error:
        print(f"{command}: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        what = f" ({error})" if str(error) else ""
        print(
            f"{command}: this needs more memory than the process may have{what}; take fewer rows, fewer anchors (--m), "
            "or raise the limit (ulimit -v)", file=sys.stderr,
        )  # fmt: skip
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
