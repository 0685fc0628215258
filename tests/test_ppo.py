"""The agent `ppo` without torch: its weights file, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agents import ppo
from agents.protocol import NativeAgent
from agents.registry import make
from ginenv.envs.vector import Tables, random_actions
from ginenv.rules import PRESETS


def weights(width: int = 8, mixing: int = 2, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.2, shape).astype(np.float32) for name, shape in ppo.shapes(width, mixing).items()}


def safetensors(tensors: dict[str, np.ndarray], metadata: object, kind: str = "F32") -> bytes:
    """Return a safetensors file, written by hand."""
    header: dict[str, object] = {"__metadata__": metadata}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(tensor.tobytes() for tensor in tensors.values())


GOOD = {"format": ppo.FORMAT, "encoding": "features-v2"}


def positions(n: int = 64, moves: int = 9) -> Tables:
    tables = Tables(n, "eaai", 5, "hand", "features-v2")
    actions = np.zeros(n, dtype=np.int64)
    for move in range(moves):
        random_actions(tables.views, move, actions)
        tables.step(actions)
    return tables


def naive_logits(t: dict[str, np.ndarray], raw: np.ndarray, mixing: int) -> np.ndarray:
    """Return the logits of one position by the networks' formulas, in float64."""
    e, seen = ppo.ENCODING, raw.astype(np.int64)
    least, turn = e["least"].of(seen), e["own_turn"].of(seen)
    more = e["hand"].of(seen) * (e["deadwood_without"].of(seen) - least)
    x = raw * ppo.SCALE.astype(np.float64)
    x[e["deadwood_without"].index] = more / 10
    x[e["least_taking"].index] = (e["least_taking"].of(seen) - least) / 10
    best = e["hand"].of(seen) * (more == 0)
    suits = np.concatenate([x[: 4 * e.suit_size].reshape(4, -1), best], 1)
    thermometers = np.concatenate([least <= np.arange(13), turn > np.arange(16)])
    shared = np.concatenate([suits.mean(0), x[4 * e.suit_size :], thermometers])
    h = suits @ t["trunk.own.weight"].T + t["trunk.own.bias"] + t["trunk.shared.weight"] @ shared
    h = np.maximum(h, 0)
    for k in range(mixing):
        own = h @ t[f"trunk.mix_own.{k}.weight"].T + t[f"trunk.mix_own.{k}.bias"]
        h = h + np.maximum(own + t[f"trunk.mix_shared.{k}.weight"] @ h.mean(0), 0)
    hidden = np.maximum(t["hidden.weight"] @ h.mean(0) + t["hidden.bias"], 0)
    others = t["others.weight"] @ hidden + t["others.bias"]
    cards = h @ t["cards.weight"].T + t["cards.bias"]
    of_planes = (t["planes.weight"] @ hidden + t["planes.bias"]).reshape(2, -1)
    cards += np.einsum("kp,spr->skr", of_planes, suits.reshape(4, -1, 13)).reshape(4, 26)
    return np.concatenate([others, cards[:, :13].ravel(), cards[:, 13:].ravel()])


@pytest.mark.parametrize(("width", "mixing"), [(8, 2), (5, 0), (16, 3)])
def test_the_kernel_computes_the_network(width, mixing):
    tensors = weights(width, mixing)
    params = ppo.pack(tensors)
    out = np.zeros(108, dtype=np.float32)
    for raw in positions(16).observations:
        ppo.logits(raw, params, out)
        wanted = naive_logits(tensors, raw, mixing)
        assert np.abs(out - wanted).max() < 1e-5 * max(1, np.abs(wanted).max())


def test_it_plays_the_likeliest_legal_action():
    tensors, tables = weights(), positions()
    agent = ppo.native("ppo", tensors)
    chosen = agent.act(tables.views, tables.rules, np.arange(tables.n))
    for raw, mask, action in zip(tables.observations, tables.action_masks, chosen, strict=True):
        values = np.where(mask == 1, naive_logits(tensors, raw, 2), -np.inf)
        assert values[action] >= values.max() - 1e-5


