"""`ppo`: a policy network, learned by self-play (`gin train ppo`), computed in a kernel: no torch.

The weights come from a safetensors file, whose names and shapes are those of `agents.network.Policy`. The kernel reads
them as float32 and agrees with torch to about 1e-6. Nothing in such a file is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.protocol import Kind, NativeAgent, Option, policy
from ginenv.encode import encode, encoding
from ginenv.jit import kernel
from ginenv.rng import uniform
from ginenv.state import DISCARD, KNOCK, N_ACTIONS
from ginenv.step import is_legal

FORMAT = "ginenv-policy-1"
"""What a weights file says of itself; another layout gets another number."""
ENCODING = encoding("features-v1")
SHIPPED = Path(__file__).parent / "weights" / "ppo.safetensors"

_LEASTS, _TURNS = 13, 16
SUIT_SIZE = ENCODING.suit_size + 13
"""Values of a position that belong to a suit: its block of the encoding, and which discards are the best."""
SHARED_SIZE = SUIT_SIZE + ENCODING.size - 4 * ENCODING.suit_size + _LEASTS + _TURNS
"""Values that all suits share: the mean of the suits, what stands behind the suit blocks in the encoding, and least
deadwood and own turn as thermometers (`lay_out`)."""

_CODE, _SIZE, _BLOCK = ENCODING.code, ENCODING.size, ENCODING.suit_size
_HAND, _WITHOUT = ENCODING["hand"].start, ENCODING["deadwood_without"].start
_LEAST, _LEAST_TAKING, _OWN_TURN = (ENCODING[name].start for name in ("least", "least_taking", "own_turn"))
_HEAD = 4
"""Numbers in ``params`` before the weights: width, mixing layers, temperature, and one unused."""


def _scales() -> np.ndarray:
    """Return what raw values are multiplied by: float32, shape (size,), read-only.

    The encoding's scales bring the largest possible value to 1. What decides a hand is a few points and turns, so
    these get larger ones: a network learns slowly what it is told in small numbers.
    """
    scale = ENCODING.scale.copy()
    for name, unit in (("stock", 20), ("draws_left", 20), ("turn", 20), ("own_turn", 10), ("opponent_turn", 10),
                       ("deadwood", 30), ("least", 20), ("margin", 20), ("least_taking", 10)):  # fmt: skip
        scale[ENCODING[name].start] = 1 / unit
    scale.flags.writeable = False
    return scale


SCALE = _scales()


# --- The forward pass --------------------------------------------------------------------------------


@kernel
def lay_out(raw, suits, shared):
    """Write an encoded position as the networks want it.

    Deadwood is told by how much more than the least it is: of a card, without it; of the top of the pile, taking it.
    What else is seen is multiplied by `SCALE`.

    Args:
        raw: int8, shape (size,): the encoding features-v1.
        suits: Written: float32, shape (4, SUIT_SIZE or more).
        shared: Written: float32, shape (SHARED_SIZE or more,).
    """
    least = np.int64(raw[_LEAST])
    for suit in range(4):
        block = raw[suit * _BLOCK : (suit + 1) * _BLOCK]
        row = suits[suit]
        for i in range(_BLOCK):
            row[i] = block[i] * SCALE[i]
        for rank in range(13):
            held = block[_HAND + rank]
            more = np.int64(block[_WITHOUT + rank]) - least
            row[_WITHOUT + rank] = held * more * np.float32(0.1)
            row[_BLOCK + rank] = held * (more == 0)
    for i in range(SUIT_SIZE):
        shared[i] = (suits[0, i] + suits[1, i] + suits[2, i] + suits[3, i]) * np.float32(0.25)
    at = SUIT_SIZE
    for i in range(4 * _BLOCK, _SIZE):
        shared[at] = raw[i] * SCALE[i]
        at += 1
    shared[SUIT_SIZE + _LEAST_TAKING - 4 * _BLOCK] = (raw[_LEAST_TAKING] - least) * np.float32(0.1)
    for points in range(_LEASTS):
        shared[at + points] = least <= points
    at += _LEASTS
    for turn in range(_TURNS):
        shared[at + turn] = raw[_OWN_TURN] > turn


@kernel
def _affine(weights, at, x, n_in, n_out, out):
    """Add ``x @ W`` to ``out`` (float32, shape (n_out,)); W lies at ``at``, shape (n_in, n_out). Returns W's end."""
    for i in range(n_in):
        value = x[i]
        if value != 0:  # most of an encoding is zeros, and so is half of what a rectifier leaves
            row = weights[at + i * n_out : at + (i + 1) * n_out]
            for j in range(n_out):
                out[j] += value * row[j]
    return at + n_in * n_out


