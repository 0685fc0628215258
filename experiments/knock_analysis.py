"""What a study says (`experiments.knock_study`): cells, splits, rules of each simplicity, and what they cost.

All intervals are 95 %, clustered by game. A *gain* is knocking now less playing on. A rule is made on the even games
and rated on the odd ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.knock_study import Study
from experiments.refusal import Refusal
from experiments.stats import Interval, ratio

LAST_TURN = 13
"""Turns from this one on are one row of a table."""
LEAST = 30
"""Positions that a cell needs."""
FEATURES = ("turn", "deadwood", "took", "stock", "own_score", "other_score", "limit")
"""What a tree may look at; ``took``: cards the opponent took and holds."""
MEASURES = {"points": "points", "win": "chance to win the game"}
_LEAVES = 8
"""Of the shallow tree."""


def gain(rows: np.ndarray, measure: str) -> np.ndarray:
    """Return knocking now less playing on of each row, in points or as a chance: shape (n,)."""
    return np.asarray(rows[f"gain_{measure}"].mean(axis=1), dtype=np.float64)


def true_gain(rows: np.ndarray, measure: str) -> np.ndarray:
    """Return the same in the one true world of each row: for checks alone."""
    return np.asarray(rows[f"true_knock_{measure}"] - rows[f"true_on_{measure}"], dtype=np.float64)


def clustered(values: np.ndarray, clusters: np.ndarray) -> Interval:
    """Return the mean of values and its interval, where values of one cluster are not independent."""
    if not len(values):
        return Interval(np.nan, np.nan, np.nan)
    _, number = np.unique(clusters, return_inverse=True)
    return ratio(np.bincount(number, values), np.bincount(number).astype(np.float64))


def turn_of(rows: np.ndarray) -> np.ndarray:
    """Return the own turn of each row, the late ones as one: int64, shape (n,)."""
    return np.minimum(rows["turn"].astype(np.int64), LAST_TURN)


def took(rows: np.ndarray) -> np.ndarray:
    """Return how many cards the opponent took and holds: int64, shape (n,)."""
    return np.bitwise_count(rows["known"]).astype(np.int64)


@dataclass(frozen=True)
class Cell:
    """A cell of a table over own turn and deadwood."""

    turn: int
    deadwood: int
    n: int
    value: Interval

    @property
    def decided(self) -> bool:
        """Whether its sign is sure at 95 %."""
        return self.n >= LEAST and (self.value.low > 0 or self.value.high < 0)


def cells(study: Study, values: np.ndarray, where: np.ndarray | None = None) -> list[Cell]:
    """Return the mean of ``values`` in each cell over own turn and deadwood that has positions.

    Args:
        study: The study.
        values: One a row, shape (n,).
        where: Which rows count: bool, shape (n,).
    """
    inside = np.ones(len(study.rows), dtype=bool) if where is None else where
    turn, loose = turn_of(study.rows), study.rows["deadwood"].astype(np.int64)
    found = []
    for t in range(1, LAST_TURN + 1):
        for d in range(int(loose.max()) + 1):
            chosen = np.flatnonzero(inside & (turn == t) & (loose == d))
            if len(chosen):
                found.append(Cell(t, d, len(chosen), clustered(values[chosen], study.clusters[chosen])))
    return found


def splits(study: Study) -> dict[str, np.ndarray]:
    """Return the rows that belong together, by name: by opponent, by score, by knock limit where it varies."""
    rows = study.rows
    found = {f"against {spec}": study.rival == i for i, spec in enumerate(study.about["agents"])}
    lead = rows["own_score"].astype(np.int64) - rows["other_score"]
    target = study.about["rules"]["target"]
    found |= {
        "behind by 25 or more": lead <= -25, "level within 24": np.abs(lead) < 25, "ahead by 25 or more": lead >= 25,
        "a knock from home (own score within 20)": rows["own_score"] >= target - 20,
        "the opponent within 20 of home": rows["other_score"] >= target - 20,
    }  # fmt: skip
    if study.about["rules"]["oklahoma"]:
        found |= {f"knock limit {k}": rows["limit"] == k for k in np.unique(rows["limit"]) if k}  # 0: nothing to time
    return {name: where for name, where in found.items() if where.any()}


# --- Rules ----------------------------------------------------------------------------------------

Rule = Callable[[np.ndarray], np.ndarray]
"""Rows to whether to knock: bool, shape (n,)."""


@dataclass(frozen=True)
class Rated:
    """A rule and what it is worth."""

    kind: str
    rule: str
    agrees: float
    """Share of decisions where it does what the best known does."""
    cost: Interval
    """What a decision by it costs against the best known: chance to win the game."""
    cost_a_game: float
    """The same times the decisions that a player meets in a game."""
    cost_points: Interval
    """What a decision costs in points."""


def _sums(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum of values by turn and deadwood: float64, shape (LAST_TURN + 1, most deadwood + 1)."""
    total = np.zeros((LAST_TURN + 1, int(rows["deadwood"].max()) + 1))
    np.add.at(total, (turn_of(rows), rows["deadwood"].astype(np.int64)), values)
    return total


