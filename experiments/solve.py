"""`gin solve`: one hand of a small deck solved exactly, and how far agents are from unbeatable.

CFR+ (Tammelin, arXiv 1407.5042) on the public tree (`experiments.public_tree`) comes the nearer to an equilibrium the
more iterations it has. The *exploitability* of a policy is what its worst enemy, who knows it, wins against it on
average: points a hand, the mean of both seats. An equilibrium has 0; here it is computed exactly, without sampling.
Agents are named by spec; a network's own chances are `ppo:path=FILE,temperature=1`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np

from agents.registry import make
from experiments.exact_reach import Chances, any_legal, chances_of, reach_of
from experiments.public_tree import Deck, Part, Reach, Strategy, Tree, best
from experiments.refusal import Refusal, refusing
from experiments.whole_file import write_whole
from ginenv.envs.opponent import AgentError
from ginenv.rules import Rules, parse_rules, refuse_more_actions

MINI = "eaai,ranks=5,suits=2,cards_dealt=3,turn_limit=3,dead_stock=1,knock_limit=6,gin_bonus=10,undercut_bonus=10"
"""A game that is solved in a minute: runs, but with two suits no sets; each seat may have two turns."""


LARGEST_TABLE = 25_000_000
"""Knocks and hands to knock against, above which a table of what they are worth would not fit in memory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin solve`."""
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="agents to measure (`random` is always)")
    parser.add_argument("--rules", default=MINI, help=f"a small deck: preset,key=value,… (default {MINI})")
    parser.add_argument("--iterations", type=int, default=200, help="of CFR+ (default 200; 0: none)")
    parser.add_argument("--out", metavar="FILE", help="write what was found there as JSON, with the curve of CFR+")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    """Solve, measure and print."""
    if not 0 <= args.iterations <= 1_000_000:
        raise Refusal(f"--iterations {args.iterations}: a number from 0 to 1,000,000 is due")
    with refusing():
        rules = parse_rules(args.rules)
        agents = [make(spec) for spec in args.agents]
        game = Game(rules)
    found: dict[str, object] = {"command": ["gin", *args.argv], "rules": rules.as_dict(), "choices": game.size}
    say = (lambda text: None) if args.json else print
    say(f"{len(game.deck.hands):,} hands, {len(game.trees)} first upcards, {game.size:,} choices of hand and action")
    measured = {"random": exploitability(game, any_legal)}
    if args.iterations:
        curve, began = [], time.monotonic()
        for step in solve(game, args.iterations):
            curve.append({"iteration": step.iteration, "seconds": round(time.monotonic() - began, 1),
                          "exploitability": step.exploitability})  # fmt: skip
            say(f"CFR+ {step.iteration:>6} iterations {curve[-1]['seconds']:>8.1f} s   {step.exploitability:.6f}")
            value = step.value
        found["curve"] = curve
        found["value"] = value
        measured["cfr+"] = step.exploitability
        say(f"worth to the non-dealer: {value:+.4f} points a hand")
    for agent in agents:
        with refusing(), refusing(AgentError):
            measured[agent.spec] = exploitability(game, chances_of(agent, rules))
    found["exploitability"] = measured
    say("\nexploitability, points a hand, and as a share of random's")
    for name, points in measured.items():
        say(f"{points:>12.6f} {100 * points / measured['random']:>8.2f} %  {name}")
    if args.out:
        write_whole(Path(args.out), json.dumps(found, indent=1) + "\n")
    if args.json:
        print(json.dumps(found))
    return 0


class Game:
    """A hand under rules, from every first upcard.

    Attributes:
        trees: One for each first upcard; where suits are alike, for the solution the first suit's will do.
        alike: How many first upcards each of these stands for in a solution; 0 for those that others stand for.
    """

    def __init__(self, rules: Rules) -> None:
        if rules.players != 2:
            raise ValueError(f"a game of two is solved: the rules want {rules.players} players")
        refuse_more_actions(rules, "the solver")
        if rules.reshuffles != 0:
            raise ValueError("the solver's stock is never made anew (H12): take reshuffles=0")
        cards, k = rules.ranks * rules.suits, rules.cards_dealt
        if comb(cards, k + 1) * (k + 1) * comb(cards, k) > LARGEST_TABLE:
            raise ValueError(
                f"hands of {k} from a deck of {rules.ranks} × {rules.suits} cards are too many to solve exactly: take "
                f"fewer ranks, suits or cards_dealt, such as {MINI}"
            )
        self.deck = Deck(rules)
        self.trees = [Tree(self.deck, card) for card in range(len(self.deck.cards))]
        self.size = sum(tree.size for tree in self.trees)
        first, same = (rules.ranks, rules.suits) if not rules.spades_double else (len(self.trees), 1)
        self.alike = [same if card < first else 0 for card in range(len(self.trees))]


def best_values(tree: Tree, reaches: list[Reach]) -> list[float]:
    """Return what a best response to each seat's reach wins in the other seat under this upcard."""
    return [float(tree.dealt @ tree.values(1 - r.seat, r, best)) for r in reaches]


def exploitability(game: Game, chances: Chances, symmetric: bool = False) -> float:
    """Return a policy's exploitability: points a hand, the mean over first upcards and both seats.

    Args:
        game: The game.
        chances: The policy.
        symmetric: It plays alike whichever suits the cards are of, as networks of the kind `ppo` do: then one first
            upcard will do for those that are alike.
    """
    found = 0.0
    for tree, alike in zip(game.trees, game.alike if symmetric else [1] * len(game.trees), strict=True):
        if alike:
            reaches = [reach_of(tree, seat, chances) for seat in (0, 1)]
            found += alike * float(np.mean(best_values(tree, reaches)))
    return found / len(game.trees)


# --- CFR+ ------------------------------------------------------------------------------------------


class Solver:
    """CFR+ on one tree: regrets that never fall below 0, seats in turn, later strategies weighing more."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.regrets = {part: np.zeros(part.shape, dtype=np.float32) for part in tree.parts()}
        self.sums = {part: np.zeros(part.shape, dtype=np.float32) for part in tree.parts()}
        self.now = {part: _shares(self.regrets[part], part) for part in tree.parts()}
        self.reaches = [tree.reach(seat, self.now) for seat in (0, 1)]
        self.iteration = 0

    def step(self) -> None:
        """Do one iteration."""
        self.iteration += 1
        for seat in (0, 1):
            self.tree.values(seat, self.reaches[1 - seat], self._improve)
            reach = self.reaches[seat] = self.tree.reach(seat, self.now)
            for part in self.tree.parts(seat):
                self.sums[part] += self.iteration * reach.at[part][:, :, None] * self.now[part]

    def _improve(self, part: Part, values: np.ndarray) -> np.ndarray:
        """Add to the regrets, and choose anew; returns what the strategy was worth before."""
        now, regrets = self.now[part], self.regrets[part]
        worth = (now * values).sum(2)
        regrets += values - worth[:, :, None]
        np.maximum(regrets, 0, out=regrets)
        regrets *= part.legal
        self.now[part] = _shares(regrets, part)
        return worth

    def average(self) -> Strategy:
        """Return the mean of the strategies so far: what comes near an equilibrium."""
        return {part: _shares(weights, part) for part, weights in self.sums.items()}


def _shares(weights: np.ndarray, part: Part) -> np.ndarray:
    """Return weights as chances; legal actions get the same chance where all weigh nothing."""
    total = weights.sum(2, keepdims=True)
    fair = part.legal / np.maximum(part.legal.sum(2, keepdims=True), 1)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), fair)


@dataclass(frozen=True)
class Progress:
    """How far a solution is."""

    iteration: int
    exploitability: float
    value: float
    """What the average strategies win against each other, to the non-dealer, in points a hand."""


def solve(game: Game, iterations: int, keep: Callable[[Tree, Strategy], None] | None = None) -> Iterator[Progress]:
    """Solve a game by CFR+; yields after 1, 2, 4, … iterations and at the end.

    Args:
        game: The game. First upcards that are alike are solved once.
        iterations: How many.
        keep: Called at the end with each tree that was solved and its strategy.
    """
    stands = [(tree, alike) for tree, alike in zip(game.trees, game.alike, strict=True) if alike]
    solvers = [Solver(tree) for tree, _ in stands]
    for iteration in range(1, iterations + 1):
        for solver in solvers:
            solver.step()
        if iteration & (iteration - 1) and iteration != iterations:
            continue
        lost, value = 0.0, 0.0
        for solver, (tree, alike) in zip(solvers, stands, strict=True):
            average = solver.average()
            reaches = [tree.reach(seat, average) for seat in (0, 1)]
            lost += alike * float(np.mean(best_values(tree, reaches)))
            value += alike * float(tree.dealt @ tree.values(0, reaches[1], _playing(average)))
            if keep is not None and iteration == iterations:
                keep(tree, average)
        yield Progress(iteration, lost / len(game.trees), value / len(game.trees))


def _playing(strategy: Strategy) -> Callable[[Part, np.ndarray], np.ndarray]:
    """Return what values decisions by a strategy."""
    return lambda part, values: (strategy[part] * values).sum(2)
