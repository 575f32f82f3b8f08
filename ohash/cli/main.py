"""The command line: every module here with `add_arguments` and `run` is a command."""

import argparse
import importlib
import pkgutil
import sys
from contextlib import nullcontext
from types import ModuleType

import ohash.cli
from ohash.cli.progress import RowProgress
from ohash.models import registry
from ohash.runtime.files import describe_error
from ohash.runtime.worker import WorkerDiedError
from ohash.streams.data_folder import use_data_folder
from ohash.streams.feature_cache import report_progress_to


def commands() -> dict[str, ModuleType]:
    """The commands by name, in alphabetical order."""
    modules = {m.name: importlib.import_module(f"ohash.cli.{m.name}") for m in pkgutil.iter_modules(ohash.cli.__path__)}
    return {
        name.replace("_", "-"): module for name, module in sorted(modules.items()) if hasattr(module, "add_arguments")
    }


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; with the options of one of them only, if it is named."""
    top = argparse.ArgumentParser(
        prog="python3 -m ohash",
        description="Online Hashing from the command line. The dashboard is: python3 -m streamlit run app.py",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_common(top)
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in commands().items():
        text = (module.__doc__ or "").strip()
        subparser = subparsers.add_parser(
            name,
            help=text.splitlines()[0].rstrip("."),
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command in (None, name):
            module.add_arguments(subparser)
            _add_common(subparser, after_command=True)
    return top


def _add_common(parser: argparse.ArgumentParser, *, after_command: bool = False) -> argparse.ArgumentParser:
    """The options of every command, given before its name or after it."""
    unset = argparse.SUPPRESS if after_command else None
    parser.add_argument(
        "--data", metavar="DIR", default=unset, help="folder with your own data sets (default: the variable OHASH_DATA)"
    )
    parser.add_argument(
        "--plugin", metavar="FILE", action="append", default=unset if after_command else [],
        help="Python file with your own method or data set",
    )  # fmt: skip
    return parser


def _quiet(options: argparse.Namespace) -> bool:
    """Whether no progress should be shown."""
    return bool(getattr(options, "quiet", False) or getattr(options, "json", False))


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a user's mistake is one line on standard error, not a traceback."""
    command = "ohash"
    try:
        early, rest = _add_common(argparse.ArgumentParser(add_help=False)).parse_known_args(arguments)
        if early.data:
            use_data_folder(early.data)
        for file in early.plugin:
            registry.add_plugin(file)
        words = (word for word in rest if not word.startswith("-"))
        options = parser(next(words, "")).parse_args(arguments)  # after the plugins, whose methods have options
        command = f"ohash {options.command}"
        with nullcontext() if _quiet(options) else report_progress_to(RowProgress()):
            return int(commands()[options.command].run(options))
    except BrokenPipeError:  # the reader of our output (head, less) has closed
        sys.stderr.close()
        return 0
    except (ValueError, OSError, WorkerDiedError) as error:
        print(f"{command}: {describe_error(error)}", file=sys.stderr)
        return 2
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        print(
            f"{command}: this needs more memory than the process may have{detail}; use fewer rows or anchors (--m), "
            "or raise the limit (ulimit -v)", file=sys.stderr,
        )  # fmt: skip
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
