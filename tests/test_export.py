"""`gin export`: the ONNX model answers as the network does, in all ways to compute it, for any number of positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents import ppo
from experiments.cli import main
from ginenv.envs.vector import Tables, random_actions

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.train

from experiments.export import differences, onnx_model  # noqa: E402


def some_policy(width: int, mixing: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(width)
    return {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in ppo.shapes(width, mixing).items()}


@pytest.mark.parametrize(("width", "mixing"), [(12, 0), (64, 3)])
@pytest.mark.parametrize("rules", ["eaai", "oklahoma", "eaai,ranks=5,suits=2,cards_dealt=3"])
def test_every_way_to_compute_a_policy_gives_the_same(width: int, mixing: int, rules: str):
    pytest.importorskip("torch")
    tensors = some_policy(width, mixing)
    worst = differences(onnx_model(tensors, {}), tensors, rules)
    assert set(worst) == {"native", "torch"}
    assert max(worst.values()) < 1e-5


def test_the_shipped_network_as_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "ppo.onnx"
    assert main(["export", "--onnx", str(out)]) == 0
    assert "largest difference on 512 positions: native" in capsys.readouterr().out
    session = runtime.InferenceSession(str(out), providers=["CPUExecutionProvider"])
    assert session.get_modelmeta().custom_metadata_map["encoding"] == "features-v2"
    tables = Tables(7, "eaai", 3, "hand", "features-v2")
    actions = np.zeros(7, dtype=np.int64)
    for move in range(5):
        random_actions(tables.views, move, actions)
        tables.step(actions)
    whole = session.run(["logits"], {"observation": tables.observations, "action_mask": tables.action_masks})[0]
    assert whole.shape == (7, 108) and whole.dtype == np.float32
    assert np.array_equal(np.isfinite(whole), tables.action_masks == 1)
    one = {"observation": tables.observations[:1], "action_mask": tables.action_masks[:1]}
    assert np.allclose(session.run(["logits"], one)[0][0, tables.action_masks[0] == 1],
                       whole[0, tables.action_masks[0] == 1], atol=1e-5)  # fmt: skip
    # The agent's own choices.
    from agents.registry import make

    chosen = make("ppo").act(tables.views, tables.rules, np.zeros(7, dtype=np.int64))
    assert np.array_equal(whole.argmax(1), chosen)
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("export", "--onnx"),
        ("export --onnx OUT --agent simple", "only networks can be exported"),
        ("export --onnx OUT --agent ppo:path=/no/such/file", "/no/such/file cannot be read"),
        ("export --onnx OUT --agent ppo:path=pyproject.toml", "is not a whole safetensors file"),
        ("export --onnx /no/such/folder/x.onnx", "a file in a folder that exists"),
        ("export --onnx .", "a file in a folder that exists"),
    ],
)
def test_wrong_input_is_one_sentence(line: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(line.replace("OUT", str(tmp_path / "x.onnx")).split()) == 2
    out, errors = capsys.readouterr()
    assert out == "" and words in errors and errors.count("gin: ") == 1
    assert not list(tmp_path.iterdir())
