"""Live runs that a person steers: a run of one trajectory, played in the screen's own event loop. No screen in here."""
