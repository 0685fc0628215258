"""`python -m experiments.bench`: its rows can be asked for by name, and a time budget is measured by the discard."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.bench import HEAD, Figure, budget_shares, figures, main, rows


def test_a_time_budget_is_measured_by_the_discard():
    shares = budget_shares("mc:ms=1,policy=heuristic", 1, 30)
    assert shares.shape == (30,)
    assert 0 < np.median(shares) < 20


def test_rows_are_chosen_by_their_names(capsys):
    found, _ = figures(quick=True, only="memory of a table")
    assert [f.what for f in found] == ["memory of a table (STATE)"]
    assert main(["--only", "memory of a table", "--markdown"]) == 0
    assert "| memory of a table (STATE) | ≤ 512 |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--only", "chess"])
    assert "--only chess: no row has that in its name" in capsys.readouterr().err


def test_some_rows_do_not_replace_a_page_s_whole_table(capsys, tmp_path):
    page = tmp_path / "speed.md"
    page.write_text("<!-- bench -->\nall rows\n<!-- /bench -->\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--only", "memory of a table", "--markdown", str(page)])
    assert "leave --only out" in capsys.readouterr().err
    assert "all rows" in page.read_text(encoding="utf-8")


def test_a_row_without_a_target_is_neither_met_nor_missed():
    row = dict(zip(HEAD, rows([Figure("play", "hands/s", "", 1234.5, 7.25, 3, True)])[0], strict=True))
    assert (row["target"], row["met"]) == ("", "")
    assert (row["ours (best)"], row["median"]) == ("1,234", "7.25")
