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

Started by `torchrun`, each process plays tables of its own and learns from them, and after each round all go on with
the mean of their networks; the first one measures, logs and writes.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from agents import ppo
from agents.network import RANKS, Critic, Policy
from agents.registry import make
from experiments import hidden, training
from experiments.hand_worth import ITSELF, HandWorth
from experiments.refusal import Refusal
from experiments.training import (
    Run,
    agree,
    any_process,
    average,
    finite,
    lay_out_all,
    measure,
    own_seed,
    positions,
    undamaged,
)
from ginenv.envs.opponent import ask
from ginenv.envs.vector import Tables
from ginenv.jit import kernel
from ginenv.rng import below, mix
from ginenv.rules import parse_rules
from ginenv.state import N_ACTIONS, Kind

SCRIPTED = ("simple", "simple", "simple:early=10,until=6,late=0", "heuristic", "heuristic")
"""Whom it also plays with while it learns, some more often. It does not imitate them: only its own decisions are
learned from."""

SOLVE_EVERY = 500_000
"""Decisions after which the chances to win games are solved anew (`experiments.hand_worth`)."""


@dataclass(frozen=True)
class Settings(training.Settings):
    """What a run is, beside what all learners share."""

    reward: str = "points"
    """Of a hand: its points, or (``game``) by how much it changes the chance to win the game against whom it is played
    (`experiments.hand_worth`); a fifth of a game is then a reward of 1, which is about as much as `unit`."""
    batch: int = 256
    """Decisions for one step of the optimiser, of which it looks at those that `sure` leaves."""
    sure: float = 0.0625
    """Share of the decisions it was certain of that it learns from (`draw_decisions`). 1: it learns from all."""
    pool: float = 0.05
    """Share of the tables at which one seat is a past self."""
    scripted: float = 0.3
    """Share of the tables at which one seat is one of `SCRIPTED`."""
    against: str = ""
    """Spec of an agent that has one seat at every table, in the place of past selves and scripted bots, and whom the
    policy is measured against: what is learned is how to beat it (`gin exploit`)."""
    epochs: int = 1
    """How often an update goes through its decisions: new ones cost little more than to go through old ones again."""
    critic_width: int = 96
    entropy: tuple[float, float] = (0.2, 0.005)
    """Weight of the policy's entropy at the start and at the end; it falls as the rate does."""
    magnet: float = 0.005
    """Weight of the divergence from the magnet: a slow-moving mean of the policies so far."""
    magnet_share: float = 0.02
    """What each update adds of the new policy to the magnet."""
    clip: float = 0.2
    potential: float = 0.5
    """What the critic starts from: this times (the opponent's - own deadwood) / unit. The network learns the rest.
    Rewards do not change. Without it self-play starts with hands that nobody ever ends."""
    reading: float = 0.05
    """Weight of a head that tells the opponent's cards from what the policy's trunk makes of a position."""
    past_selves: int = 8
    start: str = ""
    """Checkpoint file of another run: the networks begin as they are there (`first_or_second_phase`)."""

    @property
    def panel(self) -> dict[str, str]:
        """Whom the policy is measured against, by the names in the log."""
        return {"opponent": self.against} if self.against else super().panel


