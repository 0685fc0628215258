"""`gin export --onnx OUT`: a policy network as an ONNX file, for other languages and runtimes.

The model takes what any user of the environments has at hand: ``observation``, int8, shape (n, size), the encoding
features-v1 as it is (its layout: docs/encodings.md), and ``action_mask``, int8, shape (n, 108). It gives ``logits``,
float32, shape (n, 108), with -inf for illegal actions: play the largest, or draw by their softmax. Any n will do.
Scaling and layout (`agents.ppo.lay_out`) are part of the model. The file is only written when onnxruntime's answers
agree with those of the native forward pass, and of torch where that is installed, to 1e-5 (of a logit above 1, to
1e-5 of it).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from agents import ppo
from agents.protocol import NativeAgent
from agents.registry import make, split
from experiments.refusal import Refusal, refusing
from ginenv.envs.vector import Tables, random_actions
from ginenv.rules import parse_rules
from ginenv.state import DISCARD, N_ACTIONS

OPSET, IR = 17, 8
"""Versions of ONNX's operators and of its format: old ones, that most runtimes read."""
TOLERANCE = 1e-5
_POSITIONS = 512
_SUITS, _RANKS = 4, 13


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin export`."""
    parser.add_argument("--onnx", required=True, metavar="OUT", help="the file to write")
    parser.add_argument("--agent", default="ppo", metavar="SPEC", help="ppo or ppo:path=FILE (default ppo)")


def run(args: argparse.Namespace) -> int:
    """Write the model, checked."""
    out = Path(args.onnx)
    with refusing():
        tensors, metadata = policy_of(args.agent)
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise Refusal(f"--onnx {out}: give the name of a file in a folder that exists")
    model = onnx_model(tensors, metadata)
    worst = differences(model, tensors, metadata.get("rules", "eaai"))
    if not max(worst.values()) <= TOLERANCE:
        raise Refusal(f"the model differs from the network by {max(worst.values()):.1e} (at most {TOLERANCE} is due)")
    beside = out.with_name(f".{out.name}.new")
    with refusing(OSError, f"--onnx {out} cannot be written"):
        beside.write_bytes(model)
        os.replace(beside, out)
    told = ", ".join(f"{name} {difference:.1e}" for name, difference in worst.items())
    print(f"{out}: {len(model):,} bytes; largest difference on {_POSITIONS} positions: {told}")
    return 0


def policy_of(spec: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return tensors and metadata of the policy network that a spec names.

    Raises:
        ValueError: when it names no agent, or one that is no network of the kind `ppo`.
    """
    agent = make(spec)
    if not (isinstance(agent, NativeAgent) and agent.policy is ppo.choose):
        raise ValueError(f"--agent {spec}: only networks can be exported: ppo, or ppo:path=FILE")
    options = dict(part.split("=", 1) for part in split(agent.spec)[1].split(","))
    return ppo.read_policy(Path(options["path"]) if options["path"] else ppo.SHIPPED)


class _Graph:
    """Nodes and constants of a model in the making; each call returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Any) -> str:
        """Add a constant; its dtype is the array's."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def add(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add an operator."""
        name = name or f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def part(self, x: str, axis: int, start: int, stop: int) -> str:
        """Add a slice of one axis."""
        return self.add("Slice", x, *(self.constant(np.array([v], dtype=np.int64)) for v in (start, stop, axis)))

    def times(self, x: str, factor: Any) -> str:
        """Add a product with constants."""
        return self.add("Mul", x, self.constant(np.asarray(factor, dtype=np.float32)))

    def shaped(self, x: str, *shape: int) -> str:
        """Add a reshape; 0 keeps an axis."""
        return self.add("Reshape", x, self.constant(np.array(shape, dtype=np.int64)))

    def affine(self, x: str, tensors: Mapping[str, np.ndarray], name: str) -> str:
        """Add a linear layer, with or without a bias."""
        product = self.add("MatMul", x, self.constant(tensors[f"{name}.weight"].T))
        bias = tensors.get(f"{name}.bias")
        return product if bias is None else self.add("Add", product, self.constant(bias))


def _lay_out(g: _Graph) -> tuple[str, str]:
    """Add what `agents.ppo.lay_out` does; returns the suits, shape (n, 4, …), and what they share, (n, 1, …)."""
    e, scale = ppo.ENCODING, ppo.SCALE
    block, hand, without = e.suit_size, e["hand"].start, e["deadwood_without"].start
    taking = e["least_taking"].start
    x = g.add("Cast", "observation", to=TensorProto.FLOAT)
    raw = g.shaped(g.part(x, 1, 0, _SUITS * block), 0, _SUITS, block)
    rest = g.shaped(x, 0, 1, e.size)
    least = g.part(rest, 2, e["least"].start, e["least"].start + 1)
    scaled = g.times(raw, scale[:block])
    held = g.part(raw, 2, hand, hand + _RANKS)
    more = g.add("Sub", g.part(raw, 2, without, without + _RANKS), least)
    best = g.add("Cast", g.add("Equal", more, g.constant(np.float32(0))), to=TensorProto.FLOAT)
    suits = g.add(
        "Concat", g.part(scaled, 2, 0, without), g.times(g.add("Mul", held, more), 0.1),
        g.part(scaled, 2, without + _RANKS, block), g.add("Mul", held, best), axis=2,
    )  # fmt: skip
    behind = g.times(rest, scale)
    less = g.times(g.add("Sub", g.part(rest, 2, taking, taking + 1), least), 0.1)
    leasts = g.add("LessOrEqual", least, g.constant(np.arange(ppo.LEASTS, dtype=np.float32)))
    turn = g.part(rest, 2, e["own_turn"].start, e["own_turn"].start + 1)
    turns = g.add("Greater", turn, g.constant(np.arange(ppo.TURNS, dtype=np.float32)))
    shared = g.add(
        "Concat", g.add("ReduceMean", suits, axes=[1], keepdims=1), g.part(behind, 2, _SUITS * block, taking), less,
        g.part(behind, 2, taking + 1, e.size), g.add("Cast", leasts, to=TensorProto.FLOAT),
        g.add("Cast", turns, to=TensorProto.FLOAT), axis=2,
    )  # fmt: skip
    return suits, shared


def onnx_model(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """Return a policy's tensors (`agents.ppo.shapes`) as an ONNX model, with ``metadata`` in it."""
    g = _Graph()
    suits, shared = _lay_out(g)
    h = g.add("Relu", g.add("Add", g.affine(suits, tensors, "trunk.own"), g.affine(shared, tensors, "trunk.shared")))
    for layer in range(sum(name.startswith("trunk.mix_shared.") for name in tensors)):
        mean = g.add("ReduceMean", h, axes=[1], keepdims=1)
        own = g.affine(h, tensors, f"trunk.mix_own.{layer}")
        added = g.add("Add", own, g.affine(mean, tensors, f"trunk.mix_shared.{layer}"))
        h = g.add("Add", h, g.add("Relu", added))
    mean = g.add("ReduceMean", h, axes=[1], keepdims=0)
    position = g.add("Relu", g.affine(mean, tensors, "hidden"))
    others = g.affine(position, tensors, "others")
    # From (suit, kind, rank) to the order of the action ids: kind, suit, rank.
    cards = g.add("Transpose", g.shaped(g.affine(h, tensors, "cards"), 0, _SUITS, 2, _RANKS), perm=[0, 2, 1, 3])
    # What each value of a card counts here, times the values.
    values = g.add("Transpose", g.shaped(suits, 0, _SUITS, ppo.PLANES, _RANKS), perm=[0, 2, 1, 3])
    counts = g.shaped(g.affine(position, tensors, "planes"), 0, 2, ppo.PLANES)
    by_planes = g.add("MatMul", counts, g.shaped(values, 0, ppo.PLANES, _SUITS * _RANKS))
    cards = g.add("Add", cards, g.shaped(by_planes, 0, 2, _SUITS, _RANKS))
    every = g.add("Concat", others, g.shaped(cards, 0, N_ACTIONS - DISCARD), axis=1)
    legal = g.add("Cast", "action_mask", to=TensorProto.BOOL)
    g.add("Where", legal, every, g.constant(np.float32(-np.inf)), name="logits")
    graph = helper.make_graph(
        g.nodes, "ginenv policy",
        [helper.make_tensor_value_info("observation", TensorProto.INT8, ["n", ppo.ENCODING.size]),
         helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["n", N_ACTIONS])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", N_ACTIONS])],
        g.constants,
    )  # fmt: skip
    model = helper.make_model(
        graph, producer_name="ginenv", ir_version=IR, opset_imports=[helper.make_opsetid("", OPSET)]
    )
    helper.set_model_props(model, {"encoding": ppo.ENCODING.name, **metadata})
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def differences(model: bytes, tensors: Mapping[str, np.ndarray], rules: str) -> dict[str, float]:
    """Return by how much the model differs from each forward pass, on positions of random play under ``rules``.

    A difference is told in units of the position's largest legal logit where that is above 1: float32 has seven digits,
    and terms as large as that one cancel in the smaller logits.
    """
    tables = Tables(_POSITIONS, parse_rules(rules), 1, "hand", ppo.ENCODING.name)
    actions = np.zeros(_POSITIONS, dtype=np.int64)
    native = np.zeros((_POSITIONS, N_ACTIONS), dtype=np.float32)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    params = ppo.pack(tensors)
    worst: dict[str, float] = {}
    for move in range(12):
        legal = tables.action_masks == 1
        seen = {"observation": tables.observations, "action_mask": tables.action_masks}
        found = session.run(["logits"], seen)[0]
        for raw, row in zip(tables.observations, native, strict=True):
            ppo.logits(raw, params, row)
        others = {"native": native}
        if importlib.util.find_spec("torch") is not None:
            from agents.network import forward

            others["torch"] = forward(tensors, tables.observations)
        for name, wanted in others.items():
            off = np.abs(np.where(legal, found - wanted, 0)).max(axis=1)
            largest = np.abs(np.where(legal, wanted, 0)).max(axis=1)
            worst[name] = max(worst.get(name, 0.0), float((off / np.maximum(1, largest)).max()))
        random_actions(tables.views, move, actions)
        tables.step(actions)
    return worst
