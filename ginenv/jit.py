"""The one `kernel` decorator: plain Python functions compiled by Numba, with a cache that cannot go stale.

Numba's own disk cache looks only at the file that a function stands in, so a changed constant or an
inlined helper in another file goes unnoticed (numba#1833). Here the cache folder's name is a hash over all
kernel sources, so any change begins a new folder.

Kernels obey a few rules (see CONTRIBUTING.md): structured arrays are read as ``s["field"]``, masks are
int64, nothing recurses, nothing allocates on a hot path. With ``NUMBA_DISABLE_JIT=1`` the same functions
run as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

if config.DISABLE_JIT:
    # The random generator wraps around 64 bits on purpose; NumPy would warn at each wrap.
    np.seterr(over="ignore")


def _root() -> Path:
    """Return the folder for compiled kernels: ``GINENV_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get("GINENV_CACHE_DIR")
    if named:
        return Path(named)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        (base / "ginenv").mkdir(parents=True, exist_ok=True)
    except OSError:
        base = Path(tempfile.gettempdir())
    return base / "ginenv"


@cache
def kernel_sources() -> tuple[Path, ...]:
    """Return every file whose text can change a compiled kernel: those with kernels, and those with their constants."""
    package = Path(__file__).resolve().parent
    files = [package / "jit.py", package / "rules.py", package / "state.py"]
    for name in ("ginenv", "agents", "experiments"):
        for path in sorted((package.parent / name).rglob("*.py")):
            text = path.read_bytes()
            if path not in files and (b"\n@kernel" in text or b"\n@policy" in text):
                files.append(path)
    return tuple(files)


@cache
def cache_folder(source: Path) -> Path:
    """Return the cache folder for kernels in the file ``source``."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    sources = kernel_sources()
    for path in sources:
        digest.update(path.read_bytes())
    if source not in sources and source.is_file():  # a user's own policy
        digest.update(source.read_bytes())
    return _root() / f"kernels-{digest.hexdigest()[:16]}"


def kernel(function: F | None = None, *, signature: Any = None) -> F:
    """Compile ``function`` with Numba and keep the result on disk.

    Args:
        function: A plain Python function of ints, arrays and structured records.
        signature: Numba signature to compile for at once. Functions that are passed to other kernels
            as arguments need one (see `agents.protocol.POLICY`): a call through a typed function pointer
            hits the disk cache, a specialised argument would not.

    Returns:
        The compiled function, called just like the plain one; it releases the GIL.
    """

    def compile_(plain: F) -> F:
        if config.DISABLE_JIT:
            return plain
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        args = () if signature is None else (signature,)
        source = Path(plain.__code__.co_filename)
        before = config.CACHE_DIR
        config.CACHE_DIR = str(cache_folder(source))
        try:
            return cast(F, numba.njit(*args, cache=source.is_file(), **options)(plain))
        finally:
            config.CACHE_DIR = before

    return compile_(function) if function is not None else cast(F, compile_)


def is_cached() -> bool:
    """Return whether kernels of just these sources were compiled on this machine before."""
    folder = cache_folder(kernel_sources()[0])
    return bool(config.DISABLE_JIT) or any(folder.rglob("*.nbc"))
