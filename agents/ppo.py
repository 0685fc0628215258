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

FORMAT = "ginenv-policy-2"
"""What a weights file says of itself; another layout gets another number."""
ENCODING = encoding("features-v2")
SHIPPED = Path(__file__).parent / "weights" / "ppo.safetensors"

LEASTS, TURNS = 13, 16
"""Values of two thermometers: of least deadwood, and of own turns."""
SUIT_SIZE = ENCODING.suit_size + 13
"""Values of a position that belong to a suit: its block of the encoding, and which discards are the best."""
PLANES = SUIT_SIZE // 13
"""Values of a position that belong to a card."""
SHARED_SIZE = SUIT_SIZE + ENCODING.size - 4 * ENCODING.suit_size + LEASTS + TURNS
"""Values that all suits share: the mean of the suits, what stands behind the suit blocks in the encoding, and least
deadwood and own turn as thermometers (`lay_out`)."""

_CODE, _SIZE, _BLOCK = ENCODING.code, ENCODING.size, ENCODING.suit_size
_HAND, _WITHOUT = ENCODING["hand"].start, ENCODING["deadwood_without"].start
_LEAST, _LEAST_TAKING, _OWN_TURN = (ENCODING[name].start for name in ("least", "least_taking", "own_turn"))
_HEAD = 4
"""Numbers in ``params`` before the weights: width, mixing layers, temperature, and one unused."""
_LARGEST = 4.0 * 128
"""More than any value of a position: scales are 1 at most, and what all suits share begins as a sum of four int8."""


def _scales() -> np.ndarray:
    """Return what raw values are multiplied by: float32, shape (size,), read-only.

    The encoding's scales bring the largest possible value to 1. What decides a hand is a few points and turns, so
    these get larger ones: a network learns slowly what it is told in small numbers.
    """
    scale = ENCODING.scale.copy()
    for name, unit in (("stock", 20), ("draws_left", 20), ("turn", 20), ("own_turn", 10), ("opponent_turn", 10),
                       ("deadwood", 30), ("least", 20), ("margin", 20), ("least_taking", 10),
                       ("left_next", 20), ("left_taking", 20),
                       ("saves", 30), ("saves_without", 40), ("saves_next", 40),
                       ("saves_taking", 40)):  # fmt: skip
        scale[ENCODING[name].index] = 1 / unit
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
        raw: int8, shape (size,): the encoding features-v2.
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
    for points in range(LEASTS):
        shared[at + points] = least <= points
    at += LEASTS
    for turn in range(TURNS):
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
def _rectify(x):
    """Replace what is negative by 0."""
    for j in range(x.shape[0]):
        x[j] = max(x[j], np.float32(0))


@kernel
def _suits_mean(h, out):
    """Write the mean over suits of ``h``, shape (4, width), to ``out``."""
    for j in range(out.shape[0]):
        out[j] = (h[0, j] + h[1, j] + h[2, j] + h[3, j]) * np.float32(0.25)


@kernel
def _trunk(weights, suits, shared, mixing, h):
    """Write what `agents.network.Trunk` makes of a position.

    Args:
        weights: float32, beginning with the trunk's.
        suits, shared: As `lay_out` writes them.
        mixing: Layers after the first.
        h: float32, shape (4, width), written.

    Returns:
        Where its weights end.
    """
    width = h.shape[1]
    common, added, mean = np.empty(width, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    # First layer: what all suits get, then each suit's own.
    at = _start(weights, 0, width, common)
    at = _affine(weights, at, shared, SHARED_SIZE, width, common)
    end = at
    for suit in range(4):
        for j in range(width):
            h[suit, j] = common[j]
        end = _affine(weights, at, suits[suit], SUIT_SIZE, width, h[suit])
        _rectify(h[suit])
    at = end
    for _ in range(mixing):
        _suits_mean(h, mean)
        at = _start(weights, at, width, common)
        at = _affine(weights, at, mean, width, width, common)
        for suit in range(4):
            for j in range(width):
                added[j] = common[j]
            end = _affine(weights, at, h[suit], width, width, added)
            for j in range(width):
                h[suit, j] += max(added[j], np.float32(0))
        at = end
    return at


@kernel
def _dense(weights, at, x, out):
    """Write ``bias + x @ W``; the bias lies at ``at`` and W, shape (len(x), len(out)), behind it. Returns W's end."""
    at = _start(weights, at, out.shape[0], out)
    return _affine(weights, at, x, x.shape[0], out.shape[0], out)


@kernel
def logits(raw, params, out):
    """Write the logits of an encoded position.

    Args:
        raw: int8, shape (size,): the encoding features-v2.
        params: As `pack` makes them.
        out: float32, shape (108,).
    """
    width, mixing = np.int64(params[0]), np.int64(params[1])
    weights = params[_HEAD:].view(np.float32)
    suits, shared = np.empty((4, SUIT_SIZE), np.float32), np.empty(SHARED_SIZE, np.float32)
    h, mean, of_all = np.empty((4, width), np.float32), np.empty(width, np.float32), np.empty(width, np.float32)
    lay_out(raw, suits, shared)
    at = _trunk(weights, suits, shared, mixing, h)
    _suits_mean(h, mean)
    at = _dense(weights, at, mean, of_all)
    _rectify(of_all)
    at = _dense(weights, at, of_all, out[:DISCARD])
    of_planes, cards = np.empty(2 * PLANES, np.float32), np.empty(26, np.float32)
    at = _dense(weights, at, of_all, of_planes)
    for suit in range(4):
        _dense(weights, at, h[suit], cards)
        for plane in range(PLANES):
            for rank in range(13):
                value = suits[suit, 13 * plane + rank]
                cards[rank] += of_planes[plane] * value
                cards[13 + rank] += of_planes[PLANES + plane] * value
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
    }
    for layer in range(mixing):
        found[f"trunk.mix_own.{layer}.weight"] = (width, width)
        found[f"trunk.mix_own.{layer}.bias"] = (width,)
        found[f"trunk.mix_shared.{layer}.weight"] = (width, width)
    for name, n in (("cards", 26), ("hidden", width), ("others", DISCARD), ("planes", 2 * PLANES)):
        found |= {f"{name}.weight": (n, width), f"{name}.bias": (n,)}
    return found


