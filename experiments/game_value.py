"""The table of the chance to win a game (`agents.game_value`): its packed counts, and whether it comes true.

python -m experiments.game_value --write            # measure the presets' counts again
python -m experiments.game_value simple simple      # what the table says in games, and what came of it
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

from agents.game_value import PACKED, among_equals, count_hands, game_table, solve
from agents.protocol import NativeAgent
from agents.registry import make, native
from experiments.match import A, play_pairs
from experiments.refusal import Refusal, refusing
from experiments.stats import Interval, ratio
from experiments.whole_file import write_whole
from ginenv.rules import PRESETS, Rules, rules_for_two

EDGES = np.linspace(0, 1, 11)
"""Of the classes of estimates."""
_PACKED_HANDS = 200_000


def write_packed() -> None:
    """Measure `heuristic` against itself under each preset, and write the counts."""
    player, found = native("heuristic"), {}
    for name, rules in PRESETS.items():
        if rules.target is not None and rules.for_two and not rules.hollywood:
            counts = among_equals(count_hands(player, player, rules, 1, _PACKED_HANDS))
            found[name] = {"agent": player.spec, "hands": _PACKED_HANDS, "seed": 1, "counts": counts.tolist()}
            print(f"{name}: {counts.sum() // 2:,} hands with a winner", file=sys.stderr)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in found.items())
    write_whole(PACKED, "{\n" + rows + "\n}\n")


def predictions(
    a: NativeAgent, b: NativeAgent, rules: Rules, table: np.ndarray, seed: int, pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Play games and return, for each hand begun, the pair's number, what ``table`` says for A, and whether A won."""
    games, hands = play_pairs(a, b, rules, seed, 0, pairs, keep_hands=True)
    found = []
    at = 0
    for game in games.reshape(-1):
        own = other = 0
        for hand in hands[at : at + int(game["hands"])]:
            dealer = 1 - int(hand["starter"])
            found.append((int(game["pair"]), float(table[dealer, own, other]), float(game["winner"] == A)))
            if hand["winner"] == A:
                own += int(hand["points"])
            else:
                other += int(hand["points"])
        at += int(game["hands"])
    pair, said, won = np.array(found).T
    return pair.astype(np.int64), said, won


def classes(pair: np.ndarray, said: np.ndarray, won: np.ndarray) -> list[tuple[float, Interval, int]]:
    """Return by class of the estimate: its mean, the share that came true (clustered by pair), and how many."""
    found = []
    place = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
    for k in range(len(EDGES) - 1):
        inside = place == k
        if inside.any():
            wins = np.bincount(pair[inside], won[inside], minlength=int(pair.max()) + 1)
            counts = np.bincount(pair[inside], minlength=int(pair.max()) + 1)
            found.append((float(said[inside].mean()), ratio(wins, counts), int(inside.sum())))
    return found


def run(argv: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="two native agents, whose hands make the table")
    parser.add_argument("--write", action="store_true", help="measure the presets' counts again, and write them")
    parser.add_argument("--rules", default="eaai", help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--games", type=int, default=20_000, help="games to play, even (default 20000)")
    parser.add_argument("--seed", type=int, default=1, help="seed (default 1)")
    args = parser.parse_args(argv)
    if args.write:
        write_packed()
    if not args.agents:
        return
    if len(args.agents) != 2:
        raise Refusal("two agents are due")
    with refusing():
        rules = rules_for_two(args.rules)
        a, b = (native(spec) for spec in args.agents)
        if a.spec == b.spec == make("heuristic").spec:
            table = game_table(rules)
        else:
            counts = count_hands(a, b, rules, args.seed + 1, 100_000)
            table = solve(counts, rules.target or 0, rules.next_dealer)
    print(f"{a.spec} against {b.spec}, {rules.name}: at 0 to 0 {100 * table[:, 0, 0].mean():.1f} %")
    print(f"{'said':>8}{'came true':>20}{'hands':>12}")
    for said, true, n in classes(*predictions(a, b, rules, table, args.seed, args.games // 2)):
        print(f"{100 * said:>6.1f} %{100 * true.value:>11.1f} ± {100 * true.half:<4.1f} %{n:>12,}")


if __name__ == "__main__":
    try:
        run()
    except Refusal as refusal:
        sys.exit(f"gin: {refusal}")
