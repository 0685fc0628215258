"""`gin knock metagame`: knock rules against each other: which mixture of them nobody beats.

Twenty n:e:l rules on each of two base policies play each other in games on mirrored deals; the mixture that no rule
beats (the Nash equilibrium of this matrix) is found by a linear programme, with intervals from resampling the decks.

A smaller family (knock at anything before own turn n, with gin alone from then on) also plays hands for points. These
policies do not look at the bonuses, so the same hands tell the points under any: at which bonus it pays to wait, and
where knocking always and waiting always break even. Under Oklahoma the family is rated by knock limit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.registry import native
from experiments import knock_runs
from experiments.knock_duel import DUEL, duel
from experiments.knock_study import rules_of
from experiments.match import NOBODY, A, play_pairs
from experiments.refusal import Refusal
from experiments.shards import INTERRUPTED, Shard, read_about, read_shard
from experiments.stats import Interval, mean
from ginenv.rng import apart
from ginenv.rules import Rules

BASES = ("simple", "lean")
TIMES = (
    *((1, 0, t) for t in (10, 7, 5, 4, 3, 2, 1, 0)),  # one threshold
    *((n, 10, 0) for n in (2, 3, 4, 5, 6, 7, 8, 10)),  # all or gin
    (4, 10, 2), (6, 10, 2), (6, 10, 4), (8, 7, 3),
)  # fmt: skip
"""n:e:l: knock at ``e`` or less on own turns before ``n``, at ``l`` or less from then on."""
FAMILY = (1, 2, 3, 4, 5, 6, 8, 10, 100)
"""n of the smaller family n:10:0; 1 waits for gin always, 100 knocks always."""
BONUSES = tuple(range(0, 51, 5))
"""Undercut and gin bonuses of the phase diagram."""
RESAMPLES = 200


class KnockRule(NamedTuple):
    """A knock rule on a base policy."""

    base: str
    n: int
    early: int
    late: int

    @property
    def spec(self) -> str:
        """The agent."""
        return f"{self.base}:early={self.early},until={self.n},late={self.late}"

    @property
    def label(self) -> str:
        """A short name."""
        if self.n == 1:
            return f"{self.base} {'gin' if self.late == 0 else f'≤{self.late}'}"
        return f"{self.base} {'always' if self.n >= 100 else f'{self.n}:{self.early}:{self.late}'}"


RULES_IN_GAMES = tuple(KnockRule(base, *times) for base in BASES for times in TIMES)
RULES_IN_HANDS = tuple(KnockRule("simple", n, 10, 0) for n in FAMILY)


@dataclass(frozen=True)
class Equilibrium:
    """A mixture of rules that no rule beats, and what each rule is worth against it."""

    weights: np.ndarray
    """Shape (rules,); they add up to 1."""
    low: np.ndarray
    high: np.ndarray
    """95 % of the resampled weights lie between."""
    in_support: np.ndarray
    """Share of the resampled equilibria that a rule is part of."""
    against: np.ndarray
    """What each rule is worth against the mixture: at most 0."""


# --- Playing --------------------------------------------------------------------------------------


def play_games(row: str, columns: tuple[str, ...], rules: Rules, seed: int, pairs: int) -> np.ndarray:
    """Return how a rule does in games: twice the games won in each pair (a level game counts 1), int8, shape
    (columns, pairs).
    """
    found = np.zeros((len(columns), pairs), dtype=np.int8)
    a = native(row)
    for i, column in enumerate(columns):
        games, _ = play_pairs(a, native(column), rules, seed, 0, pairs)
        found[i] = (2 * (games["winner"] == A) + (games["winner"] == NOBODY)).sum(axis=1)
    return found


def play_hands(row: str, columns: tuple[str, ...], rules: Rules, seed: int, pairs: int) -> np.ndarray:
    """Return mirrored pairs of hands: DUEL, shape (columns, pairs)."""
    found = np.zeros((len(columns), pairs), dtype=DUEL)
    a = native(row)
    for i, column in enumerate(columns):
        b = native(column)
        bad: int = duel(a.policy, a.params, b.policy, b.params, rules.record, seed, apart(seed), 0, found[i])
        if bad:
            raise Refusal(f"{(row, column)[bad - 1]} acted illegally")
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin knock metagame`."""
    parser.add_argument("--games", type=int, default=1000, metavar="N", help="games a pairing, even (default 1000)")
    parser.add_argument("--hands", type=int, default=20_000, metavar="N", help="hands a pairing, even (default 20000)")
    knock_runs.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Play what is missing, and print the equilibrium."""
    for name in ("games", "hands"):
        knock_runs.check_even(args, name)
    seed, rules = knock_runs.seed_and_rules(args)
    if rules.straight:
        raise Refusal("straight gin has no knocks to time: give other --rules")
    in_games, in_hands = [r.spec for r in RULES_IN_GAMES], [r.spec for r in RULES_IN_HANDS]
    about = {
        "kind": "metagame", "rules": rules.as_dict(), "seed": seed, "games": args.games, "hands": args.hands,
        "in_games": in_games, "in_hands": in_hands,
        "code": knock_runs.code(BASES),
    }  # fmt: skip
    shards = _rows("games", play_games, in_games, rules, seed, args.games // 2)
    shards += _rows("hands", play_hands, in_hands, rules, seed, args.hands // 2)
    if not knock_runs.play(args, about, shards):
        return INTERRUPTED
    found = read_metagame(args.out)
    print(f"{rules.name}: the mixture that no rule beats, in games ({args.games} a pairing)")
    for line in told(RULES_IN_GAMES, equilibrium(found.games_matrix)):
        print(f"  {line}")
    print("gin bonus where always and gin only are level in points (below 0: waiting wins at any), by undercut bonus")
    for undercut in (0, 10, 20, 25, 30):
        even = found.break_even(undercut)
        print(f"  {undercut:>3}: {even.value:>7.1f} ({even.low:.1f} to {even.high:.1f})")
    return 0


def _rows(
    kind: str, work: Callable[..., np.ndarray], specs: list[str], rules: Rules, seed: int, pairs: int
) -> list[Shard]:
    """Return a shard for each rule but the last: it against all behind it."""
    return [
        Shard(f"{kind}-{i:02d}", work, (specs[i], tuple(specs[i + 1 :]), rules, seed, pairs), len(specs) - i - 1)
        for i in range(len(specs) - 1)
    ]


def told(rules: Sequence[KnockRule], found: Equilibrium) -> list[str]:
    """Return the rules of an equilibrium, a line each, the weightiest first."""
    return [
        f"{rules[i].label:<18}{100 * found.weights[i]:5.1f} %  ({100 * found.low[i]:.0f} to {100 * found.high[i]:.0f}; "
        f"in {100 * found.in_support[i]:.0f} % of resamples)"
        for i in np.argsort(-found.weights) if found.weights[i] > 0.005
    ]  # fmt: skip


# --- Reading --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Metagame:
    """A stored metagame."""

    folder: Path
    about: dict[str, Any]
    games: np.ndarray
    """Share of games won less a half, by pair of decks: float32, shape (rules, rules, pairs); antisymmetric."""
    hands: np.ndarray
    """DUEL, shape (rules, rules, pairs); only above the diagonal."""

    @property
    def rules(self) -> Rules:
        """What was played."""
        return rules_of(self.about["rules"])

    def games_matrix(self, decks: np.ndarray | None = None) -> np.ndarray:
        """Return the share of games won less a half, row against column, over ``decks``: float64, shape (rules,
        rules).
        """
        return np.asarray((self.games if decks is None else self.games[:, :, decks]).mean(axis=2), dtype=np.float64)

    def points(self, gin: int | None = None, undercut: int | None = None) -> np.ndarray:
        """Return points a hand, row less column, by pair of decks, under bonuses: float64, shape (rules,
        rules, pairs).
        """
        h, rules = self.hands, self.rules
        total = h["base"] + h["big_gins"] * float(rules.big_gin_bonus)
        total += h["gins"] * float(rules.gin_bonus if gin is None else gin)
        total += h["undercuts"] * float(rules.undercut_bonus if undercut is None else undercut)
        total /= 2
        return total - total.transpose(1, 0, 2)

    def limits(self) -> np.ndarray:
        """Return the knock limit of each pair of decks: int64, shape (pairs,)."""
        return np.asarray(self.hands["limit"][0, 1], dtype=np.int64)

    def break_even(self, undercut: int | None = None) -> Interval:
        """Return the gin bonus at which always-knock and gin-only are level in points a hand, by the decks' spread."""
        h = self.hands[0, -1]  # gin only against always
        rest = h["base"] + h["big_gins"] * float(self.rules.big_gin_bonus)
        rest += h["undercuts"] * float(self.rules.undercut_bonus if undercut is None else undercut)
        gins = h["gins"].astype(np.float64)
        value = -rest.sum() / gins.sum()
        half = mean(rest + value * gins).half / abs(gins.mean())  # by linearisation
        return Interval(float(value), float(value - half), float(value + half))


