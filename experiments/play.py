"""`gin play AGENT`: a person against an agent in the terminal, a whole game."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Sequence

import numpy as np

from agents.protocol import Agent
from agents.registry import make
from experiments.refusal import Refusal, refusing
from ginenv.actions import IllegalAction, action_number, action_text
from ginenv.cards import JOKER, card, card_text
from ginenv.envs.opponent import AgentError, ask, check_players
from ginenv.lay import automatic_action
from ginenv.render import ansi
from ginenv.rng import apart, checked_seed, mix
from ginenv.rules import rules_for_two
from ginenv.state import (
    BIG_GIN,
    BLUFF,
    DISCARD,
    DISCARD_JOKER,
    DONE,
    DRAW,
    KNOCK,
    KNOCK_JOKER,
    LAY_ON_SET,
    MELD,
    N_ALL_ACTIONS,
    PASS,
    TAKE,
    Phase,
)
from ginenv.table import Table

YOU, AGENT = 0, 1

HELP = """\
  d            draw from the stock
  t            take the upcard
  p            pass the first upcard
  7H           discard the seven of hearts (suits S H D C, ten is T)
  k 7H         knock, discarding the seven of hearts (gin when all else is melded)
  b            declare big gin
  meld 7H 8H 9H, lay TH
               lay a meld down, lay a card off, where the rules make these actions (lay off TH above a run where it
               could go to several places); done when nothing more is to be laid
  bluff 7H, accept, refuse
               a knock above the limit, where it may be tried, and its answers
  ?            this help
  q            quit (so does Ctrl-D)"""

_SHORT = {"d": DRAW, "draw": DRAW, "t": TAKE, "take": TAKE, "p": PASS, "pass": PASS, "b": BIG_GIN, "big gin": BIG_GIN}


class Quit(Exception):  # noqa: N818 - not an error
    """The person has had enough."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options of `gin play`."""
    parser.add_argument("agent", metavar="AGENT", help="name, or name:key=value,key=value (see gin agents)")
    parser.add_argument(
        "--rules", default="modern", metavar="P", help="a preset, or preset,field=value,… (see gin rules)"
    )
    parser.add_argument("--seed", type=int, metavar="S", help="of the game, to play it again (default: a new one)")


def run(args: argparse.Namespace) -> int:
    """Play a game."""
    with refusing():
        rules, agent = rules_for_two(args.rules), make(args.agent)
        check_players(agent, rules)
        seed = secrets.randbits(32) if args.seed is None else checked_seed(args.seed, "--seed")
        table = Table(rules, seed)
    print(f"You play {args.agent} under {rules.name} rules, seed {seed}. Type ? for help, q to quit.")
    game = Game(table, agent, args.agent)
    try:
        game.play()
    except (Quit, EOFError):
        print(f"\nYou leave at {game.score_text()}.")
    return 0


def action_of(text: str, legal: Sequence[int] = ()) -> int:
    """Return the action that a short command names.

    Args:
        text: What was typed.
        legal: The legal actions: a card to be laid off goes to the one place there is.

    Raises:
        ValueError: for what is no command.
    """
    words = text.lower().split()
    if " ".join(words) in _SHORT:
        return _SHORT[" ".join(words)]
    kind = DISCARD
    if words and words[0] in ("k", "knock", "discard"):
        kind = DISCARD if words.pop(0) == "discard" else KNOCK
    if words and words[0] == "lay" and len(words) == 2 + (words[1:2] == ["off"]):
        return _layoff(words[-1], legal)
    if text.lower() in ("done", "accept", "refuse") or (words and words[0] in ("meld", "lay", "bluff")):
        return action_number(text)
    if len(words) != 1:
        raise ValueError(f"{text!r} is no command: type ? for help")
    number = card(words[0])
    if number >= JOKER:
        return (DISCARD_JOKER if kind == DISCARD else KNOCK_JOKER) + number - JOKER
    return kind + number


def _layoff(text: str, legal: Sequence[int]) -> int:
    """Return the layoff of a card to the one place where it may go. Raises ValueError when there are more, or none."""
    number = card(text)
    places = [a for a in legal if LAY_ON_SET <= a < DONE and (a - LAY_ON_SET) % 52 == number]
    if len(places) != 1:
        ways = " or ".join(action_text(a) for a in places)
        raise ValueError(f"{ways}: say which" if ways else f"lay {card_text(number)}: nothing on the table takes it")
    return places[0]