def test_with_a_temperature_it_draws_by_the_probabilities():
    tensors, tables = weights(), positions(1)
    agent = ppo.native("ppo", tensors, temperature=2.0)
    views = np.repeat(tables.views, 20_000)
    counts = np.bincount(agent.act(views, tables.rules, np.arange(20_000)), minlength=108)
    values = np.where(tables.action_masks[0] == 1, naive_logits(tensors, tables.observations[0], 2) / 2.0, -np.inf)
    wanted = np.exp(values - values.max())
    wanted /= wanted.sum()
    assert np.abs(counts / 20_000 - wanted).max() < 0.02
    assert not counts[tables.action_masks[0] == 0].any()


def test_permuting_the_suits_permutes_the_logits_of_the_cards():
    tensors = weights(16, 2)
    params = ppo.pack(tensors)
    order = [2, 0, 3, 1]
    one, other = np.zeros(108, dtype=np.float32), np.zeros(108, dtype=np.float32)
    for raw in positions(8).observations:
        permuted = raw.copy()
        n = 4 * ppo.ENCODING.suit_size
        permuted[:n] = raw[:n].reshape(4, -1)[order].ravel()
        ppo.logits(raw, params, one)
        ppo.logits(permuted, params, other)
        assert np.allclose(one[:4], other[:4], atol=1e-5)
        assert np.allclose(one[4:].reshape(2, 4, 13)[:, order], other[4:].reshape(2, 4, 13), atol=1e-5)


def test_a_weights_file_makes_an_agent(tmp_path):
    path = tmp_path / "mine.safetensors"
    path.write_bytes(safetensors(weights(), GOOD))
    agent = make(f"ppo:path={path}")
    assert isinstance(agent, NativeAgent)
    assert np.array_equal(agent.params, ppo.pack(weights()), equal_nan=True)
    assert make(agent.spec).spec == agent.spec


def test_the_shipped_weights_are_small_and_say_what_they_are():
    assert ppo.SHIPPED.stat().st_size <= 8_000_000
    _, metadata = ppo.read_policy(ppo.SHIPPED)
    assert json.loads(metadata["settings"])["decisions"] > 0
    assert metadata["rules"].split(",")[0] in PRESETS


@pytest.mark.parametrize(("content", "sentence"), [
    (b"", "is not a whole safetensors file"),
    (b"\x80\x04\x95not a pickle either", "is not a whole safetensors file"),
    (safetensors(weights(), GOOD)[:-4], "is not a whole safetensors file"),
    (safetensors(weights(), GOOD).replace(b'"shape": [26]', b'"shape": [-1]'), "is not a whole safetensors file"),
    ((200_000).to_bytes(8, "little") + b"[" * 200_000, "is not a whole safetensors file"),
    (safetensors(weights(), GOOD) + b"more", "has 4 bytes behind its tensors, where it should end"),
    (safetensors(weights(), ["odd"]), "its __metadata__ is not an object of strings"),
    (safetensors(weights(), GOOD | {"settings": 1}), "its __metadata__ is not an object of strings"),
    (safetensors(weights() | {"hidden.weight": np.full((8, 8), 3e38, np.float32)}, GOOD), "so large that a position's"),
    (safetensors(weights(), GOOD, "F64"), "is F64, not float32"),
    (safetensors(weights(), {}), "has format 'none'"),
    (safetensors(weights(), GOOD | {"format": "ginenv-policy-1"}), "has format 'ginenv-policy-1'"),
    (safetensors(weights(), GOOD | {"encoding": "planes-v1"}), "has encoding 'planes-v1': this agent reads 'features"),
    (safetensors({"x": np.zeros(3, np.float32)}, GOOD), "are not the tensors of a policy"),
    (safetensors(weights() | {"cards.bias": np.zeros(25, np.float32)}, GOOD), "cards.bias has shape (25,), not (26,)"),
    (safetensors(weights() | {"cards.bias": np.full(26, np.nan, np.float32)}, GOOD), "that are not finite"),
])  # fmt: skip
def test_another_file_is_refused_with_one_sentence(content, sentence, tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        make(f"ppo:path={path}")
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"agent: ppo: {path}")
    assert "\n" not in str(caught.value)


def test_no_file_is_refused_too(tmp_path):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        make(f"ppo:path={tmp_path / 'nowhere'}")
