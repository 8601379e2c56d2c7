"""Sweeps: a plan of trajectories, played with bounded concurrency into a run directory."""

from engine.sweep.sweep import Sweep, plan_cells

__all__ = ["Sweep", "plan_cells"]