def read_metagame(folder: Path) -> Metagame:
    """Return a stored metagame.

    Raises:
        Refusal: when it is none, or not finished.
    """
    about = read_about(folder)
    if about.get("kind") != "metagame":
        raise Refusal(f"{folder} holds no metagame: gin knock metagame makes one")
    n, pairs = len(about["in_games"]), about["games"] // 2
    games = np.zeros((n, n, pairs), dtype=np.float32)
    for i in range(n - 1):
        games[i, i + 1 :] = read_shard(folder, f"games-{i:02d}") / 4 - 0.5
        games[i + 1 :, i] = -games[i, i + 1 :]
    m = len(about["in_hands"])
    hands = np.zeros((m, m, about["hands"] // 2), dtype=DUEL)
    for i in range(m - 1):
        hands[i, i + 1 :] = read_shard(folder, f"hands-{i:02d}")
    return Metagame(folder, about, games, hands)


def nash(matrix: np.ndarray) -> np.ndarray:
    """Return the mixture that no row beats, of a symmetric zero-sum game: float64, shape (n,).

    Args:
        matrix: What a row gets from a column: shape (n, n), antisymmetric.
    """
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise Refusal("this needs the package scipy: pip install 'ginenv[report]'") from None
    n = len(matrix)
    # The most v with x·column >= v for each column, sum(x) = 1.
    found = linprog(
        np.append(np.zeros(n), -1.0), A_ub=np.hstack([-matrix.T, np.ones((n, 1))]), b_ub=np.zeros(n),
        A_eq=np.append(np.ones(n), 0.0)[None], b_eq=[1.0], bounds=[(0, 1)] * n + [(None, None)],
    )  # fmt: skip
    weights = np.clip(found.x[:n], 0, None)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def equilibrium(
    matrix: Callable[[np.ndarray | None], np.ndarray], *, pairs: int | None = None, resamples: int = RESAMPLES
) -> Equilibrium:
    """Return the equilibrium of ``matrix(None)``, with intervals from ``matrix(decks)`` of resampled decks.

    Args:
        matrix: Decks to the matrix; of a bound `Metagame.games_matrix` the number of pairs is known.
        pairs: How many pairs of decks there are.
        resamples: How often they are drawn anew.
    """
    whole = matrix(None)
    if pairs is None:
        pairs = matrix.__self__.games.shape[2]  # type: ignore[attr-defined]
    weights = nash(whole)
    rng = np.random.default_rng(1)
    again = np.array([nash(matrix(rng.integers(0, pairs, pairs))) for _ in range(resamples)])
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    return Equilibrium(weights, low, high, (again > 1e-6).mean(axis=0), whole @ weights)


def phase(metagame: Metagame) -> list[dict[str, float]]:
    """Return by undercut and gin bonus the equilibrium of the family in points a hand.

    ``until`` is the mean own turn until which it knocks at anything (20 stands for always), ``patient`` the share that
    waits for gin from its third turn or before, ``gin_only`` the points of waiting always against knocking always.
    """
    n = np.array([min(r.n, 20) for r in RULES_IN_HANDS], dtype=np.float64)
    found = []
    for undercut in BONUSES:
        for gin in BONUSES:
            matrix = metagame.points(gin, undercut).mean(axis=2)
            weights = nash(matrix)
            found.append(
                {"undercut": undercut, "gin": gin, "until": float(weights @ n), "patient": float(weights[n <= 3].sum()),
                 "always": float(weights[-1]), "gin_only": float(matrix[0, -1])}
            )  # fmt: skip
    return found


def by_limit(metagame: Metagame, resamples: int = RESAMPLES) -> dict[int, Equilibrium]:
    """Return the equilibrium of the family in points a hand, by the hand's knock limit."""
    points, limits = metagame.points(), metagame.limits()
    found = {}
    for limit in np.unique(limits):
        if limit == 0:
            continue  # all rules are the same there
        inside = points[:, :, limits == limit]

        def matrix(decks: np.ndarray | None, inside: np.ndarray = inside) -> np.ndarray:
            return np.asarray((inside if decks is None else inside[:, :, decks]).mean(axis=2))

        found[int(limit)] = equilibrium(matrix, pairs=inside.shape[2], resamples=resamples)
    return found
