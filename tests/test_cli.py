"""The `gin` command: one sentence for whatever is wrong, and a game in the terminal that hides what is hidden."""

import io
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import experiments.play as play_module
from agents.registry import make, names
from experiments.cli import COMMANDS, main
from experiments.play import Game, Quit, action_of, legal_text
from ginenv.cards import card_list, card_text
from ginenv.rules import PRESETS, parse_rules, rules
from ginenv.state import BIG_GIN, DISCARD, DRAW, KNOCK, PASS, TAKE
from ginenv.table import Table

ROOT = Path(__file__).resolve().parent.parent
COMPILING = "compiling the engine (once, about 30 s)…\n"
"""What comes first where nothing is compiled yet."""
GOLDEN = ROOT / "tests" / "golden"


def test_help_and_version(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out.startswith("gin (ginenv ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "there is no command 'nonsense'"),
        ("--nonsense", "--nonsense"),
        ("tournament", "AGENT"),
        ("tournament simple", "needs two agents"),
        ("tournament simple simpel", "did you mean simple?"),
        ("tournament simple simple:erly=3", "did you mean early?"),
        ("tournament simple simple:early=x", "should be a whole number"),
        ("tournament simple ./no_such_file.py", "there is no file"),
        ("tournament simple simple --games 3", "even number"),
        ("tournament simple simple --games 0", "even number"),
        ("tournament simple simple --games many", "many"),
        ("tournament simple simple --seed -1", "--seed -1 is out of range"),
        ("tournament simple simple --seed 99999999999999999999999", "is out of range"),
        ("hands simple simple --seed -1", "--seed -1 is out of range"),
        ("hands simple simple --seed 99999999999999999999999", "is out of range"),
        ("hands simple:early=5,early=6 simple", "early is set twice"),
        ("tournament simple simple --threads 0", "--threads 0"),
        ("tournament simple simple --rules eaia", "did you mean eaai?"),
        ("tournament simple simple --rules eaai,gin_bonus=x", "should be a whole number"),
        ("tournament simple simple --out /dev/null", "cannot be used as a run folder"),
        ("rules nothing", "there is no preset 'nothing'"),
        ("rules eaai,gin=3", "there is no field 'gin'"),
        ("replay /no/such/file", "cannot be read"),
        ("replay /", "cannot be read"),
        ("play", "AGENT"),
        ("play nobody", "there is no agent 'nobody'"),
        ("play simple --rules ranks=2", "ranks=2 is out of range"),
        ("play simple --rules modern,jokers=true", "cannot play with jokers: random and greedy can"),
        ("play heuristic --rules open_table", "cannot play with the open table: random and greedy can"),
        ("hands simple simple --rules open_table", "open_table has actions that a match of agents cannot play"),
        ("tournament simple simple --rules settle_by_hand=true", "settle_by_hand has actions that a match of agents"),
        ("play simple --seed -1", "--seed -1 is out of range"),
        ("play simple --seed 99999999999999999999999", "is out of range"),
    ],
)
def test_wrong_input_is_one_sentence(line: str, words: str, capsys: pytest.CaptureFixture[str]):
    assert main(line.split()) == 2
    out, errors = capsys.readouterr()
    errors = errors.replace(COMPILING, "")
    assert out == ""
    assert errors.startswith("gin: ")
    assert words in errors
    assert errors.count("\n") == 1


def test_a_strangers_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    stranger = types.ModuleType("agents")
    stranger.__file__ = "/somewhere/agents/__init__.py"
    monkeypatch.setitem(sys.modules, "agents", stranger)
    assert main(["agents"]) == 2
    errors = capsys.readouterr().err
    assert "'agents' in /somewhere/agents is not ginenv's" in errors
    assert errors.count("\n") == 1


def test_no_traceback_in_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "experiments.cli", "replay", "/no/such/file"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.replace(COMPILING, "") == "gin: /no/such/file cannot be read: No such file or directory\n"


# --- Lists ----------------------------------------------------------------------------------------


