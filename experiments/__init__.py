"""Experiments: matches and tournaments, statistics, benchmarks and the `gin` command."""

GINENV_PROJECT = True
"""Tells this package from other distributions that ship an `experiments`."""
