"""beaver-tui: the command line and the workbench over the engine."""

__version__ = "0.1.0"
