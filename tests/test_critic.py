"""The critic's kernel computes what torch does, and a search may judge by it."""

from __future__ import annotations

import numpy as np
import pytest

from agents import critic, ppo
from agents.registry import make
from ginenv.rules import PRESETS
from ginenv.state import Phase, new_states
from ginenv.view import VIEW, look
from tests.common import positions

torch = pytest.importorskip("torch")

from agents import hidden  # noqa: E402
from agents.network import Critic  # noqa: E402
from experiments.training import lay_out_all  # noqa: E402
from ginenv.encode import encode  # noqa: E402

RULES = PRESETS["eaai"]


@pytest.mark.parametrize(("width", "mixing"), [(8, 2), (5, 0)])
def test_the_kernel_computes_the_critic(width, mixing):
    torch.manual_seed(width)
    network = Critic(hidden.SUIT_SIZE, len(hidden.COMMON), width, mixing)
    torch.nn.init.normal_(network.value.weight)
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    params = critic.pack(tensors, 30.0, 0.5)
    state, view = new_states(1), np.zeros(1, VIEW)
    suits, shared = np.zeros((1, 4, critic.SUIT_SIZE), np.float32), np.zeros((1, critic.SHARED_SIZE), np.float32)
    seen, unseen = np.zeros((1, ppo.ENCODING.size), np.int8), np.zeros((1, hidden.SIZE), np.int8)
    lead = np.zeros(1, np.float32)
    n = 0
    for s in positions(RULES, 5, 2):
        if s["phase"] == Phase.OVER:
            continue
        state[0] = s
        look(state[0], RULES.record, int(s["seat"]), view[0])
        encode(view[0], RULES.record, ppo.ENCODING.code, seen[0])
        hidden.write_hidden(state, RULES.record, unseen)
        lay_out_all(seen, unseen, suits, shared, lead)
        with torch.no_grad():
            wanted = 30 * float(network(torch.from_numpy(suits), torch.from_numpy(shared))[0]) + 0.5 * float(lead[0])
        found = critic.position_value(state[0], RULES.record, view[0], params)
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-3)
        n += 1
    assert n > 20


def test_a_critic_of_other_shapes_is_refused():
    tensors = {name: tensor.numpy() for name, tensor in Critic(hidden.SUIT_SIZE, 3, 8, 1).state_dict().items()}
    with pytest.raises(ValueError, match=r"trunk\.shared\.weight has shape"):
        critic.pack(tensors, 30.0, 0.5)
    with pytest.raises(ValueError, match="missing or too many"):
        critic.pack({}, 30.0, 0.5)


def test_mc_can_judge_by_it():
    agent = make("mc:critic=1,worlds=4")
    assert agent.params[9] > 0 and agent.params[10] > agent.params[9]
