"""Agents: who plays. One file an agent, found by its name (`agents.registry`)."""

GINENV_PROJECT = True
"""Tells this package from other distributions that ship an `agents` (see `ginenv` docs)."""
