"""Drawings of a VIEW: every card that may be seen, and no other."""

import random
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import ginenv
from ginenv import Table, render
from ginenv.cards import card_list, card_mask, card_text

FIRST = "JS QS 4H 4D 4C 6H 7H 8H 8D 9C"
SECOND = "TS 2S 2H 2D KD QH 5C 3D AC 3H"
DECK = ginenv.cards_text(list(range(52))).split()


def table(hidden: str = SECOND, then: str = "KS TD") -> Table:
    front = [c for pair in zip(FIRST.split(), hidden.split(), strict=True) for c in pair] + then.split()
    return Table(dealer=0, deck=front + [c for c in DECK if c not in front])


def svg_cards(text: str) -> list[str]:
    """Return the cards that an SVG drawing shows, by their titles."""
    root = ET.fromstring(text)
    return [str(e.text) for e in root.iter("{http://www.w3.org/2000/svg}title")]


def test_text_shows_melds_and_who_acts():
    t = table()
    t.step("take")
    assert str(t.render()).splitlines() == [
        "hand 1, turn 1, knock at 10 or less",
        "seat 0 [0]: 10 hidden",
        "  stock 31, pile empty",
        "seat 1 [0]: 4H 4D 4C | JS QS KS | 6H 7H 8H | 8D 9C  (17 deadwood)",
        "seat 1 to discard or knock",
    ]
    assert "you to discard" in render.ansi(t.view(1), t.rules)
    assert "\x1b[31m4H\x1b[0m" in render.ansi(t.view(1), t.rules, color=True)


def test_text_after_a_knock_shows_both_hands_and_the_layoff():
    t = table()
    t.step("take")
    t.step("knock 9C")
    text = str(t.render(seat=0))
    assert "seat 0 [0]: 2S 2H 2D | laid off TS | AC 3H 3D 5C QH KD  (32 deadwood)" in text
    assert text.endswith("knock, 8 against 32: seat 1 scores 24")
    assert "9C" not in text  # a knock's discard lies face down (H5)


def test_a_dead_hand_opens_nothing():
    t = Table(seed=3)
    t.step("pass")
    t.step("pass")
    while not t.done:
        t.step("draw")
        t.step(next(a for a in t.legal_actions() if 4 <= a < 56))
    text = str(t.render(seat=0))
    assert text.endswith("dead hand, nobody scores")
    assert "hidden" in text


@pytest.mark.parametrize("mode", render.MODES)
def test_no_drawing_depends_on_hidden_cards(mode):
    swapped = SECOND.replace("TS", "9S").replace("KD", "QD").replace("AC", "2C")
    a, b = table(), table(swapped)
    moves = [("pass", "pass", "draw", "discard JS"), ("take", "discard 8D"), ()]
    for actions in moves:
        x, y = a.copy(), b.copy()
        for action in actions:
            x.step(action)
            y.step(action)
        assert np.array_equal(x.render(mode, seat=1), y.render(mode, seat=1))
        assert not np.array_equal(x.render(mode, seat=1, reveal=True), y.render(mode, seat=1, reveal=True))


def test_svg_shows_exactly_the_cards_that_may_be_seen():
    rng = random.Random(1)
    for seed in range(12):
        t = Table("big_gin", seed=seed)
        for _ in range(rng.randrange(200)):
            if t.done:
                break
            t.step(rng.choice(t.legal_actions()))
        for seat in (0, 1):
            view = t.view(seat)
            shown = svg_cards(str(t.render("svg", seat=seat)))
            assert len(shown) == len(set(shown))
            seen = card_list(int(view["hand"])) + card_list(int(view["known"][1]))
            seen += [int(c) for c in view["pile"][: view["n_pile"]][-2:]]
            assert set(shown) == {ginenv.card_text(c) for c in seen}


@pytest.mark.parametrize("preset", ginenv.PRESETS)
def test_rgb_is_an_image_in_every_phase(preset):
    rng, t = random.Random(2), Table(preset, seed=2)
    shapes = set()
    while not t.done:
        image = t.render("rgb_array")
        assert isinstance(image, np.ndarray)
        assert image.dtype == np.uint8
        shapes.add(image.shape)
        for _ in range(9):
            if not t.done:
                t.step(rng.choice(t.legal_actions()))
    final = t.render("rgb_array")
    assert isinstance(final, np.ndarray)
    shapes.add(final.shape)
    table_height = 176 if t.rules.open_table else 0  # the melds on the table
    assert shapes == {(120 + 112 * t.rules.hand_players + table_height, 640, 3)}


def test_rgb_draws_every_letter_that_it_needs():
    t = table()
    lines = [str(t.render(seat=seat, reveal=True)) for seat in (0, 1)]
    letters = set("".join(lines)) - {"\n", "[", "]", "|"}
    assert letters <= set(render._FONT)


def test_V8_melds_on_the_table_are_drawn_however_many_there_are():
    t = Table("open_table", seed=1)
    view = t.view(0)
    hearts, clubs = card_mask("AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"), card_mask("5C 6C 7C 8C")
    view["sets"], view["runs"], view["starts"] = card_mask("AS AD AC KS KD KC"), hearts | clubs, card_mask("AH 5C")
    laid = [card_text(c) for c in card_list(int(view["sets"] | view["runs"]))]
    assert len(laid) == 23
    drawing = render.svg(view, t.rules)
    assert all(f"<title>{c}</title>" in drawing for c in laid)
    places = re.findall(r'x="(\d+)\.5" y="(\d+)\.5"', drawing)
    assert len(set(places)) == len(places)
    image = render.rgb_array(view, t.rules)
    assert max(int(x) for x, _ in places) + 44 <= image.shape[1]
    assert max(int(y) for _, y in places) + 62 <= image.shape[0]
    assert image.shape == t.render("rgb_array", 0).shape  # all frames of a game are of one size


def test_an_unknown_mode_is_told():
    with pytest.raises(ValueError, match="render mode 'pdf': there are ansi, svg, rgb_array"):
        table().render("pdf")