def first_or_second_phase(start: str | None, out: Path, **others: Any) -> Settings:
    """Return the settings to learn from nothing, or those of a second phase, from another run's checkpoint on.

    Self-play leaves a policy that is hard to beat; against whom it will meet there is more to win. So a second phase
    has small rates, and plays mostly against scripted bots.

    Args:
        start: The checkpoint file, or None: from nothing.
        out: The run's folder: once it has a checkpoint of its own, ``start`` need not be there any more.
        others: Further settings.

    Raises:
        ValueError: when there is no such file.
    """
    if start is None:
        return Settings(**others)
    if not (out / "checkpoint.safetensors").exists() and not Path(start).is_file():
        raise ValueError(f"--start {start}: there is no such file: give a run's checkpoint.safetensors")
    return Settings(start=os.path.abspath(start), rate=(3e-4, 1e-5), entropy=(0.01, 0.002), scripted=0.9, **others)


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
    reader = torch.nn.Linear(settings.width, RANKS).to(device)  # a suit's vector to the opponent's cards of the suit
    past = Policy(settings.width, settings.mixing).to(device)  # holds one of the pool at a time
    networks = {"policy": policy, "critic": critic, "magnet": magnet, "reader": reader}
    pool: list[dict[str, Tensor]] = []
    learned = [*policy.parameters(), *critic.parameters(), *reader.parameters()]
    adam = torch.optim.Adam(learned, lr=settings.rate[0], eps=1e-5, fused=True)
    generator = torch.Generator().manual_seed(own_seed(settings.seed, rank))  # of all chance but the deals
    n, steps = settings.tables, settings.steps
    episode = "game" if settings.reward == "game" else "hand"
    tables = Tables(n, rules, own_seed(settings.seed, rank), episode, ppo.ENCODING.name)

    # Who else plays: at the first tables a past self, then the scripted bots in turn; in either seat.
    n_past, n_scripted = (0, n) if settings.against else (round(settings.pool * n), round(settings.scripted * n))
    bots = (settings.against,) if settings.against else SCRIPTED
    scripted = [make(spec) for spec in bots]
    n_scripted = min(n_scripted, n - n_past)
    other = np.full(n, -1)
    other[:n_past] = len(scripted)
    other[n_past : n_past + n_scripted] = np.arange(n_scripted) % len(scripted)
    other_seat = np.where(other < 0, -1, np.arange(n) // len(scripted) % 2)
    worth = None
    if settings.reward == "game":
        alike = [*(bots.index(spec) for spec in bots), ITSELF, ITSELF]  # a past self, itself
        worth = HandWorth(rules, np.array(alike)[other], (other_seat == 0).astype(np.int64))

    # --- Where an earlier run stopped ---

    counts = {"hands.lately": worth.lately, "hands.solved": worth.solved} if worth else {}
    run_ = Run("ppo", settings, networks, pool, adam, generator, tables, rank, counts)
    decisions, seconds, best, log = run_.resume(out, command, settings.start)
    if worth:
        with undamaged(run_.own_file(out)):
            worth.use()

    unseen = np.zeros((n, hidden.SIZE), dtype=np.int8)
    suits, shared = positions(settings)
    leads = torch.zeros((steps + 1, n))  # the opponent's less the mover's own least deadwood, in points
    masks = torch.zeros((steps, n, N_ACTIONS), dtype=torch.bool)
    actions = torch.zeros((steps, n), dtype=torch.int64)
    old_logs = torch.zeros((steps, n))
    rewards = np.zeros((steps, n), dtype=np.float32)
    signs = np.zeros((steps, n), dtype=np.float32)  # of the next position's value, as the mover sees it; 0 at the end
    learns = np.zeros((steps, n), dtype=bool)  # decisions of the learner, not of a past self
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
            others = np.where(seats == other_seat, other, -1)  # who acts, where it is not the learner
            theirs = np.flatnonzero(others == len(scripted)) if pool else np.zeros(0, dtype=np.int64)
            ours = np.flatnonzero((others < 0) | (others == len(scripted)) & (not pool))
            logits = torch.zeros((n, N_ACTIONS))
            with torch.no_grad():
                for network, rows in ((policy, ours), (past, theirs)):
                    if len(rows):
                        logits[rows] = network(suits[t, rows].to(device), shared[t, rows].to(device)).cpu()
            draw(logits.numpy(), tables.action_masks, torch.rand(n, generator=generator).numpy(), actions[t].numpy(),
                 old_logs[t].numpy())  # fmt: skip
            learns[t] = True
            learns[t, theirs] = False
            keys = torch.randint(1 << 62, (n,), generator=generator).numpy()
            for i, bot in enumerate(scripted):
                at = np.flatnonzero(others == i)
                if len(at):
                    actions[t, at] = torch.from_numpy(ask(bot, tables.views[at], rules, keys[at]))
                learns[t, at] = False
            if worth:
                worth.look(tables)
            tables.step(actions[t].numpy())
            scored = worth.change(tables) / 0.2 if worth else tables.rewards / settings.unit
            rewards[t] = scored[np.arange(n), seats]
            signs[t] = np.where(tables.kinds != 0, 0, np.where(tables.seats == seats, 1, -1))
            finished += np.bincount(tables.kinds, minlength=len(Kind))
        decisions += steps * n * processes

        # --- Advantages ---

        with torch.no_grad():
            parts = zip(suits.flatten(0, 1).split(1024), shared.flatten(0, 1).split(1024), strict=True)
            judgement = torch.cat([critic(x.to(device), y.to(device)).cpu() for x, y in parts]).view(steps + 1, n)
            values = (settings.potential / settings.unit * leads + judgement).numpy()
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
        drawn, weights = draw_decisions(old_logs.flatten()[mine], settings.sure, generator)
        looked_at, counts_for = mine[drawn], torch.zeros(steps * n)
        counts_for[mine] = weights
        # Of the others' positions the critic learns where there are no tables of self-play to know them from.
        judged = torch.from_numpy(np.flatnonzero(~learns)) if settings.against else mine[:0]
        judged = judged[torch.rand(len(judged), generator=generator) < drawn.float().mean()]
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
            order = looked_at[torch.randperm(len(looked_at), generator=generator)]
            judged = judged[torch.randperm(len(judged), generator=generator)] if len(judged) else judged
            for rows, also in zip(order.tensor_split(n_batches), judged.tensor_split(n_batches), strict=True):
                x = flat_suits[rows].to(device), flat_shared[rows].to(device)
                mask, weight = legal[rows].to(device), counts_for[rows].to(device)
                h = policy.trunk(*x)
                logs = log_probabilities(policy.heads(h, x[0]), mask)
                taken = logs.gather(1, chosen[rows, None].to(device))[:, 0]
                ratio = (taken - old[rows].to(device)).exp()
                gain = flat[rows].to(device)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -(weight * torch.minimum(ratio * gain, clipped * gain)).mean()
                entropy = -(weight * (logs.exp() * logs).sum(1)).mean()
                # A quarter of the batch tells the divergence well enough, at a quarter of the price.
                some = slice(0, 1 + len(rows) // 4)
                with torch.no_grad():
                    magnet_logs = log_probabilities(magnet(x[0][some], x[1][some]), mask[some])
                drift = (weight[some] * (logs[some].exp() * (logs[some] - magnet_logs)).sum(1)).mean()
                value_loss = (critic(*x) - targets[rows].to(device)).square()
                if len(also):
                    theirs_too = critic(flat_suits[also].to(device), flat_shared[also].to(device))
                    value_loss = torch.cat([value_loss, (theirs_too - targets[also].to(device)).square()])
                held = x[0][:, :, ppo.SUIT_SIZE : ppo.SUIT_SIZE + RANKS]  # the opponent's hand, as the critic sees it
                reading_loss = torch.nn.functional.binary_cross_entropy_with_logits(reader(h), held)
                loss = (policy_loss - entropy_weight * entropy + settings.magnet * drift
                        + settings.reading * reading_loss + 0.5 * value_loss.mean())  # fmt: skip
                adam.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
                torch.nn.utils.clip_grad_norm_(critic.parameters(), 0.5)
                adam.step()
                with torch.no_grad():
                    figures = {"loss": loss, "policy_loss": policy_loss, "value_loss": value_loss.mean(),
                             "reading_loss": reading_loss, "entropy": entropy, "magnet_kl": drift,
                             "kl": (weight * (ratio - 1 - ratio.log())).mean(),
                             "clipped": (weight * ((ratio - 1).abs() > settings.clip)).mean()}  # fmt: skip
                    for name, figure in figures.items():
                        sums[name] = sums.get(name, torch.zeros((), device=device)) + figure
        agree(adam)
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
        if worth and decisions // SOLVE_EVERY > before // SOLVE_EVERY:
            worth.renew()
        if decisions // settings.eval_every > before // settings.eval_every or decisions >= settings.decisions:
            if rank == 0:
                best = measure(policy, settings, out, row, {"command": command}, best)
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


def draw_decisions(logs: Tensor, sure: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return which decisions are learned from, and how much each of them counts.

    How much an action can move the policy goes with how unlikely it was, and most are as good as certain. So of the
    likely ones only some are drawn, and count for more: in the mean the policy's gradient is that of all decisions
    (importance sampling, as in Katharopoulos and Fleuret, arXiv 1803.00942), at a quarter of the work.

    Args:
        logs: float32, shape (n,): the logs of the probabilities that the actions had.
        sure: The least share that is drawn. An action that had two chances of three or less is drawn always.
        generator: Of the draw.

    Returns:
        ``(drawn, weights)``: bool, shape (n,), and float32, shape (n,): 0 where not drawn, and such that the mean of
        weighted values over what is drawn is on average their mean over all.
    """
    chance = (3 - 3 * logs.exp()).clamp(sure, 1)
    drawn = torch.rand(len(logs), generator=generator) < chance
    if not drawn.any():  # of a handful, at one or two tables: the critic learns from them, the policy does not
        return torch.ones_like(drawn), torch.zeros_like(logs)
    return drawn, drawn / chance * drawn.float().mean()


def log_probabilities(logits: Tensor, mask: Tensor) -> Tensor:
    """Return the log of each action's probability, float32, shape (n, 108); about -60 for illegal ones.

    That is as good as nothing, and `exp` of much less is many times slower.
    """
    return torch.log_softmax(logits.masked_fill(~mask, -60.0), 1)


@kernel
def draw(logits, masks, uniforms, actions, logs):
    """Draw an action at each table by the policy's probabilities.

    Args:
        logits: float32, shape (n, 108).
        masks: int8, shape (n, 108): which actions are legal.
        uniforms: float32, shape (n,), from [0, 1).
        actions: int64, shape (n,), written.
        logs: float32, shape (n,), written: the log of the action's probability.
    """
    for i in range(len(actions)):
        legal = np.flatnonzero(masks[i])
        best = np.float32(-np.inf)
        for action in legal:
            best = max(best, logits[i, action])
        total = 0.0
        for action in legal:
            total += np.exp(np.float64(logits[i, action] - best))
        left = uniforms[i] * total
        for action in legal:
            actions[i] = action
            left -= np.exp(np.float64(logits[i, action] - best))
            if left < 0:
                break
        logs[i] = logits[i, actions[i]] - best - np.log(total)
