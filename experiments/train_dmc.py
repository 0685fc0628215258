"""`gin train dmc`: a second, different learner: what each action is worth, learned from how hands then went.

No policy, no critic: one network tells for every action of a position how many points the hand will bring to who takes
it, as in DouZero's deep Monte Carlo (Zha et al., arXiv 2106.06135), and the best one is played, except that now and
then any legal one is. Targets are TD(lambda) returns along each table's decisions, whose sign flips when the turn
passes: with a lambda of 1 they would be the hands' results alone.

The network is that of `gin train ppo`, so the same agent plays it (`ppo:path=DIR/last.safetensors`), and logs,
checkpoints and measurements are the same (`experiments.training`). A baseline and a check: see docs/training.md for
how the two compare.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from agents import ppo
from agents.network import Policy
from experiments import hidden, training
from experiments.refusal import Refusal
from experiments.training import Run, agree, any_process, average, finite, lay_out_all, measure, own_seed, positions
from ginenv.envs.vector import Tables
from ginenv.rules import parse_rules
from ginenv.state import N_ACTIONS, Kind


@dataclass(frozen=True)
class Settings(training.Settings):
    """What a run is, beside what all learners share."""

    explore: tuple[float, float] = (0.2, 0.01)
    """Share of decisions that are any legal action, at the start and at the end; it falls as the rate does."""


def train(settings: Settings, out: Path, stop: Callable[[], bool] = lambda: False, command: str = "") -> int:
    """Train until ``settings.decisions``, from the checkpoint in ``out`` where there is one.

    Args, return value and errors are those of `experiments.train_ppo.train`.
    """
    rules = parse_rules(settings.rules)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rank, processes = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
    torch.manual_seed(settings.seed)  # of the network's first weights
    network = Policy(settings.width, settings.mixing).to(device)
    adam = torch.optim.Adam(network.parameters(), lr=settings.rate[0], eps=1e-5, fused=True)
    generator = torch.Generator().manual_seed(own_seed(settings.seed, rank))  # of all chance but the deals
    tables = Tables(settings.tables, rules, own_seed(settings.seed, rank), "hand", ppo.ENCODING.name)

    # --- Where an earlier run stopped ---

    run_ = Run("dmc", settings, {"network": network}, [], adam, generator, tables, rank)
    decisions, seconds, best, log = run_.resume(out, command)

    n, steps = settings.tables, settings.steps
    nothing = np.zeros((n, hidden.SIZE), dtype=np.int8)  # this learner never sees what is hidden
    suits, shared = positions(settings)
    leads = np.zeros(n, dtype=np.float32)
    actions = torch.zeros((steps, n), dtype=torch.int64)
    values = np.zeros((steps + 1, n), dtype=np.float32)  # of the best action
    rewards = np.zeros((steps, n), dtype=np.float32)
    signs = np.zeros((steps, n), dtype=np.float32)  # of the next position's value, as the mover sees it; 0 at the end
    n_batches = max(1, round(steps * n / settings.batch))

    while decisions < settings.decisions:
        if any_process(stop()):
            run_.save(out, decisions, seconds, best)
            break
        iteration_started = time.monotonic()
        done_share = decisions / settings.decisions
        rate, explore = (a * (b / a) ** done_share for a, b in (settings.rate, settings.explore))

        # --- Play ---

        finished = np.zeros(len(Kind), dtype=np.int64)
        for t in range(steps + 1):
            lay_out_all(tables.observations, nothing, suits[t].numpy(), shared[t].numpy(), leads)
            mask = torch.from_numpy(tables.action_masks).bool()
            with torch.no_grad():
                worth = network(suits[t].to(device), shared[t].to(device)).cpu().masked_fill(~mask, -math.inf)
            highest, greedy = worth.max(1)
            values[t] = highest.numpy()
            if t == steps:
                break
            any_legal = torch.rand((n, N_ACTIONS), generator=generator).masked_fill(~mask, -1).argmax(1)
            actions[t] = torch.where(torch.rand(n, generator=generator) < explore, any_legal, greedy)
            seats = tables.seats.astype(np.int64)
            tables.step(actions[t].numpy())
            rewards[t] = tables.rewards[np.arange(n), seats] / settings.unit
            signs[t] = np.where(tables.dones, 0, np.where(tables.seats == seats, 1, -1))
            finished += np.bincount(tables.kinds, minlength=len(Kind))
        decisions += steps * n * processes

        # --- Returns ---

        returns = np.zeros((steps, n), dtype=np.float32)
        later = values[steps]
        for t in reversed(range(steps)):
            later = rewards[t] + signs[t] * ((1 - settings.trace) * values[t + 1] + settings.trace * later)
            returns[t] = later
        targets = torch.from_numpy(returns).flatten()

        # --- Improve ---

        for group in adam.param_groups:
            group["lr"] = rate
        flat_suits, flat_shared, chosen = suits[:-1].flatten(0, 1), shared[:-1].flatten(0, 1), actions.flatten()
        total = torch.zeros((), device=device)
        for rows in torch.randperm(steps * n, generator=generator).tensor_split(n_batches):
            worth = network(flat_suits[rows].to(device), flat_shared[rows].to(device))
            guess = worth.gather(1, chosen[rows, None].to(device))[:, 0]
            loss = (guess - targets[rows].to(device)).square().mean()
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            adam.step()
            total += loss.detach()
        agree(adam)
        average([total])
        mean = float(total) / n_batches
        if not math.isfinite(mean) or not finite(network):
            raise Refusal(f"training diverged after {decisions:,} decisions: the last good checkpoint in {out} is kept")
        took = time.monotonic() - iteration_started
        seconds += took
        hands = max(1, int(finished[1:].sum()))
        row = {"decisions": decisions, "seconds": round(seconds, 1),
               "decisions_per_second": round(steps * n * processes / took), "rate": rate, "explore": explore,
               "loss": mean, "explained_variance": 1 - mean / (float(targets.var()) + 1e-8),
               **{f"hands_{kind.name.lower()}": int(finished[kind]) / hands for kind in Kind if kind != Kind.NONE},
               "decisions_per_hand": steps * n / hands}  # fmt: skip

        # --- Measure and keep ---

        before = decisions - steps * n * processes
        if decisions // settings.eval_every > before // settings.eval_every or decisions >= settings.decisions:
            if rank == 0:
                best = measure(network, settings, out, row, {"learner": "dmc", "command": command}, best)
            run_.save(out, decisions, seconds, best)
        if log:
            log.write(row)
            log.show(row, settings)
    if log:
        log.close()
    return decisions