@kernel
def _start(weights, at, n, out):
    """Copy ``n`` biases to ``out``. Returns their end."""
    for j in range(n):
        out[j] = weights[at + j]
    return at + n


@kernel
def _rectify(x, n):
    for j in range(n):
        x[j] = max(x[j], np.float32(0))


@kernel
def _mean(h, width, out):
    """Write the mean over suits of ``h``, shape (4, width), to ``out``."""
    for j in range(width):
        out[j] = (h[0, j] + h[1, j] + h[2, j] + h[3, j]) * np.float32(0.25)


@kernel
def logits(raw, params, out):
    """Write the logits of an encoded position.

    Args:
        raw: int8, shape (size,): the encoding features-v1.
        params: As `pack` makes them.
        out: float32, shape (108,).
    """
    width, mixing = np.int64(params[0]), np.int64(params[1])
    weights = params[_HEAD:].view(np.float32)
    suits = np.empty((4, SUIT_SIZE), np.float32)
    x = np.empty(SHARED_SIZE, np.float32)
    shared = np.empty(width, np.float32)
    mean = np.empty(width, np.float32)
    h = np.empty((4, width), np.float32)
    added = np.empty(width, np.float32)
    lay_out(raw, suits, x)
    # First layer: what all suits get, then each suit's own.
    at = _start(weights, 0, width, shared)
    at = _affine(weights, at, x, SHARED_SIZE, width, shared)
    end = at
    for suit in range(4):
        for j in range(width):
            h[suit, j] = shared[j]
        end = _affine(weights, at, suits[suit], SUIT_SIZE, width, h[suit])
        _rectify(h[suit], width)
    at = end
    for _ in range(mixing):
        _mean(h, width, mean)
        at = _start(weights, at, width, shared)
        at = _affine(weights, at, mean, width, width, shared)
        for suit in range(4):
            for j in range(width):
                added[j] = shared[j]
            end = _affine(weights, at, h[suit], width, width, added)
            for j in range(width):
                h[suit, j] += max(added[j], np.float32(0))
        at = end
    _mean(h, width, mean)
    at = _start(weights, at, width, added)
    at = _affine(weights, at, mean, width, width, added)
    _rectify(added, width)
    at = _start(weights, at, DISCARD, out)
    at = _affine(weights, at, added, width, DISCARD, out)
    cards = np.empty(26, np.float32)
    for suit in range(4):
        end = _start(weights, at, 26, cards)
        _affine(weights, end, h[suit], width, 26, cards)
        for rank in range(13):
            out[DISCARD + 13 * suit + rank] = cards[rank]
            out[KNOCK + 13 * suit + rank] = cards[13 + rank]


@kernel
def rate(view, rules, params, values):
    """Write the logits of a VIEW's seat to act to ``values``: float32, shape (108,), illegal actions included."""
    raw = np.empty(_SIZE, np.int8)
    encode(view, rules, _CODE, raw)
    logits(raw, params, values)


@policy
def choose(view, rules, params, key):
    """Choose the likeliest legal action; with a temperature above 0 draw one by its probability."""
    values = np.empty(N_ACTIONS, np.float32)
    rate(view, rules, params, values)
    best, chosen = np.float32(-np.inf), np.int64(-1)
    for action in range(N_ACTIONS):
        if is_legal(view, action) and (values[action] > best or chosen < 0):
            best, chosen = values[action], np.int64(action)
    temperature = params[2]
    if temperature <= 0:
        return chosen
    total = 0.0
    for action in range(N_ACTIONS):
        if is_legal(view, action):
            total += np.exp((np.float64(values[action]) - best) / temperature)
    left = uniform(key, 0) * total
    for action in range(N_ACTIONS):
        if is_legal(view, action):
            chosen = np.int64(action)
            left -= np.exp((np.float64(values[action]) - best) / temperature)
            if left < 0:
                break
    return chosen


# --- Weights -----------------------------------------------------------------------------------------


def shapes(width: int, mixing: int) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of a policy's tensors, as in `agents.network.Policy`."""
    found: dict[str, tuple[int, ...]] = {
        "trunk.own.weight": (width, SUIT_SIZE),
        "trunk.own.bias": (width,),
        "trunk.shared.weight": (width, SHARED_SIZE),
        "cards.weight": (26, width),
        "cards.bias": (26,),
        "hidden.weight": (width, width),
        "hidden.bias": (width,),
        "others.weight": (DISCARD, width),
        "others.bias": (DISCARD,),
    }
    for layer in range(mixing):
        found[f"trunk.mix_own.{layer}.weight"] = (width, width)
        found[f"trunk.mix_own.{layer}.bias"] = (width,)
        found[f"trunk.mix_shared.{layer}.weight"] = (width, width)
    return found