def best_threshold(total: np.ndarray) -> int:
    """Return the count of deadwood at which to knock, always the same; -1 for never."""
    return int(np.append(0, np.cumsum(total.sum(axis=0))).argmax()) - 1


def best_bang_bang(total: np.ndarray) -> tuple[int, int, int]:
    """Return the best n:e:l: knock at ``e`` or less on own turns before ``n``, at ``l`` or less from then on."""
    most = total.shape[1] - 1
    reach = np.cumsum(total, axis=1)
    best, found = -np.inf, (1, 0, 0)
    for n in range(1, LAST_TURN + 1):
        early, late = reach[:n].sum(axis=0), reach[n:].sum(axis=0)
        for e in range(most + 1):
            for l in range(e + 1):  # noqa: E741 - its name in n:e:l
                if early[e] + late[l] > best + 1e-12:
                    best, found = early[e] + late[l], (n, e, l)
    return found


def best_with_much(total: np.ndarray) -> tuple[int, int]:
    """Return the best (n, h): knock with ``h`` or more on own turns before ``n``, and with gin always."""
    reach = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]  # so much or more
    found = [(reach[:n, h].sum(), -n, h) for n in range(1, LAST_TURN + 2) for h in range(1, total.shape[1])]
    _, n, h = max(found)
    return -n, h


def best_by_turn(total: np.ndarray) -> np.ndarray:
    """Return the best threshold of each turn, -1 for never: int64, shape (LAST_TURN + 1,)."""
    reach = np.concatenate([np.zeros((len(total), 1)), np.cumsum(total, axis=1)], axis=1)
    return reach.argmax(axis=1) - 1


def features(rows: np.ndarray) -> np.ndarray:
    """Return what a tree may look at: float64, shape (n, features)."""
    columns = {name: rows[name] for name in FEATURES if name != "took"} | {"took": took(rows)}
    return np.stack([columns[name].astype(np.float64) for name in FEATURES], axis=1)


