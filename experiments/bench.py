"""Speed on one core, beside OpenSpiel and RLCard in the same run: ``python -m experiments.bench`` or ``make bench``.

Other work on the machine only ever makes a run slower. So each figure is measured by many short repeats, ours and the
peer's in turn; the best of them is the figure and the median stands beside it. Ratios are of figures of
one run. ``--markdown`` prints a table, or with docs/speed.md behind it puts it in there; ``--json`` prints one
document; ``--quick`` takes shorter repeats and leaves out the cold start; ``--only TEXT`` takes the rows with TEXT in
their names.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numba import types

from agents.playout import play_hand
from agents.protocol import PARAMS, POLICY_POINTER, NativeAgent
from agents.registry import make
from experiments.match import play_pairs
from experiments.provenance import machine, versions
from experiments.whole_file import write_whole
from ginenv.cards import BIT
from ginenv.deal import new_game
from ginenv.encode import encoding
from ginenv.jit import kernel
from ginenv.melds import deadwood
from ginenv.rules import RULES_TYPE, rules
from ginenv.state import N_ACTIONS, STATE, STATE_TYPE, Phase, new_states
from ginenv.step import step
from ginenv.view import VIEW, VIEW_TYPE, look

TABLES = 1024
HANDS = 4096
"""Hands in one repeat of the deadwood kernel."""
AEC_STEPS = 50
PEER_HANDS = 5
"""Hands of OpenSpiel's simple bot in one repeat, the same ones each time."""
BUDGET_MS = 5
_WARM_UP = 20
"""Discards under a time budget that are not counted: kernels are loaded in them."""

FRESH = {
    "vector": (
        "from ginenv.envs.vector import Tables; t = Tables(1024); t.step(t.action_masks.argmax(axis=1))",
        "import, 1,024 tables and their first step",
    ),
    "AEC": (
        "from ginenv import gin_rummy_v0; e = gin_rummy_v0.env(); e.reset(seed=1); "
        "e.step(int(e.observe(e.agent_selection)['action_mask'].argmax()))",
        "import, wrapped AEC environment and its first step",
    ),
}
"""What a fresh process runs, and what that is called."""


@dataclass(frozen=True)
class Timing:
    """Repeats of one measurement: work done a second."""

    best: float
    median: float
    repeats: int


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    unit: str
    target: str
    """What the issue asks for; empty where it asks for nothing."""
    ours: float
    median: float
    """The median of the repeats, where ``ours`` is the best."""
    repeats: int
    met: bool
    peer: str = ""
    """Which peer, and how it was run."""
    theirs: float | None = None
    ratio: float | None = None
    """How many times as fast as the peer."""
    limit: str = ""
    """What bounds the figure, on paper."""
    note: str = ""


Work = Callable[[], int]
"""One short repeat: does something and returns how much of it."""


def measure(works: dict[str, Work], seconds: float) -> dict[str, Timing]:
    """Repeat each work in turn for ``seconds`` in all, and return work a second by name."""
    rates: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()  # compile, fill caches
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or not all(len(r) >= 5 for r in rates.values()):
        for name, work in works.items():
            began = time.perf_counter()
            done = work()
            rates[name].append(done / (time.perf_counter() - began))
    return {name: Timing(max(r), statistics.median(r), len(r)) for name, r in rates.items()}


# --- Ours -------------------------------------------------------------------------------------------


def random_tables(name: str) -> Work:
    """Return random play at 1,024 tables of an encoding: actions chosen, stepped, masks and observations written."""
    from ginenv.envs.vector import Tables, random_actions

    tables = Tables(TABLES, "modern", seed=1, encoding=name)
    actions = np.zeros(TABLES, dtype=np.int64)
    steps = 0

    def work() -> int:
        nonlocal steps
        for _ in range(4):
            steps += 1
            random_actions(tables.views, steps, actions)
            tables.step(actions)
        return 4 * TABLES

    return work


def simple_hands() -> Work:
    """Return `simple` against itself: games on mirrored deals, as a tournament plays them."""
    agent, eaai = make("simple"), rules("eaai")

    def work() -> int:
        games, _ = play_pairs(agent, agent, eaai, 1, 0, 12)
        return int(games["hands"].sum())

    return work


def heuristic_games() -> Work:
    """Return `heuristic` against `simple`: games on mirrored deals, as a tournament plays them."""
    agent, other, eaai = make("heuristic"), make("simple"), rules("eaai")

    def work() -> int:
        games, _ = play_pairs(agent, other, eaai, 1, 0, 12)
        return int(games.size)

    return work


