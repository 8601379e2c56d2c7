"""Sweeps: a plan of trajectories, played with bounded concurrency into a run directory."""

from engine.sweep.sweep import CELL_FAULT, Sweep, plan_cells

__all__ = ["CELL_FAULT", "Sweep", "plan_cells"]
