"""Where a result comes from: digests of the code that played, versions and machine."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import agents
from agents.registry import split

ROOT = Path(agents.__file__).resolve().parent.parent
_IMPORT = re.compile(
    r"^\s*(?:from|import)\s+((?:ginenv|agents|experiments)(?:\.\w+)*)(?:\s+import\s+(.*))?", re.MULTILINE
)


def sources(*files: Path) -> list[Path]:
    """Return ``files`` and all of this project that they import, directly or not, sorted.

    So a run is tied to the code that can change its games, and not to drawings or to another agent's file.
    """
    found: set[Path] = set()
    todo = [file.resolve() for file in files]
    while todo:
        file = todo.pop()
        if file in found:
            continue
        found.add(file)
        for module, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
            # `from agents import random` names a module, too.
            words = (part.strip(" (").partition(" ")[0] for part in names.split(","))
            for name in (module, *(f"{module}.{word}" for word in words if word)):
                path = ROOT / name.replace(".", "/")
                todo += [p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()]
    return sorted(found)


def digest(files: list[Path]) -> str:
    """Return a short digest of the contents of ``files``."""
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:16]


def engine_digest() -> str:
    """Return the digest of the engine and the match driver."""
    return digest(sources(ROOT / "experiments" / "match.py"))


def agent_digest(spec: str) -> str:
    """Return the digest of an agent: its file, what it imports of this project, and files that its options name."""
    name, options = split(spec)
    file = Path(name) if name.endswith(".py") else ROOT / "agents" / f"{name}.py"
    if not file.is_file():
        file = ROOT / "agents" / name / "__init__.py"
    named = [Path(item.partition("=")[2]) for item in options.split(",") if "=" in item]
    named.append(ROOT / "agents" / "weights" / f"{name}.safetensors")  # what it plays by when no option names another
    return digest(sources(file) + [path for path in named if path.is_file()])


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that play."""
    found = {"python": platform.python_version()}
    for package in ("ginenv", "numba", "numpy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            if package == "ginenv":
                found[package] = "not installed"
    return found


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Return how many bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def machine() -> dict[str, str | int]:
    """Return what this machine is: processor, cores, system."""
    cpu = platform.processor() or platform.machine()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if match := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
            cpu = match[1]
    except OSError:
        pass  # not Linux
    return {"cpu": cpu, "cores": cores(), "system": f"{platform.system()} {platform.machine()}"}
