"""The one `kernel` decorator: plain Python functions compiled by Numba, with a cache that cannot go stale.

Numba's own disk cache looks only at the file that a function stands in, so a changed constant or an
inlined helper in another file goes unnoticed (numba#1833). Here the cache folder's name is a hash over all
kernel sources, so any change begins a new folder.

Kernels obey a few rules (see CONTRIBUTING.md): structured arrays are read as ``s["field"]``, masks are
int64, nothing recurses, nothing allocates on a hot path. With ``NUMBA_DISABLE_JIT=1`` the same functions
run as plain Python.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.caching import FunctionCache
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import make_concrete_template

F = TypeVar("F", bound=Callable[..., Any])

_DECORATORS = (b"kernel", b"standalone", b"policy")

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
    files = [package / f"{name}.py" for name in ("jit", "rules", "state", "encode_parts")]
    for name in ("ginenv", "agents", "experiments"):
        for path in sorted((package.parent / name).rglob("*.py")):
            text = path.read_bytes()
            if path not in files and any(b"\n@" + name in text for name in _DECORATORS):
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


@cache
def _can_keep(folder: Path) -> bool:
    """Return whether files can be made in the cache folder. Where not, Numba would choose one beside the sources."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError as error:
        _say_not_kept(error)
        return False


@cache
def _say_once(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _say_not_kept(error: OSError) -> None:
    _say_once(
        f"compiled kernels cannot be kept in {_root()} ({error.strerror}), so every process compiles them anew: "
        "make room there, or name another folder with GINENV_CACHE_DIR"
    )


class _Cache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """Numba's cache of a function, but that a full disk is no error: what was compiled serves this process."""

    def save_overload(self, signature: Any, compiled: Any) -> None:
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            _say_not_kept(error)


@overload
def kernel(function: F, *, signature: Any = None) -> F: ...


@overload
def kernel(function: None = None, *, signature: Any = None) -> Callable[[F], F]: ...


def kernel(function: F | None = None, *, signature: Any = None) -> F | Callable[[F], F]:
    """Compile ``function`` with Numba and keep the result on disk.

    Args:
        function: A plain Python function of ints, arrays and structured records.
        signature: Numba signature to compile for at once. Functions that are passed to other kernels
            as arguments need one (see `agents.protocol.POLICY`): a call through a typed function pointer
            hits the disk cache, a specialised argument would not.

    Returns:
        The compiled function, called just like the plain one; it releases the GIL. Without ``function``, what
        compiles one.
    """

    def compile_(plain: F) -> F:
        if config.DISABLE_JIT:
            return plain
        made = numba.njit(nogil=True, error_model="numpy")(plain)
        source = Path(plain.__code__.co_filename)
        folder = cache_folder(source)
        if source.is_file() and _can_keep(folder):
            before = config.CACHE_DIR
            config.CACHE_DIR = str(folder)
            try:
                made._cache = _Cache(plain)
            finally:
                config.CACHE_DIR = before
        if signature is not None:
            made.compile(signature)
            made.disable_compile()
        return cast(F, made)

    return compile_ if function is None else compile_(function)


def standalone(*signatures: Any) -> Callable[[F], F]:
    """Compile a function like `kernel`, but by itself, and not before it is called for the first time.

    What a kernel calls is compiled into it, with all that it calls in turn, and so again into each caller: that is fast
    and, for much code, takes long to compile. A standalone kernel is called through a pointer instead, for some
    2 ns. It suits code that is big, has many callers, or serves rules that few play.

    Args:
        signatures: Numba signatures, ``returned(argument, ...)``: one for each kind of arguments.
    """

    def compile_(plain: F) -> F:
        return plain if config.DISABLE_JIT else cast(F, _Standalone(plain, signatures))

    return compile_


class _Standalone:
    """A kernel that other kernels call through a slot in memory.

    A slot holds the address of the compiled kernel, or 0 before the first call, and behind it the Python function that
    compiles the kernel, or loads it from disk, and fills the slot. What that raises, Ctrl-C included, goes through the
    callers like an error of their own. Slots are found by name when compiled code is loaded, so callers can be kept on
    disk.
    """

    def __init__(self, plain: Callable[..., Any], signatures: tuple[Any, ...]) -> None:
        self._signatures = signatures
        self._dispatcher = cast(Any, kernel(plain))
        self._is_complete = False
        self._keep: list[Any] = []  # what compiled code has the address of
        name = f"ginenv {plain.__module__}.{plain.__qualname__}"
        # Numba asks for this wherever a kernel names the object.
        self._numba_type_ = types.Function(make_concrete_template(name, self, signatures))
        for signature in signatures:
            symbol = f"{name} {signature}"
            slot = (ctypes.c_void_p * 2)()
            fill = partial(self._fill, slot, signature)
            slot[1] = id(fill)
            self._keep += [slot, fill]
            llvm.add_symbol(symbol, ctypes.addressof(slot))
            lower_builtin(self, *signature.args)(_call_through(symbol))
        update_wrapper(self, plain)

    def _compiled(self, signature: Any) -> Any:
        if signature.args not in self._dispatcher.overloads:
            self._dispatcher.compile(signature)
        return self._dispatcher.overloads[signature.args]

    def _fill(self, slot: ctypes.Array[ctypes.c_void_p], signature: Any) -> None:
        """Put the kernel's address in its slot; compiled code calls this."""
        made = self._compiled(signature)
        slot[0] = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)

    def __call__(self, *args: Any) -> Any:
        """Call the kernel from Python."""
        if not self._is_complete:
            for signature in self._signatures:
                self._compiled(signature)
            self._dispatcher.disable_compile()  # other numbers than the signature's are converted
            self._is_complete = True
        return self._dispatcher(*args)


def _call_through(symbol: str) -> Callable[..., Any]:
    """Return what writes the call of a standalone kernel into a caller's code."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        python = context.get_python_api(builder)
        pointer = context.call_conv.get_function_type(signature.return_type, signature.args).as_pointer()
        pair = ir.LiteralStructType([pointer, python.pyobj])
        slot = builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, pair, symbol)
        address, fill = (cgutils.gep_inbounds(builder, slot, 0, i) for i in range(2))
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, builder.load(address))):
            lock = python.gil_ensure()
            done = python.call_function_objargs(builder.load(fill), ())
            python.decref(done)
            python.gil_release(lock)
            with cgutils.if_unlikely(builder, cgutils.is_null(builder, done)):
                context.call_conv.return_exc(builder)
        status, result = context.call_conv.call_function(
            builder, builder.load(address), signature.return_type, signature.args, args
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return write


def is_cached() -> bool:
    """Return whether kernels of just these sources were compiled on this machine before."""
    folder = cache_folder(kernel_sources()[0])
    return bool(config.DISABLE_JIT) or any(folder.rglob("*.nbc"))
