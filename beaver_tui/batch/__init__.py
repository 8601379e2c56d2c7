"""``beaver-tui --batch``: headless sweeps, printed as rich, plain or JSON lines."""
