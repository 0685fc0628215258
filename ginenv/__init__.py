"""Gin rummy for bots: the game's rules, a fast native engine, and environments around it.

For people, notebooks and tests::

    >>> import ginenv
    >>> ginenv.deadwood("AS 2S 3S 7H 7D 7C KD QD 9H 4C")
    33
    >>> table = ginenv.Table(ginenv.rules("oklahoma", gin_bonus=20), seed=7)
    >>> table.step("pass")
    >>> print(ginenv.replay(table.record()))

`arrange`, `deadwood` and `settle` look at hands, `Table` plays games, `replay` reads records. The
engine beneath works on NumPy records: `ginenv.state`, `ginenv.step`, `ginenv.view`.

``ginenv.rules`` is the function; what else the module of that name holds comes by
``from ginenv.rules import …``.
"""

from ginenv.actions import IllegalAction, action_number, action_text
from ginenv.cards import card, card_mask, card_text, cards_text
from ginenv.envs import register_environments
from ginenv.hands import (
    Arrangement,
    HandResult,
    Layoff,
    SeatResult,
    Settlement,
    TableResult,
    arrange,
    deadwood,
    settle,
    settle_all,
)
from ginenv.record import RecordError
from ginenv.rules import PRESETS, Rules, rules
from ginenv.state import Kind, Phase
from ginenv.table import Table, replay

register_environments()

__all__ = [
    "PRESETS",
    "Arrangement",
    "HandResult",
    "IllegalAction",
    "Kind",
    "Layoff",
    "Phase",
    "RecordError",
    "Rules",
    "SeatResult",
    "Settlement",
    "Table",
    "TableResult",
    "action_number",
    "action_text",
    "arrange",
    "card",
    "card_mask",
    "card_text",
    "cards_text",
    "deadwood",
    "replay",
    "rules",
    "settle",
    "settle_all",
]
