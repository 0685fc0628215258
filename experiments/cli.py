"""The command `gin`. Each subcommand lives in a module with ``add_arguments(parser)`` and ``run(args) -> exit code``.

Modules are imported when their command is given, since importing the engine may mean compiling it.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple, NoReturn

from experiments.refusal import Refusal

REFUSED = 2
INTERRUPTED = 130
_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What goes wrong with a stdout that is a file."""


class Command(NamedTuple):
    """A subcommand."""

    module: str
    help: str
    kernel: str
    """A kernel that it compiles late, as the cache names it; empty when it needs none."""


COMMANDS = {
    "tournament": Command("experiments.tournament", "play a round robin on mirrored deals", "match._play_native"),
    "hands": Command("experiments.hand_stats", "how hands go between two agents, in figures", "match._play_native"),
    "analyse": Command("experiments.analyse", "what each action of a hand is worth", "mc.rate_actions"),
    "knock": Command("experiments.knock", "when to knock: a hand, studies, reports", "knock_values.rate_knock"),
    "calibration": Command(
        "experiments.calibration", "how well the opponent's hand is guessed in play", "worlds._tally"
    ),
    "tune": Command("experiments.tune", "search an agent's options on mirrored deals", "match._play_native"),
    "solve": Command("experiments.solve", "solve a small deck exactly, and measure agents on it", "exact_reach._play"),
    "exploit": Command(
        "experiments.train_exploit", "learn to beat an agent, and tell by how much", "match._play_native"
    ),
    "play": Command("experiments.play", "play against an agent in the terminal", "step.write_mask"),
    "score": Command("experiments.keep_score", "keep the score of a game at a real table", "scoring.score_knock"),
    "train": Command("experiments.train", "train an agent by self-play", "match._play_native"),
    "export": Command("experiments.export", "write a policy network as an ONNX file", "ppo.logits"),
    "agents": Command("experiments.show_agents", "list the agents and their options", "protocol._act_all"),
    "rules": Command("experiments.show_rules", "list the presets, or show one field by field", ""),
    "replay": Command("experiments.show_record", "show a record step by step", "deal.deal_deck"),
}

_EXTRAS = {
    "rich": "tournament", "torch": "train", "safetensors": "train", "tensorboard": "train", "onnx": "onnx",
    "onnxruntime": "onnx", "matplotlib": "report",
}  # fmt: skip
"""The extra that brings a package."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(f"{message} (see {self.prog} --help)")


def _version() -> str:
    try:
        return version("ginenv")
    except PackageNotFoundError:
        return "not installed: run from a checkout"


def _parse(argv: Sequence[str]) -> argparse.Namespace | None:
    """Return the arguments of a command, with ``command`` and ``argv``; None when help was all that was due."""
    names = "\n".join(f"  {name:<12}{command.help}" for name, command in COMMANDS.items())
    top = _Parser(
        prog="gin", description="Gin rummy for bots.", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"commands:\n{names}\n\ngin COMMAND --help tells more.", usage="gin [-h] [--version] COMMAND …",
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"gin (ginenv {_version()})")
    top.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    if not argv:
        top.print_help()
        return None
    name = argv[0]
    if name.startswith("-"):
        top.parse_args(argv)
        raise Refusal("give a command first (see gin --help)")
    if name not in COMMANDS:
        raise Refusal(f"there is no command {name!r}: there are {', '.join(COMMANDS)}")
    command = COMMANDS[name]
    _check_packages()
    _say_if_compiling(command.kernel)
    module = importlib.import_module(command.module)
    parser = _Parser(
        prog=f"gin {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    module.add_arguments(parser)
    try:
        args = parser.parse_intermixed_args(argv[1:])  # `gin score FILE --names a,b "a gin 3"`
    except TypeError:  # argparse cannot do that where a command has commands of its own, such as `gin knock`
        args = parser.parse_args(argv[1:])
    args.run, args.argv = module.run, list(argv)
    return args


def _check_packages() -> None:
    """See that the packages with common names are this project's: other distributions ship an `agents`, too."""
    for name in ("agents", "experiments"):
        try:
            package = importlib.import_module(name)
        except Exception as error:  # whatever a stranger's package does
            raise Refusal(
                f"the package {name!r} of ginenv cannot be imported ({error}): install ginenv anew"
            ) from error
        if not getattr(package, "GINENV_PROJECT", False):
            where = os.path.dirname(package.__file__ or "") or "?"
            raise Refusal(
                f"the package {name!r} in {where} is not ginenv's: another distribution of that name is in the way, "
                "so install ginenv in an environment of its own"
            )


def _say_if_compiling(kernel: str) -> None:
    """Say so when the command's kernels must be compiled first; other commands may have compiled only a part."""
    from numba.core import config

    from ginenv.jit import cache_folder, kernel_sources

    if not kernel or config.DISABLE_JIT:
        return
    if not any(cache_folder(kernel_sources()[0]).rglob(f"{kernel}-*.nbc")):
        print("compiling the engine (once, about 30 s)…", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `gin`; returns the exit code: 0, 2 for what cannot be done, 130 after Ctrl-C."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print(f"gin: {message}", file=sys.stderr)
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    try:
        gc.disable()  # what imports make is there to stay: to look for garbage in it is a seventh of the start
        try:
            args = _parse(sys.argv[1:] if argv is None else argv)
        finally:
            gc.enable()
        code = 0 if args is None else args.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()  # what cannot be written should be told here, not at the exit
        return code
    except Refusal as refusal:
        print(f"gin: {refusal}", file=sys.stderr)
        return REFUSED
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(error.name or "")
        if extra is None:
            raise
        print(f"gin: the command needs the package {error.name}: pip install 'ginenv[{extra}]'", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `gin agents | head`
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITTEN:  # no print's, but a fault of the program
            raise
        _drop_output()
        print(f"gin: the output cannot be written: {error.strerror}", file=sys.stderr)
        return REFUSED


def _drop_output() -> None:
    """Send stdout, with what still waits to be written, nowhere: else Python complains at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
