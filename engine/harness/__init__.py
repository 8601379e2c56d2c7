"""Candidate to evidence: workspace, processes in a sandbox, preflight, backends, checker, sanitizer, timing."""
