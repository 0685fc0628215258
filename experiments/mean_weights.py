"""`python -m experiments.mean_weights SHARE=FILE … --out FILE`: one policy from several, by the mean of their weights.

For policies that were learned from the same beginning on, each after something else: between these the mean often plays
nearly as well as each does at its own (model soups: Wortsman et al., arXiv 2203.05482 and 2109.01903). The files are
those that `gin train ppo` and `gin exploit` leave (`last.safetensors`); shares add up to 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError

from agents import ppo
from experiments import training
from experiments.refusal import Refusal, refusing


def parse(part: str) -> tuple[float, Path]:
    """Return the share and the file that ``SHARE=FILE`` names. Raises Refusal when it is none."""
    share, _, name = part.partition("=")
    try:
        number = float(share)
    except ValueError:
        number = 0.0
    if not (0 < number <= 1 and name):
        raise Refusal(f"{part!r}: give a share above 0 and up to 1, and a weights file: 0.7=runs/mine/last.safetensors")
    return number, Path(name)


def mean(parts: Sequence[tuple[float, Path]], out: Path) -> None:
    """Write the mean of policies' weights, with what it is made of in its metadata (``notes``).

    Args:
        parts: Shares and weights files. Settings and rules in the metadata are those of the first one.
        out: The file to write.

    Raises:
        Refusal: when the shares do not add up to 1, a file is no policy, or they differ in size or rules.
    """
    total = sum(share for share, _ in parts)
    if abs(total - 1) > 1e-9:
        raise Refusal(f"the shares add up to {total:g}: they must to 1")
    if out.is_dir():
        raise Refusal(f"--out {out} is a folder: give a file")
    sums: dict[str, np.ndarray] = {}
    metadata: dict[str, str] = {}
    notes = []
    for share, path in parts:
        with refusing():
            tensors, own = ppo.read_policy(path)
        with refusing(about=f"{path}: its notes are no JSON"):
            learned = json.loads(own.get("notes", "{}"))
        metadata = metadata or own
        if own.get("rules") != metadata.get("rules"):
            raise Refusal(
                f"{path} learned {own.get('rules')}, and {parts[0][1]} {metadata.get('rules')}: give files of one game"
            )
        sums = sums or {name: np.zeros(tensor.shape) for name, tensor in tensors.items()}
        if {name: tensor.shape for name, tensor in tensors.items()} != {name: s.shape for name, s in sums.items()}:
            raise Refusal(f"{path} holds a network of another size than {parts[0][1]}: give files of one --width")
        for name, tensor in tensors.items():
            sums[name] += share * tensor.astype(np.float64)
        notes.append({"share": share, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                      "notes": learned})  # fmt: skip
    metadata = metadata | {"notes": json.dumps({"mean of": notes})}
    try:
        training.write({name: tensor.astype(np.float32) for name, tensor in sums.items()}, out, metadata)
    except (OSError, SafetensorError) as error:
        raise Refusal(f"--out {out} cannot be written: {error}") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Write the mean, and say how to play it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", metavar="SHARE=FILE", help="a share of the mean, and a weights file")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="weights file to write")
    args = parser.parse_args(argv)
    try:
        mean([parse(part) for part in args.parts], args.out)
    except Refusal as refusal:
        sys.exit(f"gin: {refusal}")
    print(f"play it with ppo:path={args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
