"""Options of the rules: combinations that make no sense are refused with one sentence each."""

from __future__ import annotations

import pytest

from ginenv.rules import rules


@pytest.mark.parametrize(
    ("preset", "changes", "sentence"),
    [
        ("modern", {"reshuffles": 1}, "rules: with reshuffles the stock is used up before .* dead_stock must be 0"),
        ("modern", {"reshuffles": None}, "rules: with reshuffles the stock is used up before .* dead_stock must be 0"),
        ("modern", {"reshuffles": -1}, "rules: reshuffles=-1 is out of range: 0 to 1000 is possible"),
        ("straight", {"illegal_knocks": True}, "rules: straight gin has no knocks, so none can be illegal"),
        ("eaai", {"jokers": True}, "rules: eaai plays another program's game, which has no jokers"),
        ("openspiel", {"jokers": True}, "rules: openspiel plays another program's game, which has no jokers"),
        ("oklahoma", {"jokers": True}, "rules: jokers do not go with oklahoma"),
        ("modern", {"jokers": True, "settle_by_hand": True}, "rules: jokers do not go with settle_by_hand"),
        ("modern", {"jokers": True, "illegal_knocks": True}, "rules: jokers do not go with illegal_knocks"),
        ("modern", {"first_dealer": "winner"}, "rules: first_dealer='winner' should be one of random, low, high"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(preset, changes, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        rules(preset, **changes)
