"""The degeneration lens on programs that were not written for it: precision and recall against labels made by hand.

By hand: python -P tests/bench/lens_foreign.py CLONES [--set first|held-out] [--all]. CLONES is a folder with git clones (bare or not) of the repositories
that tests/fixtures/lens/foreign.toml names, as OWNER+NAME, OWNER+NAME/repo or NAME. Files are read at the commits of the table, and nothing
is written. A pair counts as found when the lens has any finding for a degenerate one, and as a false alarm when it has one for
an honest one; kinds are counted one by one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from engine.verdict.degeneration import lens, score
from engine.verdict.structure import structure

TABLE = Path(__file__).parents[1] / "fixtures" / "lens" / "foreign.toml"


def clone_of(clones: Path, repository: str) -> Path:
    """The git folder of a repository. Raises FileNotFoundError, naming it, when it is not there."""
    owner, _, name = repository.partition("/")
    for place in (f"{owner}+{name}/repo", f"{owner}+{name}", f"{name}.git", name):
        folder = clones / place
        if (folder / ".git").is_dir():
            return folder / ".git"
        if (folder / "objects").is_dir():
            return folder
    raise FileNotFoundError(f"{clones}: no clone of {repository}")


def version(clones: Path, commits: dict[str, str], side: dict[str, Any]) -> tuple[bytes, str]:
    """The bytes of one side and its suffix. Lines outside of the ranges are blanked, so that all keep their numbers."""
    repository = side["repository"]
    command = ["git", f"--git-dir={clone_of(clones, repository)}", "show", f"{commits[repository]}:{side['path']}"]
    code = subprocess.run(command, capture_output=True, check=True).stdout
    if "lines" in side:
        kept = {number for first, last in side["lines"] for number in range(first, last + 1)}
        code = b"\n".join(line if number in kept else b"" for number, line in enumerate(code.split(b"\n"), 1))
    python = b"load_inline" in code
    return code, ".py" if python else ".cu"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("--set", default="first", help="which pairs: first, held-out")
    parser.add_argument(
        "--all", action="store_true", help="print every pair, not only those where lens and label differ"
    )
    options = parser.parse_args()
    table = tomllib.loads(TABLE.read_text())
    commits = {row["name"]: row["commit"] for row in table["repositories"]}
    pairs = [pair for pair in table["pairs"] if pair["set"] == options.set]
    hit = missed = alarm = quiet = 0
    kinds = {"named": 0, "missed": 0, "wrong": 0}
    for pair in pairs:
        before, after = (structure(*version(options.clones, commits, pair[side])) for side in ("baseline", "candidate"))
        findings = lens(before, after)
        found, losses, also = {one.kind for one in findings}, set(pair["losses"]), set(pair.get("also", ()))
        hit += bool(losses and found)
        missed += bool(losses and not found)
        alarm += bool(found and not losses)
        quiet += not found and not losses
        kinds["named"] += len(losses & found)
        kinds["missed"] += len(losses - found)
        kinds["wrong"] += len(found - losses - also)
        if options.all or bool(found) != bool(losses):
            label = ", ".join(pair["losses"]) or "honest"
            print(
                f"{pair['name']}\n  label: {label}\n  lens {score(findings):.2f}: {'; '.join(f'{one.kind}: {one.text}' for one in findings) or '-'}"
            )
    print(f"{len(pairs)} pairs: {hit + missed} degenerate, {alarm + quiet} honest")
    print(f"degenerate found {hit} of {hit + missed}, false alarms {alarm} of {alarm + quiet}")
    print(f"precision {hit / max(1, hit + alarm):.3f}, recall {hit / max(1, hit + missed):.3f}")
    print(
        f"kinds: {kinds['named']} of {kinds['named'] + kinds['missed']} named, {kinds['wrong']} named beyond the label"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