def decisions_in_play(n: int) -> np.ndarray:
    """Return STATEs in which a discard is due, one of each hand that `simple` plays with itself, on its third turn."""
    eaai, agent = rules("eaai"), make("simple")
    states, view = new_states(n), np.zeros(1, dtype=VIEW)
    for i, s in enumerate(states):
        for attempt in count():
            new_game(s, eaai.record, n * attempt + i)
            while s["phase"] != Phase.OVER and not (s["phase"] == Phase.DISCARD and s["turn"] > 5):
                look(s, eaai.record, int(s["seat"]), view[0])
                step(s, eaai.record, int(agent.act(view, eaai, np.array([i]))[0]))
            if s["phase"] != Phase.OVER:
                break
    return states


def simple_rollouts() -> Work:
    """Return hands played from a discard to their end by `simple`."""
    agent, eaai, starts = make("simple"), rules("eaai"), decisions_in_play(256)
    assert isinstance(agent, NativeAgent)

    def work() -> int:
        _rollouts(agent.policy, agent.params, eaai.record, starts, np.empty(1, STATE), np.empty(2, VIEW), 8)
        return 8 * len(starts)

    return work


_TABLES = STATE_TYPE[::1]


@kernel(signature=types.int64(POLICY_POINTER, PARAMS, RULES_TYPE, _TABLES, _TABLES, VIEW_TYPE[::1], types.int64))
def _rollouts(policy, params, rules, starts, table, views, times):
    points = 0
    for i in range(starts.shape[0]):
        for k in range(times):
            table[0] = starts[i]
            play_hand(table[0], rules, views, policy, params, k, policy, params, k)
            points += table[0]["points"][0]
    return points


def searches(spec: str) -> Work:
    """Return decisions of a search on what to discard."""
    agent, eaai, starts = make(spec), rules("eaai"), decisions_in_play(8)
    views = np.zeros(len(starts), dtype=VIEW)
    for s, v in zip(starts, views, strict=True):
        look(s, eaai.record, int(s["seat"]), v)

    def work() -> int:
        agent.act(views, eaai, np.arange(len(views)))
        return len(views)

    return work


def budget_shares(spec: str, milliseconds: float, n: int) -> np.ndarray:
    """Return how long a search with a time budget took for each of ``n`` discards of hands that it plays with itself.

    Returns:
        float64, shape (n,): as multiples of the budget.
    """
    agent, eaai = make(spec), rules("eaai")
    s, view = new_states(1)[0], np.zeros(1, dtype=VIEW)
    took = list[float]()
    for seed in count():
        new_game(s, eaai.record, seed)
        while s["phase"] != Phase.OVER:
            look(s, eaai.record, int(s["seat"]), view[0])
            began = time.perf_counter()
            action = int(agent.act(view, eaai, np.array([seed]))[0])
            if s["phase"] == Phase.DISCARD:
                took.append((time.perf_counter() - began) * 1000 / milliseconds)
            step(s, eaai.record, action)
        if len(took) >= n + _WARM_UP:
            break
    return np.array(took[_WARM_UP : n + _WARM_UP])


def deadwoods(n_cards: int) -> Work:
    """Return the deadwood of random hands of ``n_cards``."""
    rng = random.Random(n_cards)
    hands = np.array([sum(int(BIT[c]) for c in rng.sample(range(52), n_cards)) for _ in range(HANDS)], dtype=np.int64)

    def work() -> int:
        _deadwoods(hands)
        return HANDS

    return work


@kernel
def _deadwoods(hands):
    total = 0
    for i in range(hands.shape[0]):
        total += deadwood(hands[i], 13)
    return total


def aec_steps() -> Work:
    """Return random play through the wrapped AEC environment, `observe` and the choice included."""
    from ginenv import gin_rummy_v0

    env = gin_rummy_v0.env()
    env.reset(seed=1)
    rng = random.Random(1)

    def work() -> int:
        for _ in range(AEC_STEPS):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            env.step(rng.choice(observation["action_mask"].nonzero()[0].tolist()))
        return AEC_STEPS

    return work


def copied(n_bytes: int) -> Work:
    """Return copying of memory, in pieces like a table's, over as much as 1,024 tables take: the floor on paper."""
    source = np.zeros((TABLES, n_bytes), dtype=np.uint8)
    target = np.zeros_like(source)

    def work() -> int:
        np.copyto(target, source)
        return TABLES

    return work