class Game:
    """A game between a person (seat 0) and an agent (seat 1). All that is printed comes from the person's VIEW."""

    def __init__(self, table: Table, agent: Agent, name: str) -> None:
        self.table = table
        self.agent = agent
        self.name = name
        self._decisions = 0

    def play(self) -> None:
        """Play to the end of the game.

        Raises:
            Quit, EOFError: when the person leaves.
        """
        while True:
            self._play_hand()
            self._show()
            print(f"Game: {self.score_text()}.")
            if self.table.game_over:
                self._show_winner()
                return
            self._ask("Enter for the next hand, q to quit> ")
            self.table.deal()

    def score_text(self) -> str:
        """Return the game's score in words."""
        you, agent = ("/".join(str(column[seat]) for column in self.table.columns) for seat in (YOU, AGENT))
        return f"you {you}, {self.name} {agent}"

    def _show_winner(self) -> None:
        mine, its = self.table.totals[YOU], self.table.totals[AGENT]
        winner = {None: "The game ends level", YOU: "You win the game", AGENT: f"{self.name} wins the game"}
        print(f"{winner[self.table.winner]}, {mine} to {its} with all bonuses.")

    def _play_hand(self) -> None:
        table = self.table
        print(f"\n--- hand {table.hand_number}: {'you deal' if table.dealer == YOU else f'{self.name} deals'} ---")
        while not table.done:
            if table.seat == AGENT:
                self._agent_acts()
            else:
                self._show()
                self._person_acts()

    def _agent_acts(self) -> None:
        table = self.table
        view = table.view(AGENT).reshape(1)
        key = int(mix(apart(table.seed), self._decisions))
        self._decisions += 1
        with refusing(AgentError):
            if table.phase > Phase.OVER:  # agents play hands; they settle as the automatic settlement would
                self._agent_settles(view[0])
                return
            action = int(ask(self.agent, view, table.rules, np.array([key], dtype=np.int64))[0])
        upcard = table.pile[0] if table.pile else ""
        try:
            table.step(action)
        except IllegalAction as error:
            raise Refusal(f"{self.name} forfeits the game by an illegal action: {error}") from error
        if action == DRAW:
            print(f"{self.name} draws from the stock.")
        elif action in (TAKE, PASS):
            print(f"{self.name} {'takes' if action == TAKE else 'passes'} {upcard}.")
        elif action == BIG_GIN:
            print(f"{self.name} declares big gin.")
        elif action < KNOCK or DISCARD_JOKER <= action < KNOCK_JOKER:
            print(f"{self.name} discards {table.pile[0]}.")
        elif MELD <= action < DONE:
            print(f"{self.name}: {action_text(action)}.")
        else:
            print(f"{self.name} knocks.")  # the last discard stays face down

    def _agent_settles(self, view: np.void) -> None:
        action = int(automatic_action(view, self.table.rules.record))
        self.table.step(action)
        print(f"{self.name}: {action_text(action)}.")

    def _person_acts(self) -> None:
        table = self.table
        legal = table.legal_actions()
        print(f"Legal: {legal_text(legal)}")
        while True:
            text = self._ask("> ")
            if not text:
                continue
            try:
                action = action_of(text, legal)
                table.step(action)
            except ValueError as error:  # IllegalAction is one
                print(str(error).replace(f"seat {YOU} does", "you do") + ".")
                continue
            if action == DRAW and table.drawn is not None:
                print(f"You draw {table.drawn}.")
            return

    def _ask(self, prompt: str) -> str:
        """Return the person's next line.

        Raises:
            Quit, EOFError: when the person leaves.
        """
        while True:
            text = input(prompt).strip()
            if text.lower() in ("q", "quit"):
                raise Quit
            if text != "?":
                return text
            print(HELP)

    def _show(self) -> None:
        print(ansi(self.table.view(YOU), self.table.rules, names=("you", self.name), color=sys.stdout.isatty()))


def legal_text(actions: list[int]) -> str:
    """Return legal actions as the commands that name them."""
    short = {DRAW: "d (draw)", TAKE: "t (take)", PASS: "p (pass)", BIG_GIN: "b (big gin)"}
    words = [short[a] for a in actions if a in short]
    words += [action_text(a) for a in actions if MELD <= a < BLUFF]
    discards, knocks, bluffs = (
        [card_text(a - first) for a in actions if first <= a < first + 52]
        + [card_text(JOKER + a - jokers) for a in actions if jokers <= a < jokers + 2]
        for first, jokers in ((DISCARD, DISCARD_JOKER), (KNOCK, KNOCK_JOKER), (BLUFF, N_ALL_ACTIONS))
    )
    if discards:
        words.append("discard " + " ".join(discards))
    if knocks:
        words.append("k " + " ".join(knocks))
    if bluffs:
        words.append("bluff " + " ".join(bluffs))
    return ", ".join(words)
