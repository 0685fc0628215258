"""The project itself: who imports whom, what is annotated, and the kernel cache."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from agents.registry import make
from experiments.match import play_pairs
from ginenv.rules import PRESETS

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ginenv", "agents", "experiments")
"""Each imports from itself and those before it only."""
MODULES = """
jit rng cards melds wild lookahead rules state deal scoring ledger view lay step position invariants encode_parts
encode_kernels encode actions hands record render table games sheet
"""
ORDER = MODULES.split()
"""The modules of ginenv: each imports from those before it only. Then come the environments in ginenv/envs."""
SHELLS = ("__init__", "gin_rummy_v0")
"""Modules of ginenv that only hand on what others define."""
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
NAMES = [str(path.relative_to(ROOT)) for path in FILES]


def imports(path: Path) -> Iterator[str]:
    """Yield the full names of the modules that a file imports, at its top and inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                inside = (ROOT / whole.replace(".", "/")).with_suffix(".py")
                yield whole if inside.is_file() else str(node.module)


def run(code: str, **env: str) -> str:
    """Run Python code in a process of its own; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Imports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_packages_import_one_way(name):
    package = name.split("/")[0]
    later = PACKAGES[PACKAGES.index(package) + 1 :]
    for module in imports(ROOT / name):
        assert module.split(".")[0] not in later, f"{name} imports {module}"
        assert module.split(".")[0] != "tests", f"{name} imports {module}"


def test_every_module_of_ginenv_has_its_place():
    found = {path.stem for path in (ROOT / "ginenv").glob("*.py")} - set(SHELLS)
    assert found <= set(ORDER)


@pytest.mark.parametrize("name", [n for n in ORDER if (ROOT / "ginenv" / f"{n}.py").is_file()])
def test_ginenv_imports_from_top_to_bottom(name):
    before = ORDER[: ORDER.index(name)]
    for module in imports(ROOT / "ginenv" / f"{name}.py"):
        parts = module.split(".")
        if parts[0] == "ginenv":
            assert parts[1:] and parts[1] in before, f"ginenv/{name}.py imports {module}"


def test_torch_is_imported_by_network_agents_and_training_only():
    for name in NAMES:
        if any(module.split(".")[0] == "torch" for module in imports(ROOT / name)):
            assert name.startswith(("agents/", "experiments/train")), name


def test_import_ginenv_brings_in_no_torch_and_no_agents():
    code = "import ginenv, sys; print([m for m in ('torch', 'agents', 'experiments') if m in sys.modules])"
    assert run(code).strip() == "[]"


# --- Annotations ----------------------------------------------------------------------------------


INTRINSICS = ("_bits", "generate")
"""Functions that speak to Numba's compiler, and the plain twin of one."""


def is_kernel(function: ast.FunctionDef) -> bool:
    if function.name in INTRINSICS:
        return True
    names = {node.id for d in function.decorator_list for node in ast.walk(d) if isinstance(node, ast.Name)}
    return bool(names & {"kernel", "standalone", "policy"})


@pytest.mark.parametrize("name", NAMES)
def test_every_function_but_kernels_is_annotated(name):
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if not isinstance(node, ast.FunctionDef) or is_kernel(node):
            continue
        a = node.args
        args = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
        bare = [arg.arg for arg in args if arg.annotation is None and arg.arg not in ("self", "cls")]
        assert not bare, f"{name}:{node.lineno} {node.name}: {', '.join(bare)}"
        assert node.returns is not None, f"{name}:{node.lineno} {node.name} has no return type"


# --- Memory of kernels ------------------------------------------------------------------------------