def fit_tree(rows: np.ndarray, values: np.ndarray) -> Any:
    """Return a shallow regression tree for the gain, a scikit-learn estimator."""
    try:
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise Refusal("this needs the package scikit-learn: pip install 'ginenv[report]'") from None
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=max(LEAST, len(rows) // 500), random_state=1)
    return tree.fit(features(rows), values)


def tree_text(tree: Any) -> str:
    """Return the tree as one line of conditions."""
    t = tree.tree_

    def told(node: int) -> str:
        if t.children_left[node] < 0:
            return "knock" if t.value[node].item() > 0 else "play on"
        name, edge = FEATURES[t.feature[node]], int(np.floor(t.threshold[node]))
        left, right = told(t.children_left[node]), told(t.children_right[node])
        return left if left == right else f"({name} ≤ {edge}: {left}; else {right})"

    return told(0)


def rate_rules(study: Study, where: np.ndarray | None = None, tree: bool = True) -> list[Rated]:
    """Return the best rule of each simplicity with what it costs, the dearest first.

    The best known looks at each position by itself: knock where half of its worlds say so, rated by the other half. A
    rule that is rated better than that is the best known itself.

    Args:
        study: The study.
        where: Which rows count: bool, shape (n,).
        tree: Whether to fit a tree (needs scikit-learn).
    """
    rows, clusters = study.rows, study.clusters
    inside = np.ones(len(rows), dtype=bool) if where is None else where
    made, rated = inside & (rows["game"] % 2 == 0), inside & (rows["game"] % 2 == 1)
    if made.sum() < LEAST or rated.sum() < LEAST:
        raise Refusal(f"{made.sum() + rated.sum()} positions are too few to make and rate rules: play more")
    total = _sums(rows[made], gain(rows[made], "win"))
    test, groups = rows[rated], clusters[rated]
    win, points = gain(test, "win"), gain(test, "points")
    halves, halves_points = test["gain_win"].astype(np.float64), test["gain_points"].astype(np.float64)
    turn, loose = turn_of(test), test["deadwood"].astype(np.int64)

    n, e, l = best_bang_bang(total)  # noqa: E741
    before, much = best_with_much(total)
    one, by_turn = best_threshold(total), best_by_turn(total)
    gin = loose == 0
    choices: list[tuple[str, str, np.ndarray]] = [
        ("always", "knock at once", np.ones(len(test), dtype=bool)),
        ("gin only", "knock with gin alone", gin),
        ("one threshold", f"at {one} or less", loose <= one),
        ("n:e:l", f"{n}:{e}:{l}", loose <= np.where(turn < n, e, l)),
        ("much or gin", f"{much} or more before turn {before}, else gin", gin | ((turn < before) & (loose >= much))),
        ("table by turn", " ".join(map(str, by_turn[1:])), loose <= by_turn[turn]),
        ("cells", "the sign of each cell", total[turn, np.minimum(loose, total.shape[1] - 1)] > 0),
    ]  # fmt: skip
    if tree:
        fitted = fit_tree(rows[made], gain(rows[made], "win"))
        choices.append((f"tree, {_LEAVES} leaves", tree_text(fitted), fitted.predict(features(test)) > 0))
    gains = {kind: np.where(knock, win, 0.0) for kind, _, knock in choices}
    # Each half chooses and the other rates.
    search = ((halves[:, 0] > 0) * halves[:, 1] + (halves[:, 1] > 0) * halves[:, 0]) / 2
    search_points = ((halves[:, 0] > 0) * halves_points[:, 1] + (halves[:, 1] > 0) * halves_points[:, 0]) / 2
    best = max(gains, key=lambda kind: gains[kind].mean())
    if search.mean() >= gains[best].mean():
        top, top_points, top_knock = search, search_points, win > 0
    else:
        top_knock = next(knock for kind, _, knock in choices if kind == best)
        top, top_points = gains[best], np.where(top_knock, points, 0.0)
    choices.append(("search", "by the worlds of each position", win > 0))
    gains["search"] = search
    a_game = len(test) / len(np.unique(groups)) / 2  # both players of a game meet decisions
    found = []
    for kind, text, knock in choices:
        in_points = search_points if kind == "search" else np.where(knock, points, 0.0)
        cost = clustered(top - gains[kind], groups)
        cost_points = clustered(top_points - in_points, groups)
        agrees = float((knock == top_knock).mean())
        found.append(Rated(kind, text, agrees, cost, cost.value * a_game, cost_points))
    return sorted(found, key=lambda r: -r.cost.value)


# --- Checks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """What the sampled worlds say beside what the true hidden cards say, both on average."""

    what: str
    said: Interval
    true: Interval
    difference: Interval
    """Said less true, position by position."""


def checks(study: Study) -> list[Check]:
    """Return how the worlds compare with the true hidden cards, which the values never use."""
    rows = study.rows

    def check(what: str, said: np.ndarray, true: np.ndarray) -> Check:
        a, b = said.astype(np.float64), true.astype(np.float64)
        return Check(what, *(clustered(x, study.clusters) for x in (a, b, a - b)))

    return [
        check("knock now, points", rows["knock_points"], rows["true_knock_points"]),
        check("play on, points", rows["on_points"], rows["true_on_points"]),
        check("gain of knocking, points", gain(rows, "points"), true_gain(rows, "points")),
        check("gain of knocking, chance to win", gain(rows, "win"), true_gain(rows, "win")),
        check("chance of being undercut", rows["undercut"], rows["true_undercut"]),
        check("the opponent's deadwood", rows["rival_deadwood"], rows["true_rival_deadwood"]),
    ]