def pack(tensors: Mapping[str, np.ndarray], temperature: float = 0.0) -> np.ndarray:
    """Return a policy's tensors (`shapes`) as the ``params`` of `choose`: float64, holding pairs of float32.

    Raises:
        ValueError: when a tensor is missing, has another shape or is not finite.
    """
    width, mixing = _sizes(tensors)
    for name, shape in shapes(width, mixing).items():
        if tensors[name].shape != shape:
            raise ValueError(f"tensor {name} has shape {tensors[name].shape}, not {shape}")
        if not np.isfinite(tensors[name]).all():
            raise ValueError(f"tensor {name} has values that are not finite")
    parts = [tensors["trunk.own.bias"], tensors["trunk.shared.weight"].T, tensors["trunk.own.weight"].T]
    for layer in range(mixing):
        parts += [
            tensors[f"trunk.mix_own.{layer}.bias"],
            tensors[f"trunk.mix_shared.{layer}.weight"].T,
            tensors[f"trunk.mix_own.{layer}.weight"].T,
        ]
    for name in ("hidden", "others", "cards"):
        parts += [tensors[f"{name}.bias"], tensors[f"{name}.weight"].T]
    flat = np.concatenate([np.ascontiguousarray(part, dtype=np.float32).ravel() for part in parts])
    if len(flat) % 2:
        flat = np.append(flat, np.float32(0))
    head = np.array([width, mixing, temperature, 0.0])
    return np.concatenate([head, flat.view(np.float64)])


def _sizes(tensors: Mapping[str, np.ndarray]) -> tuple[int, int]:
    """Return width and number of mixing layers. Raises ValueError unless the names are those of a policy."""
    mixing = sum(name.startswith("trunk.mix_shared.") for name in tensors)
    first = tensors.get("trunk.own.bias")
    width = 0 if first is None else first.size
    wanted = shapes(width, mixing)
    if width == 0 or set(tensors) != set(wanted):
        odd = sorted(set(tensors) ^ set(wanted))
        raise ValueError(f"these are not the tensors of a policy: {', '.join(odd[:3])} are missing or too many")
    return width, mixing


def read_safetensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the float32 tensors of a safetensors file, and its metadata.

    The format is a length (8 bytes, little-endian), that many bytes of JSON, and the raw numbers; reading it here
    spares those who only play the package (https://github.com/huggingface/safetensors#format).

    Raises:
        ValueError: when the file is none, or its tensors are not float32.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        metadata = header.pop("__metadata__", {})
        tensors = {}
        for name, entry in header.items():
            if entry["dtype"] != "F32":
                raise ValueError(f"{path}: tensor {name} is {entry['dtype']}, not float32")
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin : 8 + length + end]
            tensors[name] = np.frombuffer(raw, "<f4").reshape(entry["shape"])
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not a whole safetensors file") from None
    except (KeyError, TypeError, AttributeError, OverflowError):
        raise ValueError(f"{path} is not a whole safetensors file") from None
    return tensors, metadata


def read_policy(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the tensors and the metadata of a weights file.

    Raises:
        ValueError: when it is not a policy of this format and encoding; the sentence says what it is.
    """
    tensors, metadata = read_safetensors(path)
    for key, wanted in (("format", FORMAT), ("encoding", ENCODING.name)):
        if metadata.get(key) != wanted:
            raise ValueError(f"{path} has {key} {metadata.get(key, 'none')!r}: this agent reads {wanted!r}")
    try:
        pack(tensors)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return tensors, metadata


def native(spec: str, tensors: Mapping[str, np.ndarray], temperature: float = 0.0) -> NativeAgent:
    """Return an agent that plays by a policy's tensors (`shapes`)."""
    return NativeAgent(spec, choose, pack(tensors, temperature))


def load(spec: str, path: str, temperature: float = 0.0) -> NativeAgent:
    """Return an agent that plays by the weights in the file ``path``, or by the shipped ones where it is empty.

    Raises:
        ValueError: when the file is not a policy of this format and encoding.
    """
    try:
        tensors, _ = read_policy(Path(path) if path else SHIPPED)
    except ValueError as error:
        raise ValueError(f"agent: {spec.partition(':')[0]}: {error}") from None
    return native(spec, tensors, temperature)


def _make(spec: str, options: Mapping[str, Any]) -> NativeAgent:
    return load(spec, str(options["path"]), float(options["temperature"]))


AGENT = Kind(
    "a network that learned by self-play (`gin train ppo`)",
    _make,
    {
        "path": Option("", "weights file (none: the shipped weights)"),
        "temperature": Option(0.0, "0: the likeliest action; 1: drawn by the policy's probabilities", 0, 100),
    },
)
