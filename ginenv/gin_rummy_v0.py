"""PettingZoo's way to name an environment: ``from ginenv import gin_rummy_v0; gin_rummy_v0.env()``."""

from ginenv.envs.aec import env, raw_env

__all__ = ["env", "raw_env"]