def test_agents_lists_all(capsys: pytest.CaptureFixture[str]):
    assert main(["agents"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name}: " in shown for name in names())
    assert "early=10" in shown


@pytest.mark.parametrize("name", PRESETS)
def test_rules_show_each_preset(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["rules"]) == 0
    listed = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{name}: "))
    if name != "modern":
        # The list is in the form that --rules reads.
        assert parse_rules(listed.partition(": ")[2]).but(name=name) == PRESETS[name]
    assert main(["rules", name]) == 0
    shown = capsys.readouterr().out
    for field, value in PRESETS[name].as_dict().items():
        line = next(line for line in shown.splitlines() if field in line.split()[:2])
        assert field == "name" or ("*" in line) == (value != getattr(PRESETS["modern"], field))


def test_parse_rules():
    assert parse_rules("eaai") == rules("eaai")
    assert parse_rules("oklahoma,gin_bonus=20") == rules("oklahoma", gin_bonus=20)
    assert parse_rules("oklahoma gin_bonus=20, big_gin=true") == rules("oklahoma", gin_bonus=20, big_gin=True)
    assert parse_rules("target=none,hands=3,shutout=none") == rules(target=None, hands=3, shutout="none")
    assert parse_rules("") == rules()
    for wrong in ("eaai,gin_bonus", "eaai,gin_bonus=1,gin_bonus=2", "eaai,big_gin=1", "eaai,gin_bonus=2.5", "x=1"):
        with pytest.raises(ValueError, match=r"^rules: "):
            parse_rules(wrong)


# --- Records --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.txt")), ids=lambda path: path.stem)
def test_replay_shows_each_step(path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["replay", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "=== hand 1:" in shown
    plays = sum(line[:2] in ("0:", "1:") for line in path.read_text().splitlines())
    assert shown.count("\n--- seat ") >= plays


def test_replay_names_the_wrong_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    lines = (GOLDEN / "eaai.txt").read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("1: take"))
    lines[number] = "1: take KS, knock KS"
    path = tmp_path / "record.txt"
    path.write_text("\n".join(lines))
    assert main(["replay", str(path)]) == 2
    errors = capsys.readouterr().err
    assert errors.replace(COMPILING, "").startswith(f"gin: {path}: line {number + 1}: knock KS")
    path.write_bytes(b"\xff\xfe\x00")
    assert main(["replay", str(path)]) == 2
    assert "it is not text" in capsys.readouterr().err


def test_replay_reads_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "stdin", io.StringIO((GOLDEN / "eaai.txt").read_text()))
    assert main(["replay", "-"]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["replay", "-"]) == 2
    assert "gin: stdin: line 1: " in capsys.readouterr().err


# --- Play -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("d", DRAW), ("draw", DRAW), ("T", TAKE), ("p", PASS), ("b", BIG_GIN), ("big gin", BIG_GIN),
        ("7H", DISCARD + 19), ("10h", DISCARD + 22), ("discard 7h", DISCARD + 19), ("k 7H", KNOCK + 19),
        ("knock as", KNOCK),
    ],
)  # fmt: skip
def test_short_commands(text: str, action: int):
    assert action_of(text) == action


@pytest.mark.parametrize("text", ["x", "k", "7X", "7H 8H", "k 7H 8H", ""])
def test_wrong_commands(text: str):
    with pytest.raises(ValueError, match=r"not a card|no command"):
        action_of(text)


def test_legal_text():
    assert legal_text([TAKE, PASS]) == "t (take), p (pass)"
    assert legal_text([DISCARD, DISCARD + 19, KNOCK + 19]) == "discard AS 7H, k 7H"


def hidden_cards(table: Table) -> set[str]:
    """Return the cards that seat 0 does not know at this point."""
    return {card_text(c) for c in card_list(int(table.view(0)["unseen"]))}


