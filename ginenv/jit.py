"""The one `kernel` decorator: plain Python functions compiled by Numba, with a cache that cannot go stale.

Numba's own disk cache looks only at the file that a function stands in, so a changed constant or an
inlined helper in another file goes unnoticed (numba#1833). Here the cache folder's name is a hash over all
kernel sources, so any change begins a new folder.

Kernels obey a few rules (see CONTRIBUTING.md): structured arrays are read as ``s["field"]``, masks are
int64, nothing recurses, nothing allocates on a hot path. With ``NUMBA_DISABLE_JIT=1`` the same functions
run as plain Python.
"""

from __future__ import annotations

import _thread
import ctypes
import hashlib
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
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

    At first a slot holds the address of `_first_call`, which compiles the kernel, or loads it from disk, and puts
    the kernel's own address there. Slots are found by name when compiled code is loaded, so callers can be kept on
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
            slot = ctypes.c_void_p()
            stub = _c_type(signature)(lambda *args, at=slot, of=signature: self._first_call(at, of, args))
            slot.value = ctypes.cast(stub, ctypes.c_void_p).value
            self._keep += [slot, stub]
            llvm.add_symbol(symbol, ctypes.addressof(slot))
            lower_builtin(self, *signature.args)(_call_through(symbol))
        update_wrapper(self, plain)

    def _address(self, signature: Any) -> int:
        if signature.args not in self._dispatcher.overloads:
            try:
                self._dispatcher.compile(signature)
            except OSError:  # a full disk: what was compiled serves this process, uncached
                if signature.args not in self._dispatcher.overloads:
                    raise
        made = self._dispatcher.overloads[signature.args]
        return cast(int, made.library.get_pointer_to_function(made.fndesc.llvm_func_name))

    def _first_call(self, slot: ctypes.c_void_p, signature: Any, args: tuple[Any, ...]) -> int:
        """Fill ``slot``, and do the call that it was read for; compiled code calls this."""
        try:
            with _no_interrupt():
                slot.value = self._address(signature)
            return cast(int, _c_type(signature)(slot.value)(*args))
        except BaseException:  # compiled code cannot go on, and nothing can be raised through it
            traceback.print_exc()
            sys.stderr.flush()
            os.abort()

    def __call__(self, *args: Any) -> Any:
        """Call the kernel from Python."""
        if not self._is_complete:
            for signature in self._signatures:
                self._address(signature)
            self._dispatcher.disable_compile()  # other numbers than the signature's are converted
            self._is_complete = True
        return self._dispatcher(*args)


def _c_type(signature: Any) -> Any:
    """Return the C type of a compiled function: it takes where to put its result and what was raised, then the
    arguments, arrays taken to pieces.
    """
    c_types: list[Any] = []
    for kind in signature.args:
        if isinstance(kind, types.Array):
            c_types += [ctypes.c_int64] * (5 + 2 * kind.ndim)
        elif isinstance(kind, types.Float):
            c_types.append(ctypes.c_double)
        else:
            c_types.append(ctypes.c_int64)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int64, *c_types)


def _call_through(symbol: str) -> Callable[..., Any]:
    """Return what writes the call of a standalone kernel into a caller's code."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.call_conv.get_function_type(signature.return_type, signature.args).as_pointer()
        slot = builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, pointer, symbol)
        status, result = context.call_conv.call_function(
            builder, builder.load(slot), signature.return_type, signature.args, args
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return write


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Keep Ctrl-C off until the compiled code that we were called by is done."""
    if threading.current_thread() is not threading.main_thread():  # it never comes here
        yield
        return
    asked: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: asked.append(1))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if asked:
            threading.Timer(0.1, _thread.interrupt_main).start()


def is_cached() -> bool:
    """Return whether kernels of just these sources were compiled on this machine before."""
    folder = cache_folder(kernel_sources()[0])
    return bool(config.DISABLE_JIT) or any(folder.rglob("*.nbc"))