# --- Peers ------------------------------------------------------------------------------------------


def installed(package: str) -> bool:
    """Return whether a peer can be imported."""
    return importlib.util.find_spec(package) is not None


class OpenSpiel:
    """OpenSpiel's works; a state is cloned, since a new one takes 3 ms."""

    def __init__(self) -> None:
        import pyspiel

        self.pyspiel = pyspiel
        self.game = pyspiel.load_game("gin_rummy")
        self.root = self.game.new_initial_state()
        self.rng = random.Random(1)
        self.seed = 0

    def random_python(self) -> int:
        """Play a random hand from Python: decisions."""
        state, rng, n = self.root.clone(), self.rng, 0
        while not state.is_terminal():
            if not state.is_chance_node():
                n += 1
            state.apply_action(rng.choice(state.legal_actions()))
        return n

    def _evaluate(self, bots: list[Any]) -> Any:
        self.seed += 1
        state = self.root.clone()
        self.pyspiel.evaluate_bots(state, bots, self.seed)
        return state

    def random_native(self) -> int:
        """Play a random hand in C++ (evaluate_bots): decisions."""
        state = self._evaluate([self.pyspiel.make_uniform_random_bot(seat, self.seed) for seat in (0, 1)])
        return sum(move.player >= 0 for move in state.full_history())

    def simple_native(self) -> Work:
        """Return its simple bot against itself in C++ (evaluate_bots): hands."""
        bots = [self.pyspiel.make_simple_gin_rummy_bot(self.game.get_parameters(), seat) for seat in (0, 1)]

        def work() -> int:
            self.seed = 0
            for _ in range(PEER_HANDS):
                self._evaluate(bots)
            return PEER_HANDS

        return work

    def simple_python(self) -> Work:
        """Return the same, stepped from Python."""
        bots = [self.pyspiel.make_simple_gin_rummy_bot(self.game.get_parameters(), seat) for seat in (0, 1)]

        def work() -> int:
            rng = random.Random(1)
            for _ in range(PEER_HANDS):
                state = self.root.clone()
                for bot in bots:
                    bot.restart()
                while not state.is_terminal():
                    if state.is_chance_node():
                        state.apply_action(rng.choice(state.legal_actions()))
                    else:
                        state.apply_action(bots[state.current_player()].step(state))
            return PEER_HANDS

        return work

    def deadwoods(self, n_cards: int) -> Work:
        """Return its deadwood of random hands, called from Python."""
        utils = self.pyspiel.gin_rummy.GinRummyUtils(13, 4, 10)
        hands = [self.rng.sample(range(52), n_cards) for _ in range(200)]

        def work() -> int:
            for hand in hands:
                utils.min_deadwood(hand)
            return len(hands)

        return work


def rlcard_random() -> Work:
    """Return random play in RLCard: decisions."""
    import rlcard

    env = rlcard.make("gin-rummy", config={"seed": 1})
    rng = random.Random(1)

    def work() -> int:
        state, _ = env.reset()
        n = 0
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            n += 1
        return n

    return work


# --- Figures ----------------------------------------------------------------------------------------


def _figure(
    what: str,
    unit: str,
    target: float | None,
    timings: dict[str, Timing],
    limit: str = "",
    note: str = "",
    factor: float = 0.0,
) -> list[Figure]:
    """Return our figure beside each peer's; met when it reaches the target, and ``factor`` times the best peer."""
    ours = timings.pop("ours")
    text = "" if target is None else f"≥ {target:,.0f}" + (f", ≥ {factor:.0f} × OpenSpiel" if factor else "")
    met = ours.best >= (target or 0) and all(
        ours.best >= factor * t.best for n, t in timings.items() if "OpenSpiel" in n
    )
    base = Figure(what, unit, text, ours.best, ours.median, ours.repeats, met, limit=limit, note=note)
    if not timings:
        return [base]
    return [
        Figure(**{**asdict(base), "peer": name, "theirs": peer.best, "ratio": ours.best / peer.best})
        for name, peer in timings.items()
    ]


def _fresh(name: str, seconds: list[float], target: float, how: str) -> Figure:
    best, median = min(seconds), statistics.median(seconds)
    return Figure(FRESH[name][1] + f", {how}", "s", f"≤ {target:g}", best, median, len(seconds), best <= target)


