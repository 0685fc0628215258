"""The mean of several policies: its numbers, what it says of itself, and what is refused."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from agents import ppo
from agents.registry import make
from tests.test_ppo import GOOD, safetensors, weights

pytest.importorskip("torch")
from experiments.mean_weights import main

pytestmark = pytest.mark.train


def files(tmp_path, *metadata, width=8, mixing=2):
    tmp_path.mkdir(exist_ok=True)
    paths = []
    for seed, own in enumerate(metadata):
        paths.append(tmp_path / f"{seed}.safetensors")
        paths[-1].write_bytes(safetensors(weights(width, mixing, seed), {**GOOD, "rules": "eaai", **own}))
    return paths


def test_it_is_the_mean_of_each_weight_and_tells_of_what(tmp_path):
    a, b = files(tmp_path, {"notes": '{"decisions": 5}', "settings": '{"width": 8}'}, {})
    out = tmp_path / "mean.safetensors"
    assert main([f"0.75={a}", f"0.25={b}", "--out", str(out)]) == 0
    tensors, metadata = ppo.read_policy(out)
    for name, tensor in tensors.items():
        wanted = 0.75 * weights(seed=0)[name].astype(float) + 0.25 * weights(seed=1)[name]
        assert np.array_equal(tensor, wanted.astype(np.float32))
    made_of = json.loads(metadata["notes"])["mean of"]
    assert [part["share"] for part in made_of] == [0.75, 0.25] and made_of[0]["notes"] == {"decisions": 5}
    assert made_of[1]["sha256"] == hashlib.sha256(b.read_bytes()).hexdigest()
    assert metadata["settings"] == '{"width": 8}'
    make(f"ppo:path={out}")


def test_what_has_no_mean_is_refused_with_one_sentence(tmp_path):
    a, b = files(tmp_path, {}, {"rules": "modern"})
    (wide,), (flat,) = files(tmp_path / "wide", {}, width=16), files(tmp_path / "flat", {}, mixing=1)
    out = tmp_path / "mean.safetensors"
    for parts, text in (
        ([f"0.5={a}", f"0.4={a}"], "add up to 0.9: they must to 1"),
        ([f"nan={a}"], "give a share above 0"),
        ([f"-1={a}", f"2={a}"], "'-1=.*give a share above 0"),
        ([str(a)], "and a weights file: 0.7=runs"),
        (["1="], "and a weights file"),
        ([f"1={tmp_path}/none"], "none cannot be read"),
        ([f"0.5={a}", f"0.5={b}"], "learned modern, and .* eaai: give files of one game"),
        ([f"0.5={a}", f"0.5={wide}"], "network of another size"),
        ([f"0.5={a}", f"0.5={flat}"], "network of another size"),
    ):
        with pytest.raises(SystemExit, match=text):
            main(["--out", str(out), "--", *parts])
    with pytest.raises(SystemExit, match="cannot be written"):
        main([f"1={a}", "--out", str(tmp_path / "nowhere" / "mean.safetensors")])
    with pytest.raises(SystemExit, match="is a folder: give a file"):
        main([f"1={a}", "--out", str(tmp_path)])
    (odd,) = files(tmp_path, {"notes": "odd"})
    with pytest.raises(SystemExit, match="its notes are no JSON"):
        main([f"1={odd}", "--out", str(out)])
    assert not out.exists()
