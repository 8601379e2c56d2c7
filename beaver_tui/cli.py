"""The command ``beaver-tui``. Dispatches before any heavy import: a sweep starts fast and runs without a terminal."""

from __future__ import annotations

import sys

from beaver_tui import __version__

USAGE = """\
usage: beaver-tui --batch [OPTIONS]     repair tasks headless; see beaver-tui --batch --help
       beaver-tui COMMAND [ARGUMENTS]

commands:
  tasks      list and check the tasks of a corpus
  classify   classify evidence records (JSON lines)
  doctor     what this machine offers, and what is missing
  submit     hand in the file that a human fixer's folder holds
  manifest   rebuild a run's manifest.jsonl from its journals

options:
  --version  print the version
  --help     print this text; every command has its own --help

exit codes: 0 done, 1 some tasks had infrastructure faults, 2 usage, 130 interrupted"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. Errors that a user can act on are one line on standard error."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] in (["--version"], ["-V"]):
        print(f"beaver-tui {__version__}")
        return 0
    if not words or words[0] in ("--help", "-h", "help"):
        print(USAGE)
        return 0 if words else 2
    from engine.errors import BeaverError

    try:
        return _dispatch(words)
    except BeaverError as error:
        print(f"beaver-tui: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader of our output has gone (beaver-tui tasks | head): not an error, and nothing more to say
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _dispatch(words: list[str]) -> int:
    import click

    if "--batch" in words:
        from beaver_tui.batch.command import batch as command

        words = [word for word in words if word != "--batch"]
        name = "beaver-tui --batch"
    else:
        from beaver_tui.commands import COMMANDS

        name, words = words[0], words[1:]
        if name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, [*COMMANDS, "--batch"], n=1)
            hint = f"; did you mean {near[0]}?" if near else "; see beaver-tui --help"
            print(f"beaver-tui: {name}: no such command{hint}", file=sys.stderr)
            return 2
        command = COMMANDS[name]
        name = f"beaver-tui {name}"
    try:
        result = command.main(words, prog_name=name, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        print(f"{name}: {error.format_message()}", file=sys.stderr)
        return 2
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