def _check_shapes(tensors: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError unless the tensors are those ``wanted``, of these shapes, and finite."""
    if wanted["trunk.own.bias"] == (0,) or set(tensors) != set(wanted):
        odd = sorted(set(tensors) ^ set(wanted))
        raise ValueError(f"these are not the tensors of a policy: {', '.join(odd[:3])} are missing or too many")
    for name, shape in wanted.items():
        if tensors[name].shape != shape:
            raise ValueError(f"tensor {name} has shape {tensors[name].shape}, not {shape}")
        if not np.isfinite(tensors[name]).all():
            raise ValueError(f"tensor {name} has values that are not finite")


def _check_reach(tensors: Mapping[str, np.ndarray], mixing: int) -> None:
    """Raise ValueError unless float32 holds all that the forward pass computes, whatever the position."""

    def most(x: np.ndarray, *layers: str) -> np.ndarray:
        sums = [np.abs(tensors[f"{name}.weight"]) @ x for name in layers]
        return np.abs(tensors[f"{layers[0]}.bias"]) + np.sum(sums, axis=0)

    with np.errstate(over="ignore", invalid="ignore"):
        own, shared = np.full(SUIT_SIZE, _LARGEST), np.full(SHARED_SIZE, _LARGEST)
        h = most(own, "trunk.own") + np.abs(tensors["trunk.shared.weight"]) @ shared
        for layer in range(mixing):
            h = h + most(h, f"trunk.mix_own.{layer}", f"trunk.mix_shared.{layer}")
        of_all = most(h, "hidden")
        cards = most(h, "cards").max() + _LARGEST * most(of_all, "planes").sum()
        largest = max(4 * h.max(), of_all.max(), most(of_all, "others").max(), cards)
    if largest > np.finfo(np.float32).max:
        raise ValueError("the numbers are so large that a position's logits may overflow")


def _flatten(tensors: Mapping[str, np.ndarray], mixing: int, layers: tuple[str, ...]) -> np.ndarray:
    """Return a trunk's tensors and those of the ``layers`` behind it in the order that kernels read them.

    float64, holding pairs of float32.
    """
    parts = [tensors["trunk.own.bias"], tensors["trunk.shared.weight"].T, tensors["trunk.own.weight"].T]
    for layer in range(mixing):
        parts += [
            tensors[f"trunk.mix_own.{layer}.bias"],
            tensors[f"trunk.mix_shared.{layer}.weight"].T,
            tensors[f"trunk.mix_own.{layer}.weight"].T,
        ]
    for name in layers:
        parts += [tensors[f"{name}.bias"], tensors[f"{name}.weight"].T]
    flat = np.concatenate([np.ascontiguousarray(part, dtype=np.float32).ravel() for part in parts])
    if len(flat) % 2:
        flat = np.append(flat, np.float32(0))
    return flat.view(np.float64)


def pack(tensors: Mapping[str, np.ndarray], temperature: float = 0.0) -> np.ndarray:
    """Return a policy's tensors (`shapes`) as the ``params`` of `choose`: float64, holding pairs of float32.

    Raises:
        ValueError: when a tensor is missing, has another shape, is not finite or is so large that logits may overflow.
    """
    mixing = sum(name.startswith("trunk.mix_shared.") for name in tensors)
    width = tensors["trunk.own.bias"].size if "trunk.own.bias" in tensors else 0
    _check_shapes(tensors, shapes(width, mixing))
    _check_reach(tensors, mixing)
    return np.concatenate(
        [[width, mixing, temperature, 0.0], _flatten(tensors, mixing, ("hidden", "others", "planes", "cards"))]
    )


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
        if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError(f"{path}: its __metadata__ is not an object of strings")
        spans = sorted(entry["data_offsets"] for entry in header.values())
        begins, ends = [0, *(end for _, end in spans)], [*(begin for begin, _ in spans), len(data) - 8 - length]
        if begins[:-1] == ends[:-1] and begins[-1] < ends[-1]:
            raise ValueError(f"{path} has {ends[-1] - begins[-1]} bytes behind its tensors, where it should end")
        if begins != ends:
            raise ValueError("its tensors do not lie one behind the other")
        tensors = {}
        for name, entry in header.items():
            if entry["dtype"] != "F32":
                raise ValueError(f"{path}: tensor {name} is {entry['dtype']}, not float32")
            if min(entry["shape"], default=0) < 0:  # NumPy would fill in a size
                raise ValueError("a negative size")
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin : 8 + length + end]
            tensors[name] = np.frombuffer(raw, "<f4").reshape(entry["shape"])
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not a whole safetensors file") from None
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError(f"{path} is not a whole safetensors file") from None
    return tensors, metadata


def read_policy(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return a policy's tensors (`shapes`) and the metadata of a weights file.

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