def fresh_process(name: str, folder: str | None) -> float:
    """Return the seconds of a fresh process that imports and steps; compiled kernels in ``folder``, or as they are."""
    variables = dict(os.environ) | ({"GINENV_CACHE_DIR": folder} if folder else {})
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", FRESH[name][0]], check=True, env=variables, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def figures(quick: bool, only: str = "") -> tuple[list[Figure], list[str]]:
    """Measure the rows with ``only`` in their names; return the figures, and a sentence for each peer missing."""

    def due(what: str) -> bool:
        if only in what:
            _say(what)
        return only in what

    seconds = 2.0 if quick else 8.0
    missing, out = [], list[Figure]()
    spiel = OpenSpiel() if installed("pyspiel") else None
    card = rlcard_random if installed("rlcard") else None
    for name, there in (("open_spiel", spiel), ("rlcard", card)):
        if there is None:
            missing.append(f"{name} is not installed, so it is not measured: pip install 'ginenv[peers]'.")
            _say(missing[-1])

    for name, goal, factor in (("planes-v1", 3e6, 15.0), ("features-v1", 1e6, 0.0), ("features-v2", None, 0.0)):
        what = f"random play, {TABLES:,} tables, masks and {name}"
        if not due(what):
            continue
        works: dict[str, Work] = {"ours": random_tables(name)}
        if name == "planes-v1":  # the peers' random play needs measuring once
            if spiel:
                works |= {"OpenSpiel, in C++": spiel.random_native, "OpenSpiel, from Python": spiel.random_python}
            if card:
                works["RLCard"] = card()
        n_bytes = STATE.itemsize + VIEW.itemsize + encoding(name).size + N_ACTIONS
        floor = measure({"copy": copied(n_bytes)}, 0.5)["copy"]
        limit = f"{n_bytes:,} bytes a decision, copied in {1e9 / floor.best:.0f} ns"
        out += _figure(what, "decisions/s", goal, measure(works, seconds * len(works)), limit, factor=factor)

    if due(what := "`simple` against itself"):
        works = {"ours": simple_hands()}
        if spiel:
            works |= {"OpenSpiel, in C++": spiel.simple_native(), "OpenSpiel, from Python": spiel.simple_python()}
        agent = make("simple")
        assert isinstance(agent, NativeAgent)
        games, _ = play_pairs(agent, agent, rules("eaai"), 1, 0, 50)
        turns = games["turns"].sum() / games["hands"].sum()
        limit = f"{turns:.1f} turns a hand: {1e9 / 4e5 / (2 * turns + 2):.0f} ns a decision at the target"
        out += _figure(what, "hands/s", 400_000, measure(works, seconds * len(works)), limit)

    for what, unit, goal, start, limit in (
        ("`heuristic` against `simple`", "games/s", 5000, heuristic_games, ""),
        ("hands played out by `simple` from a discard on its third turn", "hands/s", 500_000, simple_rollouts, ""),
        ("discards searched by `mc`, 128 worlds", "decisions/s", 1000, lambda: searches("mc"),
         "up to 6 × 128 hands played out"),
    ):  # fmt: skip
        if due(what):
            out += _figure(what, unit, goal, measure({"ours": start()}, seconds), limit)
    if due(what := f"discards of `mc:ms={BUDGET_MS}`: time taken by 99.9 %, and by half"):
        shares = budget_shares(f"mc:ms={BUDGET_MS}", BUDGET_MS, 1000 if quick else 4000)
        worst, median = (float(np.quantile(shares, q)) for q in (0.999, 0.5))
        out.append(Figure(what, "× budget", "≤ 1.2", worst, median, len(shares), worst <= 1.2))

    for n_cards in (10, 11):
        what = f"deadwood, {n_cards} cards"
        if not due(what):
            continue
        works = {"ours": deadwoods(n_cards)}
        if spiel:
            works["OpenSpiel, from Python"] = spiel.deadwoods(n_cards)
        for figure in _figure(what, "ns", 0, measure(works, seconds / 2), "4 look-ups for each choice of sets"):
            ours, theirs = 1e9 / figure.ours, 1e9 / figure.theirs if figure.theirs else None
            changes = {"target": "≤ 30", "ours": ours, "median": 1e9 / figure.median, "theirs": theirs}
            out.append(Figure(**{**asdict(figure), **changes, "met": ours <= 30}))

    if due(what := "wrapped AEC environment, random play"):
        works = {"ours": aec_steps()} | ({"RLCard, no wrappers": card()} if card else {})
        note = "PettingZoo 1.26's own gin_rummy_v4, gone in 1.27, ran 3,300 to 4,600"
        out += _figure(what, "steps/s", 40_000, measure(works, seconds), "`last` and `step` in Python", note)

    for name in FRESH:
        if not due(FRESH[name][1] + ", fresh processes"):
            continue
        fresh_process(name, None)
        out.append(_fresh(name, [fresh_process(name, None) for _ in range(1 if quick else 5)], 2, "warm"))
        if not quick:
            with tempfile.TemporaryDirectory() as folder:
                out.append(_fresh(name, [fresh_process(name, folder)], 30, "cold"))

    if due(what := "memory of a table (STATE)"):
        size = float(STATE.itemsize)
        out.append(Figure(what, "bytes", "≤ 512", size, size, 1, size <= 512))
    return out, missing


