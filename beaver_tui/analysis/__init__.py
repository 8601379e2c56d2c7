"""The commands around numbers: planning sweeps, scoring runs again, cards and reports."""