def outlived(function: ast.FunctionDef) -> list[str]:
    """Return records of a kernel's own arrays that are used after the array's last use, as ``line name``.

    Numba frees an array after its last use, and a record (``s = states[0]``) does not keep it: what is written to
    ``s`` from then on may lie in another array. An array that is used in a loop lives until the loop ends.
    """
    made, found = set(), []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if several else [(target, value)]
            made |= {a.id for a, b in pairs if isinstance(a, ast.Name) and ast.unparse(b).startswith("np.")}
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]

    def uses(name: str) -> list[int]:
        return [n.lineno for n in ast.walk(function)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]  # fmt: skip

    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)):
            continue
        record, array = node.targets[0], node.value.value
        if not (isinstance(record, ast.Name) and isinstance(array, ast.Name) and array.id in made):
            continue
        last = max(uses(record.id), default=0)
        lives_in = [loop for loop in loops if loop.lineno <= last <= (loop.end_lineno or 0)]
        kept = [line >= last for line in uses(array.id) if line != node.lineno]
        kept += [loop.lineno <= line <= (loop.end_lineno or 0) for loop in lives_in for line in uses(array.id)]
        if last and not any(kept):
            found.append(f"{node.lineno} {record.id}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_record_outlives_its_array_in_a_kernel(name):
    for node in ast.walk(ast.parse((ROOT / name).read_text())):
        if isinstance(node, ast.FunctionDef) and is_kernel(node):
            assert not outlived(node), name


def test_a_record_that_outlives_its_array_is_found():
    def parsed(text: str) -> ast.FunctionDef:
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        return function

    head = "def f(n):\n    states, views = np.empty(1, dtype=STATE), np.empty(2, dtype=VIEW)\n"
    assert outlived(parsed(head + "    s = states[0]\n    for i in range(n):\n        s['turn'] = i\n")) == ["3 s"]
    assert not outlived(parsed(head + "    for i in range(n):\n        s = states[0]\n        s['turn'] = i\n"))


# --- The kernel cache -----------------------------------------------------------------------------

KERNEL_FILES = [n for n in NAMES if re.search(r"^ *@(kernel|standalone|policy)", (ROOT / n).read_text(), re.MULTILINE)]


def jit_of(root: Path) -> ModuleType:
    """Return the module jit.py of a copy of the project, loaded anew."""
    spec = importlib.util.spec_from_file_location("jit_of_a_copy", root / "ginenv" / "jit.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.parametrize("name", KERNEL_FILES)
def test_a_change_in_any_file_with_kernels_begins_a_new_cache(name, copy):
    source = copy / "ginenv" / "melds.py"
    before = jit_of(copy).cache_folder(source)
    assert jit_of(copy).cache_folder(source) == before
    path = copy / name
    text = path.read_text()
    path.write_text(text + "# changed\n")
    assert jit_of(copy).cache_folder(source) != before
    path.write_text(text)
    assert jit_of(copy).cache_folder(source) == before


def test_a_users_policy_has_a_cache_of_its_own(tmp_path):
    jit = jit_of(ROOT)
    bot = tmp_path / "mybot.py"
    bot.write_text("# one\n")
    before = jit.cache_folder(bot)
    bot.write_text("# two\n")
    assert jit_of(ROOT).cache_folder(bot) != before != jit.cache_folder(ROOT / "ginenv" / "melds.py")


CACHED = """
import numpy as np
from agents import random, simple
from agents.registry import make
from experiments import match
from ginenv.rules import rules
from ginenv.melds import deadwood
from ginenv.step import step
from ginenv.view import look
deadwood(7, 13)
match.play_pairs(make("simple"), make("random"), rules("openspiel"), 1, 0, 2)
for f in (deadwood, match._play_native, simple.choose, random.choose, step._dispatcher, look._dispatcher):
    print(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
"""


def test_a_second_process_finds_everything_in_the_cache():
    run(CACHED)
    hits = [tuple(map(int, line.split())) for line in run(CACHED).splitlines()]
    assert len(hits) == 6
    assert all(hit > 0 and miss == 0 for hit, miss in hits), hits


STANDALONE = """
import ctypes, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts this in the background has it ignored
from numba import types
from ginenv.jit import kernel, standalone

raise_signal = getattr(ctypes.CDLL(None), "raise")
raise_signal.argtypes, raise_signal.restype = [ctypes.c_int], ctypes.c_int

@standalone(types.int64(types.int64[::1], types.int64))
def double(numbers, n):
    numbers[0] += 1
    if n < 0:
        raise ValueError("negative")
    return 2 * n

def many(numbers, n, interrupted):
    if interrupted:
        raise_signal(2)  # Ctrl-C while compiled code runs: Python is told when it is next called
    total = 0
    for i in range(n):
        total += double(numbers, i)
    return total

@kernel
def one(numbers, n):
    return double(numbers, n)

import numba, numpy as np
many = numba.njit("int64(int64[::1], int64, boolean)", nogil=True)(many)
numbers = np.zeros(1, np.int64)
try:
    many(numbers, 4, True)
except KeyboardInterrupt:
    print("interrupted", numbers[0])
compiled = type(double)._compiled
def interrupted(self, signature):  # Ctrl-C while it is compiled
    signal.raise_signal(signal.SIGINT)
    return compiled(self, signature)
type(double)._compiled = interrupted
try:
    many(numbers, 4, False)
except KeyboardInterrupt:
    print("interrupted", numbers[0])
type(double)._compiled = compiled
print(many(numbers, 4, False), numbers[0])  # the first call, too, is done just once
print(many(numbers, 100, False), numbers[0], double(numbers, 21), len(double._dispatcher.overloads))
try:
    one(numbers, -1)
except ValueError as error:
    print(error)
"""


def test_a_standalone_kernel_is_compiled_at_its_first_call_and_then_called_through_its_address():
    printed = run(STANDALONE).split("\n")
    assert printed == ["interrupted 0", "interrupted 0", "12 4", "9900 104 42 1", "negative", ""]


KERNELS = """
from ginenv.jit import kernel

@kernel
def add(a, b):
    return a + b

@kernel
def double(a):
    return add(a, a)
"""
NO_ROOM = (
    "import resource, my_kernels; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); print(my_kernels.double(4))"
)


@pytest.mark.parametrize(("folder", "code", "why"), [
    ("cache", NO_ROOM, "File too large"),  # as on a full disk
    ("my_kernels.py/cache", "import my_kernels; print(my_kernels.double(4))", "Not a directory"),
])  # fmt: skip
def test_without_room_for_compiled_kernels_one_sentence_says_so_and_all_works(folder, code, why, tmp_path):
    (tmp_path / "my_kernels.py").write_text(KERNELS)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GINENV_CACHE_DIR": str(tmp_path / folder)},
    )  # fmt: skip
    assert done.stdout == "8\n"
    sentence = f"compiled kernels cannot be kept in {tmp_path / folder} ({why}), so every process compiles them anew: "
    assert done.stderr.count(sentence + "make room there, or name another folder with GINENV_CACHE_DIR") == 1
    assert not list(tmp_path.rglob("my_kernels*.nb[ic]*")), "nor are they kept beside the sources"


WITHOUT_JIT = """
import sys
from agents.registry import make
from experiments.match import play_pairs
from ginenv.rules import PRESETS
games, hands = play_pairs(make("{}"), make("random"), PRESETS["openspiel"], 3, 0, 1, keep_hands=True)
print(games.tobytes().hex(), hands.tobytes().hex())
"""


def test_a_hand_is_the_same_with_the_jit_off():
    games, hands = play_pairs(make("simple"), make("random"), PRESETS["openspiel"], 3, 0, 1, keep_hands=True)
    without = run(WITHOUT_JIT.format("simple"), NUMBA_DISABLE_JIT="1").split()
    assert without == [games.tobytes().hex(), hands.tobytes().hex()]
    assert np.all(games["hands"] == 1)


@pytest.mark.parametrize("agent", ["mc:worlds=2,width=2,policy=heuristic", "ismcts:worlds=4"])
def test_searches_play_with_the_jit_off(agent):
    assert len(run(WITHOUT_JIT.format(agent), NUMBA_DISABLE_JIT="1").split()) == 2


LAY_IN_MEMORY = """
import hashlib
import numpy as np
from agents.registry import make
from experiments.knock_duel import DUEL, duel
from experiments.knock_study import play_shard
from experiments.knock_values import LAST_WEIGHT
from experiments.match import play_pairs
from ginenv.rules import PRESETS
rules = PRESETS["eaai"]
found = [play_pairs(make("mc:worlds=12"), make("heuristic"), rules, 1, 0, 1)[0]]
rows, simple = np.zeros(20, dtype=DUEL), make("simple")
duel(simple.policy, simple.params, simple.policy, simple.params, rules.record, 1, 2, 0, rows)
weights = [0.03] * (LAST_WEIGHT + 1)
found += [rows, play_shard(("simple", "lean"), (weights, weights), rules, 3, 0, 100, 60, 12, (0,))]
print([hashlib.md5(array.tobytes()).hexdigest() for array in found])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc fills memory for us")
def test_results_do_not_depend_on_what_lay_in_memory():
    first, second = (run(LAY_IN_MEMORY, MALLOC_PERTURB_=fill) for fill in ("0", "85"))
    assert first == second and first.count(",") == 2