# --- Output -----------------------------------------------------------------------------------------


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


HEAD = ("what", "target", "ours (best)", "median", "unit", "met", "peer", "theirs", "ratio", "limit")


def rows(found: list[Figure]) -> list[tuple[str, ...]]:
    """Return the figures as rows of text; what a second peer repeats is left out."""
    out = list[tuple[str, ...]]()
    last = ""
    for f in found:
        met = ("yes" if f.met else "no") if f.target else ""
        ours = ("", "", "", "", "", "", "") if f.what == last else (
            f.what, f.target, _number(f.ours), _number(f.median), f.unit, met, f.limit
        )  # fmt: skip
        last = f.what
        ratio = f"{f.ratio:,.1f} ×" if f.ratio else ""
        out.append(
            (*ours[:6], f.peer, _number(f.theirs), ratio, ours[6] + (f" ({f.note})" if f.note and ours[0] else ""))
        )
    return out


def document(found: list[Figure], missing: list[str]) -> dict[str, Any]:
    """Return all that a run found, ready for JSON."""
    return {
        "machine": machine(),
        "versions": versions(),
        "method": METHOD,
        "missing": missing,
        "figures": [asdict(f) for f in found],
    }


METHOD = (
    "One core. Ours and the peers' short repeats in turn; the best repeat is the figure, since other work on the "
    "machine only ever slows a repeat down; ratios are of this run."
)


MARKERS = ("<!-- bench -->", "<!-- /bench -->")


def parts_around_table(file: Path) -> tuple[str, str]:
    """Return what stands before and behind the table of ``file``. Raises ValueError when it has no place for one."""
    if not file.is_file():
        raise ValueError(f"--markdown {file}: there is no such file; give one with {MARKERS[0]} and {MARKERS[1]} in it")
    head, begin, rest = file.read_text(encoding="utf-8").partition(MARKERS[0])
    _, end, tail = rest.partition(MARKERS[1])
    if not begin or not end:
        raise ValueError(f"--markdown {file}: it has no {MARKERS[0]} … {MARKERS[1]} to put the table between")
    return head + begin, end + tail


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter repeats, no cold start")
    parser.add_argument("--only", default="", metavar="TEXT", help="the rows with this in their names")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one document on stdout")
    form.add_argument(
        "--markdown",
        nargs="?",
        const="-",
        metavar="FILE",
        help="a table on stdout, or put between the markers of FILE (docs/speed.md)",
    )
    options = parser.parse_args(arguments)
    file = Path(options.markdown) if options.markdown not in (None, "-") else None
    if file and options.only:
        parser.error(f"--markdown {file}: it takes the whole table, so leave --only out")
    try:
        head, tail = parts_around_table(file) if file else ("", "")
    except ValueError as error:
        parser.error(str(error))
    found, missing = figures(options.quick, options.only)
    if not found:
        parser.error(f"--only {options.only}: no row has that in its name")
    if options.json:
        print(json.dumps(document(found, missing), ensure_ascii=False, indent=1))
        return 0
    where = ", ".join(f"{key} {value}" for key, value in (machine() | versions()).items())
    if options.markdown:
        lines = ["| " + " | ".join(row) + " |" for row in (HEAD, ("---",) * len(HEAD), *rows(found))]
        text = "\n".join([METHOD, "", f"Machine: {where}.", "", *lines, *missing])
        if file is None:
            print(text)
        else:
            write_whole(file, f"{head}\n{text}\n{tail}")
        return 0
    table = [HEAD, *rows(found)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEAD) - 1)]
    print(f"{METHOD}\n{where}\n")
    for row in table:
        print("  ".join([*(text.ljust(w) for text, w in zip(row, widths, strict=False)), row[-1]]).rstrip())
    for sentence in missing:
        print(sentence)
    return 0


if __name__ == "__main__":
    sys.exit(main())