@pytest.mark.parametrize("preset", ["modern", "oklahoma", "big_gin", "openspiel"])
def test_no_hidden_card_is_shown_before_the_showdown(
    preset: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    table = Table(preset, seed=5)
    me = make("simple")
    game = Game(table, make("simple"), "simple")
    checked = 0

    def person(prompt: str) -> str:
        """Check what was printed since the last question; answer as `simple` would."""
        nonlocal checked
        shown = capsys.readouterr().out
        if prompt.startswith("Enter"):
            return ""
        words = set(shown.replace(".", " ").replace(",", " ").split())
        after_deal = set(shown.rpartition("--- hand")[2].replace(".", " ").split()) if "--- hand" in shown else words
        assert not after_deal & hidden_cards(table)
        checked += 1
        action = int(me.act(table.view(0).reshape(1), table.rules, np.array([checked], dtype=np.int64))[0])
        if action >= KNOCK:
            return f"k {card_text(action - KNOCK)}"
        if action >= DISCARD:
            return card_text(action - DISCARD)
        return {DRAW: "d", TAKE: "t", PASS: "p", BIG_GIN: "b"}[action]

    monkeypatch.setattr("builtins.input", person)
    game.play()
    assert table.game_over
    assert checked > 10
    shown = capsys.readouterr().out
    assert " with all bonuses." in shown


def test_a_scripted_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "stdin", io.StringIO("?\nfly\nk ZZ\nk AS\n\np\n"))
    assert main(["play", "simple", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "seed 3" in shown
    assert "draw from the stock" in shown  # help
    assert "'fly' is not a card" in shown
    assert "simple [0]: 10 hidden" in shown
    assert "You leave at you 0, simple 0." in shown  # the end of the input


def test_q_leaves(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    with pytest.raises(Quit):
        Game(Table(seed=1), make("simple"), "simple").play()
    assert main(["play", "random", "--rules", "eaai,target=30"]) == 0
    assert "You leave" in capsys.readouterr().out


def test_ctrl_c_leaves_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert main(["play", "simple", "--seed", "1"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_an_agent_that_cheats_forfeits(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    class Cheat:
        spec = "cheat"

        def act(self, views, rules_, keys):
            return keys * 0 + BIG_GIN

    monkeypatch.setattr(play_module, "make", lambda spec: Cheat())
    monkeypatch.setattr(sys, "stdin", io.StringIO("p\nd\n"))
    assert main(["play", "cheat", "--seed", "3"]) == 2
    assert "cheat forfeits the game by an illegal action" in capsys.readouterr().err


BOT = """
from agents.protocol import Kind
import numpy as np

class Bot:
    def __init__(self, spec):
        self.spec = spec

    def act(self, views, rules, keys):
        {act}

AGENT = Kind("does as it likes", lambda spec, options: Bot(spec), {{}})
"""


@pytest.mark.parametrize("command", ["play", "hands", "tournament"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def (", "cannot be made: SyntaxError"),
        ("1 / 0", "cannot be made: ZeroDivisionError: division by zero (bot.py, line 1)"),
        ("import sys; sys.exit(3)", "cannot be made: SystemExit: 3"),
        (BOT.format(act="raise KeyError('oh')"), "failed: KeyError: 'oh' (bot.py, line 10)"),
        (BOT.format(act="return None"), "act() returned no actions"),
        (BOT.format(act="return 2"), "act() returned no actions"),
        (BOT.format(act="return []"), "act() returned no actions"),
        (BOT.format(act="return [[2]] * len(views)"), "act() returned no actions"),
        (BOT.format(act="return np.full(len(views), np.nan)"), "act() returned no actions"),
        (BOT.format(act="return [2.0] * len(views)"), "act() returned no actions"),
    ],
)
def test_a_bot_that_fails_is_one_sentence(
    command: str, text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    path = tmp_path / "bot.py"
    path.write_text(text)
    more = {"play": ["--seed", "3"], "hands": ["simple", "--games", "2"]}.get(
        command, ["simple", "--games", "2", "--threads", "1", "--out", str(tmp_path / "run")]
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO("p\nd\n"))
    assert main([command, str(path), *more]) == 2
    errors = capsys.readouterr().err.replace(COMPILING, "")
    sentence = next(line for line in errors.splitlines() if line.startswith("gin: "))
    assert words in sentence and "bot.py" in sentence
    assert "Traceback" not in errors


def test_hands_of_the_longest_games(capsys: pytest.CaptureFixture[str]):
    """There was room for 400 hands a pair."""
    argv = ["hands", "simple", "random", "--games", "2", "--rules", "modern,target=none,hands=1000", "--json"]
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out)["hands"] == 2000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
@pytest.mark.parametrize("line", ["rules", "rules eaai", "hands simple random --games 2"])
def test_output_that_cannot_be_written_is_one_sentence(line: str):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "experiments.cli", *line.split()],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.replace(COMPILING, "") == "gin: the output cannot be written: No space left on device\n"


def test_json_is_the_only_thing_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["tournament", "random", "random", "--games", "4", "--json", "--out", str(tmp_path / "run")]
    assert main(argv) == 0
    out, errors = capsys.readouterr()
    assert json.loads(out)["pairings"][0]["games"] == 4
    assert "games won" in errors
