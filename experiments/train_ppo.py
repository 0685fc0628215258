"""`gin train ppo`: learn to play by self-play, from nothing. The same command again goes on where it stopped.

Both seats of most tables are played by the policy that learns; on some one seat is a past self or a scripted bot. One
loop: play a while at all tables, estimate each decision's advantage, improve policy and critic, and now and then
measure the policy on mirrored deals against a fixed panel. DIR gets `checkpoint.safetensors` (everything to go on
from), `best.safetensors` (the policy that did best against the panel: play it with `ppo:path=DIR/best.safetensors`),
`last.safetensors` at the end, `log.jsonl` and TensorBoard's files.

Sources: PPO (Schulman et al., arXiv 1707.06347) with GAE (arXiv 1506.02438), whose sign flips when the turn passes, as
the game is zero-sum; regularised as in magnetic mirror descent (Sokota et al., arXiv 2206.05825), which plain policy
gradients come close to (Rudolph et al., arXiv 2502.08938); a critic that sees all cards, in training only (PerfectDou,
arXiv 2203.16406).

Started by `torchrun`, each process plays tables of its own and the gradients are averaged, so that all have the same
networks; the first one measures, logs and writes.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import math
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from safetensors import safe_open
from safetensors.numpy import save_file
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from agents import ppo
from agents.game_value import game_table
from agents.network import RANKS, Critic, Policy
from agents.registry import make
from experiments import hidden, provenance
from experiments.match import play_pairs, rules_for_two
from experiments.refusal import Refusal, refusing
from experiments.stats import share
from ginenv.envs.vector import Tables
from ginenv.jit import kernel
from ginenv.rng import below, mix
from ginenv.rules import Rules, parse_rules
from ginenv.state import N_ACTIONS, STATE, Kind

PANEL = {"simple": "simple", "patient": "simple:early=10,until=6,late=0"}
"""Whom the policy is measured against while it learns, by the names in the log."""
SCRIPTED = ("simple", "simple:early=10,until=6,late=0", "heuristic")
"""Whom it also plays with while it learns. It does not imitate them: only its own decisions are learned from."""
FORMAT = "ginenv-ppo-checkpoint-2"
_LEAST = ppo.ENCODING["least"].start


@dataclass(frozen=True)
class Settings:
    """What a run is. A run is only resumed with the same settings, but for `decisions`."""

    decisions: int = 7_000_000
    """The schedules below end here."""
    seed: int = 1
    tables: int = 256
    rules: str = "eaai"
    reward: str = "points"
    """Of a hand: its points, or (``game``) by how much it changes the chance to win the game (`agents.game_value`)."""
    pool: float = 0.1
    """Share of the tables at which one seat is a past self."""
    scripted: float = 0.15
    """Share of the tables at which one seat is one of `SCRIPTED`."""
    steps: int = 32
    """Decisions at each table between two updates."""
    batch: int = 1024
    """Decisions in one step of the optimiser."""
    epochs: int = 1
    """How often an update goes through its decisions: new ones cost little more than to go through old ones again."""
    width: int = 128
    mixing: int = 2
    critic_width: int = 64
    rate: tuple[float, float] = (1e-3, 3e-5)
    """Adam's rate at the start and at the end; it falls geometrically."""
    entropy: tuple[float, float] = (0.2, 0.005)
    """Weight of the policy's entropy, in the same way."""
    magnet: float = 0.005
    """Weight of the divergence from the magnet: a slow-moving mean of the policies so far."""
    magnet_share: float = 0.02
    """What each update adds of the new policy to the magnet."""
    clip: float = 0.2
    trace: float = 0.8
    """GAE's lambda."""
    unit: float = 30.0
    """Points that are a reward of 1; with the other reward a fifth of a game is, which is about as much."""
    potential: float = 0.5
    """What the critic starts from: this times (the opponent's - own deadwood) / unit. The network learns the rest.
    Rewards do not change. Without it self-play starts with hands that nobody ever ends."""
    reading: float = 0.05
    """Weight of a head that tells the opponent's cards from what the policy's trunk makes of a position."""
    past_selves: int = 8
    eval_pairs: int = 500
    """Mirrored pairs against each of the panel; always the same deals, so that policies are compared in pairs."""
    eval_every: int = 4_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin train`."""
    default = Settings()
    parser.add_argument("learner", choices=("ppo",), help="how to learn")
    parser.add_argument("--out", required=True, metavar="DIR", help="where to write, and to go on from")
    parser.add_argument("--decisions", type=int, default=default.decisions,
                        help=f"decisions to learn from, of both seats (default {default.decisions})")  # fmt: skip
    parser.add_argument("--minutes", type=float, help="stop after these minutes; the same command goes on later")
    parser.add_argument("--seed", type=int, default=default.seed, help="seed (default 1)")
    parser.add_argument("--tables", type=int, default=default.tables, help=f"(default {default.tables})")
    parser.add_argument("--rules", default=default.rules, help="a preset, or preset,key=value,… (default eaai)")
    parser.add_argument("--reward", choices=("points", "game"), default=default.reward,
                        help="of a hand: its points, or the change of the chance to win the game")  # fmt: skip
    parser.add_argument("--pool", type=float, default=default.pool,
                        help=f"share of tables with a past self (default {default.pool})")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Train, and say where the result is."""
    with refusing():
        settings = Settings(decisions=args.decisions, seed=args.seed, tables=args.tables, rules=args.rules,
                            reward=args.reward, pool=args.pool)  # fmt: skip
        check(settings)
    torch.set_num_threads(max(1, provenance.cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    keep_memory()
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("gloo")  # gradients are small
    deadline = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    interrupted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupted.append(number))
    try:
        done = train(settings, Path(args.out), lambda: bool(interrupted) or time.monotonic() >= deadline,
                     shlex.join(["gin", *args.argv]))  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
        if dist.is_initialized():
            dist.destroy_process_group()
    if int(os.environ.get("RANK", "0")) > 0:
        return 0
    if done >= settings.decisions:
        print(f"done: play it with ppo:path={args.out}/best.safetensors")
    else:
        print(f"stopped after {done:,} decisions of {settings.decisions:,}; the same command goes on")
    return 0


def keep_memory() -> None:
    """Ask the C library, where it is glibc, to keep freed memory: asking the system anew costs a third of the time."""
    mmap_threshold, trim_threshold, large = -3, -1, 1 << 30
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, large)
        mallopt(trim_threshold, large)


def check(settings: Settings) -> None:
    """Raise ValueError unless a run with these settings makes sense."""
    rules = rules_for_two(settings.rules)
    if settings.decisions < 1:
        raise ValueError(f"--decisions {settings.decisions}: give 1 or more")
    if settings.tables < 1:
        raise ValueError(f"--tables {settings.tables}: give 1 or more")
    if settings.reward == "game":
        game_table(rules)
    if not 0 <= settings.pool <= 1:
        raise ValueError(f"--pool {settings.pool}: a share from 0 to 1 is possible")
    if not 0 <= settings.seed < 1 << 63:
        raise ValueError(f"--seed {settings.seed} is out of range: 0 to 2**63 - 1 is possible")


def train(settings: Settings, out: Path, stop: Callable[[], bool] = lambda: False, command: str = "") -> int:
    """Train until ``settings.decisions``, from the checkpoint in ``out`` where there is one.

    Args:
        settings: What to do.
        out: Folder to write to; made where there is none.
        stop: Asked before each round of play: when it says so, a checkpoint is written and this returns.
        command: What the user typed, for the record.

    Returns:
        The decisions made so far, those of earlier runs included.

    Raises:
        Refusal: when ``out`` holds another run, or the run has diverged; the last good checkpoint is then kept.
    """
    rules = parse_rules(settings.rules)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rank, processes = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    torch.manual_seed(settings.seed)  # of the networks' first weights
    policy = Policy(settings.width, settings.mixing).to(device)
    critic = Critic(hidden.SUIT_SIZE, len(hidden.COMMON), settings.critic_width).to(device)
    magnet = Policy(settings.width, settings.mixing).to(device)
    magnet.load_state_dict(policy.state_dict())
    past = Policy(settings.width, settings.mixing).to(device)  # holds one of the pool at a time
    pool: list[dict[str, Tensor]] = []
    reader = torch.nn.Linear(settings.width, RANKS).to(device)  # a suit's vector to the opponent's cards of the suit
    learned = [*policy.parameters(), *critic.parameters(), *reader.parameters()]
    adam = torch.optim.Adam(learned, lr=settings.rate[0], eps=1e-5, fused=True)
    own_seed = settings.seed if rank == 0 else mix(settings.seed, rank) >> 1 & ((1 << 62) - 1)
    generator = torch.Generator().manual_seed(own_seed)  # of all chance but the deals
    by_game = settings.reward == "game"
    tables = Tables(settings.tables, rules, own_seed, "game" if by_game else "hand", ppo.ENCODING.name)
    decisions, seconds, best = 0, 0.0, -1.0

    # --- Where an earlier run stopped ---

    out.mkdir(parents=True, exist_ok=True)
    run_ = Run(settings, policy, critic, magnet, reader, pool, adam, generator, tables, rank)
    if (out / "checkpoint.safetensors").exists():
        progress = run_.load(out)
        decisions, seconds, best = progress["decisions"], progress["seconds"], progress["best"]
    log = Log(out, decisions) if rank == 0 else None
    if log and decisions == 0:
        log.write({"settings": dataclasses.asdict(settings), "command": command, **provenance.versions(),
                   **provenance.machine()})  # fmt: skip

    n, steps = settings.tables, settings.steps
    # Who else plays: at the first tables a past self, then the scripted bots in turn; in either seat.
    n_past, n_scripted = round(settings.pool * n), round(settings.scripted * n)
    other = np.full(n, -1)
    other[:n_past] = len(SCRIPTED)
    other[n_past : n_past + n_scripted] = np.arange(n_scripted) % len(SCRIPTED)
    other_seat = np.where(other < 0, -1, np.arange(n) // len(SCRIPTED) % 2)
    scripted = [make(spec) for spec in SCRIPTED]
    unseen = np.zeros((n, hidden.SIZE), dtype=np.int8)
    # Positions, as the networks want them: what the policy sees stands first, what only the critic sees behind it.
    suits = torch.zeros((steps + 1, n, 4, ppo.SUIT_SIZE + hidden.SUIT_SIZE))
    shared = torch.zeros((steps + 1, n, ppo.SHARED_SIZE + hidden.SUIT_SIZE + len(hidden.COMMON)))
    leads = torch.zeros((steps + 1, n))  # the opponent's less the mover's own least deadwood, in points
    masks = torch.zeros((steps, n, N_ACTIONS), dtype=torch.bool)
    actions = torch.zeros((steps, n), dtype=torch.int64)
    old_logs = torch.zeros((steps, n))
    rewards = np.zeros((steps, n), dtype=np.float32)
    signs = np.zeros((steps, n), dtype=np.float32)  # of the next position's value, as the mover sees it; 0 at the end
    learns = np.zeros((steps, n), dtype=bool)  # decisions of the learner, not of a past self
    chances = win_chances(tables, rules) if by_game else None  # to win the game, as the hands began
    # The same number in all processes, whoever was to act: half of the decisions at tables with others are theirs.
    n_batches = max(1, round(steps * (n - (n_past + n_scripted) / 2) / settings.batch))

    while decisions < settings.decisions:
        if any_process(stop()):
            run_.save(out, decisions, seconds, best)
            break
        iteration_started = time.monotonic()
        done_share = decisions / settings.decisions
        rate, entropy_weight = (a * (b / a) ** done_share for a, b in (settings.rate, settings.entropy))

        # --- Play ---

        if pool:
            past.load_state_dict(pool[int(torch.randint(len(pool), (1,), generator=generator))])
        finished = np.zeros(len(Kind), dtype=np.int64)
        for t in range(steps + 1):
            hidden.write_hidden(tables.states, rules.record, unseen)
            lay_out_all(tables.observations, unseen, suits[t].numpy(), shared[t].numpy(), leads[t].numpy())
            if t == steps:
                break
            masks[t] = torch.from_numpy(tables.action_masks).bool()
            seats = tables.seats.astype(np.int64)
            with torch.no_grad():
                logits = policy(suits[t].to(device), shared[t].to(device)).cpu()
                others = np.where(seats == other_seat, other, -1)  # who acts, where it is not the learner
                theirs = np.flatnonzero(others == len(SCRIPTED)) if pool else np.zeros(0, dtype=np.int64)
                if len(theirs):
                    logits[theirs] = past(suits[t, theirs].to(device), shared[t, theirs].to(device)).cpu()
                logs = log_probabilities(logits, masks[t])
                # Exponentials race: the first is of action a with a's probability.
                race = -torch.rand(logs.shape, generator=generator).log()
                actions[t] = (logs.exp() / race).masked_fill(~masks[t], -1).argmax(1)
                old_logs[t] = logs.gather(1, actions[t, :, None])[:, 0]
            learns[t] = True
            learns[t, theirs] = False
            keys = torch.randint(1 << 62, (n,), generator=generator).numpy()
            for i, bot in enumerate(scripted):
                at = np.flatnonzero(others == i)
                actions[t, at] = torch.from_numpy(bot.act(tables.views[at], rules, keys[at]))
                learns[t, at] = False
            tables.step(actions[t].numpy())
            ended = tables.kinds != 0
            if chances is None:
                scored = tables.rewards / settings.unit
            else:
                now = win_chances(tables, rules)
                over = 0.5 + 0.5 * np.sign(tables.returns)
                scored = np.where(ended[:, None], np.where(tables.dones[:, None], over, now) - chances, 0) / 0.2
                chances = np.where(ended[:, None], now, chances)
            rewards[t] = scored[np.arange(n), seats]
            signs[t] = np.where(ended, 0, np.where(tables.seats == seats, 1, -1))
            finished += np.bincount(tables.kinds, minlength=len(Kind))
        decisions += steps * n * processes

        # --- Advantages ---

        with torch.no_grad():
            values = np.stack([
                (settings.potential / settings.unit * leads[t]
                 + critic(suits[t].to(device), shared[t].to(device)).cpu()).numpy()
                for t in range(steps + 1)
            ])  # fmt: skip
        advantages = np.zeros((steps, n), dtype=np.float32)
        later = np.zeros(n, dtype=np.float32)
        for t in reversed(range(steps)):
            surprise = rewards[t] + signs[t] * values[t + 1] - values[t]
            later = surprise + settings.trace * signs[t] * later
            advantages[t] = later
        returns = torch.from_numpy(advantages + values[:-1]).flatten()
        # What is left to the critic's network.
        targets = returns - settings.potential / settings.unit * leads[:-1].flatten()
        mine = torch.from_numpy(np.flatnonzero(learns))
        flat = torch.from_numpy(advantages).flatten()
        flat = (flat - flat[mine].mean()) / (flat[mine].std() + 1e-8)
        explained = 1 - np.var(advantages) / (np.var(returns.numpy()) + 1e-8)

        # --- Improve ---

        for group in adam.param_groups:
            group["lr"] = rate
        flat_suits, flat_shared = suits[:-1].flatten(0, 1), shared[:-1].flatten(0, 1)
        legal, chosen, old = masks.flatten(0, 1), actions.flatten(), old_logs.flatten()
        sums: dict[str, Tensor] = {}
        for _ in range(settings.epochs):
            order = mine[torch.randperm(len(mine), generator=generator)]
            for rows in order.tensor_split(n_batches):
                x = flat_suits[rows].to(device), flat_shared[rows].to(device)
                mask = legal[rows].to(device)
                h = policy.trunk(*x)
                logs = log_probabilities(policy.heads(h), mask)
                taken = logs.gather(1, chosen[rows, None].to(device))[:, 0]
                ratio = (taken - old[rows].to(device)).exp()
                gain = flat[rows].to(device)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -torch.minimum(ratio * gain, clipped * gain).mean()
                entropy = -(logs.exp() * logs).sum(1).mean()
                # A quarter of the batch tells the divergence well enough, at a quarter of the price.
                some = slice(0, 1 + len(rows) // 4)
                with torch.no_grad():
                    magnet_logs = log_probabilities(magnet(x[0][some], x[1][some]), mask[some])
                drift = (logs[some].exp() * (logs[some] - magnet_logs)).sum(1).mean()
                value_loss = (critic(*x) - targets[rows].to(device)).square()
                held = x[0][:, :, ppo.SUIT_SIZE : ppo.SUIT_SIZE + RANKS]  # the opponent's hand, as the critic sees it
                reading_loss = torch.nn.functional.binary_cross_entropy_with_logits(reader(h), held)
                loss = (policy_loss - entropy_weight * entropy + settings.magnet * drift
                        + settings.reading * reading_loss + 0.5 * value_loss.mean())  # fmt: skip
                adam.zero_grad()
                loss.backward()
                average([p.grad for p in learned if p.grad is not None])
                torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                torch.nn.utils.clip_grad_norm_(critic.parameters(), 0.5)
                adam.step()
                with torch.no_grad():
                    parts = {"loss": loss, "policy_loss": policy_loss, "value_loss": value_loss.mean(),
                             "reading_loss": reading_loss, "entropy": entropy, "magnet_kl": drift,
                             "kl": (ratio - 1 - ratio.log()).mean(),
                             "clipped": ((ratio - 1).abs() > settings.clip).float().mean()}  # fmt: skip
                    for name, part in parts.items():
                        sums[name] = sums.get(name, torch.zeros((), device=device)) + part
        with torch.no_grad():
            for slow, fast in zip(magnet.parameters(), policy.parameters(), strict=True):
                slow.lerp_(fast, settings.magnet_share)
        average(list(sums.values()))
        means = {name: float(total) / (settings.epochs * n_batches) for name, total in sums.items()}
        if not all(math.isfinite(mean) for mean in means.values()) or not finite(policy):
            raise Refusal(f"training diverged after {decisions:,} decisions: the last good checkpoint in {out} is kept")
        took = time.monotonic() - iteration_started
        seconds += took
        hands = max(1, int(finished[1:].sum()))
        row = {"decisions": decisions, "seconds": round(seconds, 1),
               "decisions_per_second": round(steps * n * processes / took),
               "rate": rate, "entropy_weight": entropy_weight, **means, "explained_variance": float(explained),
               **{f"hands_{kind.name.lower()}": int(finished[kind]) / hands for kind in Kind if kind != Kind.NONE},
               "decisions_per_hand": steps * n / hands}  # fmt: skip

        # --- Measure and keep ---

        before = decisions - steps * n * processes
        if decisions // settings.eval_every > before // settings.eval_every or decisions >= settings.decisions:
            if rank == 0:
                strength = evaluate(policy, settings)
                row |= {f"wins_{name}": won for name, won in strength.items()}
                mean = sum(strength.values()) / len(strength)
                if mean > best:
                    best = mean
                    save_policy(policy, out / "best.safetensors", settings, {**row, "command": command})
                if decisions >= settings.decisions:
                    save_policy(policy, out / "last.safetensors", settings, {**row, "command": command})
            if settings.pool > 0:
                if len(pool) == settings.past_selves:  # make room at random: some old ones stay
                    del pool[below(mix(settings.seed, decisions), 0, len(pool))]
                pool.append({name: tensor.clone() for name, tensor in policy.state_dict().items()})
            run_.save(out, decisions, seconds, best)
        if log:
            log.write(row)
            log.show(row, settings)
    if log:
        log.close()
    return decisions


def average(tensors: list[Tensor]) -> None:
    """Replace each tensor by its mean over all processes, where there are several."""
    if dist.is_initialized():
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        parts = (flat / dist.get_world_size()).split([tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.copy_(part.view_as(tensor))


def any_process(flag: bool) -> bool:
    """Return whether the flag is set in any process: they must stop together."""
    if dist.is_initialized():
        flags = torch.tensor([float(flag)])
        dist.all_reduce(flags)
        return bool(flags[0] > 0)
    return flag


def win_chances(tables: Tables, rules: Rules) -> np.ndarray:
    """Return both seats' chances to win the game as the present hands began: float64, shape (n, 2)."""
    table, states = game_table(rules), tables.states
    first = table[states["dealer"].astype(np.int64), states["scores"][:, 0], states["scores"][:, 1]]
    return np.stack([first, 1 - first], axis=1)


def log_probabilities(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the log of each action's probability, float32, shape (n, 108); about -60 for illegal ones.

    That is as good as nothing, and `exp` of much less is many times slower.
    """
    return torch.log_softmax(logits.masked_fill(~mask, -60.0), 1)


@kernel
def lay_out_all(observations, unseen, suits, shared, leads):
    """Write positions for the networks, and by how much the seats to act lead in deadwood.

    Args:
        observations: int8, shape (n, `ppo.ENCODING.size`).
        unseen: int8, shape (n, `hidden.SIZE`).
        suits, shared: Written: float32, shape (n, 4, …) and (n, …), the hidden part behind the seen one.
        leads: Written: float32, shape (n,): the opponent's less the mover's own least deadwood, in points.
    """
    for i in range(observations.shape[0]):
        ppo.lay_out(observations[i], suits[i], shared[i])
        hidden.lay_out(unseen[i], suits[i, :, ppo.SUIT_SIZE :], shared[i], ppo.SHARED_SIZE)
        leads[i] = np.float32(unseen[i, hidden.DEADWOOD]) - observations[i, _LEAST]


def evaluate(policy: Policy, settings: Settings) -> dict[str, float]:
    """Return the share of games that the policy wins, always choosing its likeliest action, by opponent."""
    agent = ppo.native("ppo", as_numpy(policy))
    rules = parse_rules(settings.rules)
    found = {}
    for name, spec in PANEL.items():
        games, _ = play_pairs(agent, make(spec), rules, 1 << 32, 0, settings.eval_pairs)
        found[name] = float((games["winner"] == 0).mean() + 0.5 * (games["winner"] < 0).mean())
    return found


def finite(policy: Policy) -> bool:
    """Return whether all weights are finite numbers."""
    return all(bool(torch.isfinite(p).all()) for p in policy.parameters())


def as_numpy(policy: Policy) -> dict[str, np.ndarray]:
    """Return a policy's tensors as `agents.ppo` wants them."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in policy.state_dict().items()}


def save_policy(policy: Policy, path: Path, settings: Settings, notes: Mapping[str, Any]) -> None:
    """Write a policy for `agents.ppo`, with what made it."""
    metadata = {"format": ppo.FORMAT, "encoding": ppo.ENCODING.name, "rules": settings.rules,
                "settings": json.dumps(dataclasses.asdict(settings)), "notes": json.dumps(notes)}  # fmt: skip
    write(as_numpy(policy), path, metadata)


def write(tensors: Mapping[str, np.ndarray], path: Path, metadata: Mapping[str, str]) -> None:
    """Write a safetensors file beside ``path`` and rename it: whoever is killed leaves the old file whole."""
    beside = path.with_name(f"{path.name}.new")
    save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, beside, dict(metadata))
    with open(beside, "rb") as file:
        os.fsync(file.fileno())
    os.replace(beside, path)


@dataclass
class Run:
    """All that a checkpoint holds. Numbers and JSON only, so loading one executes nothing.

    The first process writes `checkpoint.safetensors`, every other one its generator and tables to a file of its own.
    """

    settings: Settings
    policy: Policy
    critic: Critic
    magnet: Policy
    reader: torch.nn.Linear
    pool: list[dict[str, Tensor]]
    adam: torch.optim.Adam
    generator: torch.Generator
    tables: Tables
    rank: int

    def _networks(self) -> Iterator[tuple[str, torch.nn.Module]]:
        yield from (
            ("policy", self.policy),
            ("critic", self.critic),
            ("magnet", self.magnet),
            ("reader", self.reader),
        )

    def save(self, out: Path, decisions: int, seconds: float, best: float) -> None:
        """Write a checkpoint into folder ``out``."""
        tensors: dict[str, np.ndarray] = {"generator": self.generator.get_state().numpy()}
        snapshot = self.tables.snapshot()
        tensors |= {"tables.states": snapshot["states"].view(np.uint8), "tables.episodes": snapshot["episodes"]}
        progress = {"decisions": decisions, "seconds": seconds, "best": best, "past_selves": len(self.pool)}
        metadata = {"format": FORMAT, "encoding": ppo.ENCODING.name, "progress": json.dumps(progress),
                    "settings": json.dumps(dataclasses.asdict(self.settings))}  # fmt: skip
        if self.rank > 0:
            write(tensors, out / f"checkpoint-{self.rank}.safetensors", metadata)
            return
        for name, network in self._networks():
            tensors |= {f"{name}.{key}": tensor.cpu().numpy() for key, tensor in network.state_dict().items()}
        for number, weights in enumerate(self.pool):
            tensors |= {f"pool.{number}.{key}": tensor.cpu().numpy() for key, tensor in weights.items()}
        for number, moments in self.adam.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{key}": tensor.cpu().numpy() for key, tensor in moments.items()}
        write(tensors, out / "checkpoint.safetensors", metadata)

    def load(self, out: Path) -> dict[str, Any]:
        """Go back to the checkpoint in folder ``out``; returns how far it was.

        A process that has no file of this point, as there were fewer or one was killed, goes on from new deals.

        Raises:
            Refusal: when it is of another run.
        """
        path = out / "checkpoint.safetensors"
        tensors, metadata = read(path)
        if metadata.get("format") != FORMAT or metadata.get("encoding") != ppo.ENCODING.name:
            raise Refusal(f"{path} is no checkpoint of this learner and encoding: give another --out")
        theirs = json.loads(metadata["settings"])
        ours = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        for name in ours:
            if name != "decisions" and theirs.get(name) != ours[name]:
                raise Refusal(
                    f"{path} is of a run with {name}={theirs.get(name)}, not {ours[name]}: give another --out, "
                    "or the same options"
                )
        progress: dict[str, Any] = json.loads(metadata["progress"])

        def part(prefix: str) -> dict[str, Tensor]:
            found = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
            return dict(sorted(found.items()))

        for name, network in self._networks():
            network.load_state_dict(part(f"{name}."))
        self.pool[:] = [part(f"pool.{number}.") for number in range(progress["past_selves"])]
        moments = {n: part(f"adam.{n}.") for n in range(len(self.adam.param_groups[0]["params"]))}
        self.adam.load_state_dict({"state": moments, "param_groups": self.adam.state_dict()["param_groups"]})
        if self.rank > 0:
            own = out / f"checkpoint-{self.rank}.safetensors"
            tensors, metadata = read(own) if own.exists() else ({}, {})
            if json.loads(metadata.get("progress", "{}")).get("decisions") != progress["decisions"]:
                self.tables.reset(mix(self.tables.seed, progress["decisions"]) >> 1 & ((1 << 62) - 1))
                return progress
        self.generator.set_state(tensors["generator"])
        states = tensors["tables.states"].numpy().view(STATE)
        self.tables.restore({"states": states, "episodes": tensors["tables.episodes"].numpy()})
        return progress


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file. Raises Refusal when it is none."""
    try:
        with safe_open(path, "numpy") as file:
            return {key: torch.from_numpy(file.get_tensor(key)) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except Exception as error:  # the package's own, of no common kind
        raise Refusal(f"{path} cannot be read: {error}") from error


class Log:
    """The run's log: lines of JSON, TensorBoard, and what the terminal shows."""

    def __init__(self, out: Path, decisions: int) -> None:
        """Open the log in ``out``, and forget what a killed run wrote after the checkpoint at ``decisions``."""
        path = out / "log.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() and decisions else []
        kept = [line for line in lines if line.endswith("}") and json.loads(line).get("decisions", 0) <= decisions]
        path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        self._path = path
        self._board = SummaryWriter(str(out / "tensorboard"), purge_step=decisions or None)
        self._strength = ""

    def write(self, row: Mapping[str, Any]) -> None:
        """Add a row; numbers beside its ``decisions`` go to TensorBoard, too."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if "decisions" in row:
            for name, number in row.items():
                self._board.add_scalar(name, number, row["decisions"])

    def show(self, row: Mapping[str, Any], settings: Settings) -> None:
        """Show progress: a line that is overwritten on a terminal, one for each measurement elsewhere."""
        measured = [f"{name} {100 * row[f'wins_{name}']:.1f} %" for name in PANEL if f"wins_{name}" in row]
        if measured:
            # ± of a share of this many games, without the gain from mirrored deals.
            half = share(np.repeat([0.0, 1.0], settings.eval_pairs)).high - 0.5
            self._strength = f"wins: {', '.join(measured)} (± {100 * half:.1f})"
        text = (
            f"{row['decisions']:>13,} of {settings.decisions:,} decisions  {row['seconds'] / 60:6.1f} min  "
            f"{row['decisions_per_second']:,}/s  {self._strength}"
        )
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="\n" if measured else "", file=sys.stderr, flush=True)
        elif measured:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Write out and close."""
        self._board.close()
