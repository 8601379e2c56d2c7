"""Every key of the workbench, as one table: bindings, help, palette and the user's own keymap are read from it.

A user's file maps ids to keys (see ``userkeys``): ids are a public interface.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType
from textual.keys import format_key


@dataclass(frozen=True)
class Key:
    """One action of a scope. ``keys`` are Textual's names, comma-separated; ``action`` is a method ``action_...`` of the scope's
    widget or screen; ``label`` fits the footer, ``help`` says it all. ``shown``: in the footer. ``priority``: taken before the pane
    in focus can have it."""

    id: str
    keys: str
    action: str
    label: str
    help: str
    shown: bool = False
    priority: bool = False

    @property
    def scope(self) -> str:
        return self.id.partition(".")[0]


SCOPES = {
    "app": "Everywhere",
    "runs": "Runs",
    "workbench": "Workbench",
    "human": "Human fixer",
    "proposal": "A candidate that waits",
    "compare": "Compare",
    "sweep": "Sweep",
    "text": "Logs, code and diffs",
    "log": "Logs",
    "diff": "Diffs",
    "errors": "Errors",
    "list": "Lists",
    "table": "Tables",
    "confirm": "A question",
    "choose": "A choice",
    "ask": "A line to type",
    "newrun": "A new run",
    "setting": "A setting with few values",
    "field": "A field",
    "button": "A button",
    "messages": "Messages",
    "help": "Help",
}
"""Where keys apply, with the title that help shows."""

NOT_IN_DIALOGS = frozenset({"app.back"})
"""Keys of every screen that no dialog has: it is left by a key of its own, which says what that means."""

KEYS: tuple[Key, ...] = (
    Key("app.help", "question_mark,f1", "app.help_keys", "help", "The keys of what has the focus.", shown=True),
    Key("app.palette", "ctrl+p", "app.command_palette", "all", "Every action by name.", shown=True),
    Key("app.quit", "ctrl+q", "app.leave", "quit", "Leave; asks first while a run is live."),
    Key(
        "app.interrupt",
        "ctrl+c",
        "app.interrupt",
        "stop",
        "Stop the live run after its running step; once more: kill it.",
        priority=True,
    ),
    Key("app.back", "q,escape", "app.go_back", "back", "Back to the screen before."),
    Key("app.next_pane", "tab", "app.focus_next", "next pane", "The next pane."),
    Key("app.previous_pane", "shift+tab", "app.focus_previous", "previous pane", "The pane before."),
    Key("app.theme", "ctrl+t", "app.next_theme", "theme", "The next theme."),
    Key("app.messages", "M,f5", "app.messages", "messages", "All that was told so far, errors too."),
    # Runs
    Key("runs.open", "enter", "open", "open", "Open the trajectory in the workbench.", shown=True),
    Key("runs.sweep", "w", "sweep", "sweep", "The whole run as a matrix of tasks and fixers.", shown=True),
    Key("runs.new", "n", "new", "new run", "Start a live run.", shown=True),
    Key("runs.mark", "x", "mark", "mark", "Mark a trajectory; two marked ones can be compared.", shown=True),
    Key("runs.compare", "c", "compare", "compare", "Compare the two marked trajectories.", shown=True),
    Key("runs.filter", "slash", "filter", "filter", "Filter: words, category:, status:, fixer:, longer:", shown=True),
    Key("runs.reload", "r", "reload", "reload", "Read the folder of runs again."),
    # Workbench
    Key("workbench.previous", "h,left", "step(-1)", "step back", "The iteration before.", shown=True),
    Key("workbench.next", "l,right", "step(1)", "step on", "The next iteration.", shown=True),
    Key("workbench.first", "0", "first", "first", "The broken start."),
    Key("workbench.last", "dollar_sign", "last", "last", "The newest iteration; follows a live run."),
    Key(
        "workbench.next_change",
        "n",
        "change(1)",
        "next change",
        "The next iteration with another category.",
        shown=True,
    ),
    Key("workbench.previous_change", "p", "change(-1)", "change before", "The iteration before with another category."),
    Key("workbench.next_trajectory", "L", "trajectory(1)", "next trajectory", "The next trajectory of the run."),
    Key(
        "workbench.previous_trajectory",
        "H",
        "trajectory(-1)",
        "trajectory before",
        "The trajectory of the run before this.",
    ),
    Key("workbench.replay_on", "right_square_bracket", "replay(1)", "replay", "Replay: the next event of the journal."),
    Key(
        "workbench.replay_back", "left_square_bracket", "replay(-1)", "replay back", "Replay: take the last event back."
    ),
    Key("workbench.pause", "space", "pause", "pause", "Hold the view still; events are still taken in."),
    Key("workbench.log_build", "1", "log('build')", "build log", "The build's log."),
    Key("workbench.log_test", "2", "log('test')", "test log", "The test's log."),
    Key("workbench.log_sanitizer", "3", "log('sanitizer')", "sanitizer", "The sanitizers' reports."),
    Key("workbench.log_profile", "4", "log('profile')", "profile", "Times and profiler figures."),
    Key(
        "workbench.speed",
        "5",
        "speed",
        "speed",
        "Times of this step, beside the pinned one; which steps pass at each threshold.",
    ),
    Key("workbench.tab", "t", "next_tab", "next tab", "Diff, Code, Structure, Speed, Prompt, Reply in turn."),
    Key("workbench.grow", "plus,equals_sign", "grow(1)", "grow", "Give the logs more room."),
    Key("workbench.shrink", "underscore,minus", "grow(-1)", "shrink", "Give the logs less room."),
    Key("workbench.pin", "b", "pin", "pin", "Pin this step: diffs and times are against it.", shown=True),
    Key(
        "workbench.against",
        "B",
        "against",
        "against",
        "What the diff is against: step before, broken start, pin, best.",
    ),
    Key("workbench.errors", "e", "errors", "errors", "The errors of this step as a list; enter goes to the line."),
    Key("workbench.raw", "E", "raw", "raw record", "This step's raw events in $PAGER."),
    Key("workbench.goto", "colon", "goto", "go to", "Go to a step (3) or a line of the file (:42)."),
    Key(
        "workbench.copy", "Y", "copy_reproduction", "copy command", "Copy the command that plays this trajectory again."
    ),
    Key("workbench.auto", "a,f8", "mode('auto')", "auto", "The fixer goes on by itself.", shown=True),
    Key("workbench.confirm", "c,f9", "mode('confirm')", "confirm", "Each candidate waits for a yes.", shown=True),
    Key("workbench.human", "u,f10", "mode('human')", "human", "Take over as the fixer.", shown=True),
    Key("workbench.level", "v", "level", "feedback", "Fork with another feedback level."),
    Key("workbench.observe", "o", "observe", "go on", "Fork and go on after the stop, in observe mode."),
    Key("workbench.fork", "F", "fork", "fork", "A new trajectory from this step.", shown=True),
    Key("workbench.sanitize", "S", "sanitize", "sanitize", "Run the sanitizers on this candidate.", shown=True),
    Key("workbench.time", "T", "time", "time", "Time this candidate against the reference.", shown=True),
    Key("workbench.profile", "P", "profile", "profiler", "Profile this candidate's kernels (needs a GPU and ncu)."),
    Key("workbench.apply", "A", "apply", "apply", "Write this candidate as a patch, or into a folder."),
    Key("workbench.dismiss", "d", "put_away", "read", "Put the alert away."),
    # Human fixer
    Key("human.edit", "e", "edit", "edit", "Open the file in $EDITOR.", shown=True),
    Key("human.submit", "enter,ctrl+s", "submit", "submit", "Hand the file in.", shown=True, priority=True),
    Key("human.preview", "b", "preview", "compile", "Compile only; costs no iteration.", shown=True),
    Key("human.sanitize", "S", "sanitize", "sanitize", "Run the sanitizers on the file as it is.", shown=True),
    Key("human.auto", "a,f8", "mode('auto')", "auto", "Give the trajectory back to its fixer.", shown=True),
    Key("human.tab", "t", "next_reading", "next tab", "Error, Prompt, Build in turn."),
    # A proposal in confirm mode
    Key("proposal.accept", "y", "accept", "accept", "This candidate is built and tested.", priority=True),
    Key("proposal.reject", "r", "reject", "reject", "Ask the fixer again, with a remark; costs no iteration."),
    Key("proposal.edit", "e", "edit", "edit", "Edit the candidate, then hand it in."),
    Key("proposal.later", "escape,q", "later", "later", "Leave it waiting; c comes back to it."),
    # Compare
    Key("compare.previous", "h,left", "step(-1)", "step back", "Both sides one iteration back.", shown=True),
    Key("compare.next", "l,right", "step(1)", "step on", "Both sides one iteration on.", shown=True),
    Key("compare.left_back", "H", "move('left', -1)", "left back", "The left side one iteration back."),
    Key("compare.left_on", "J", "move('left', 1)", "left on", "The left side one iteration on."),
    Key("compare.right_back", "K", "move('right', -1)", "right back", "The right side one iteration back."),
    Key("compare.right_on", "L", "move('right', 1)", "right on", "The right side one iteration on."),
    Key("compare.swap", "x", "swap", "swap", "Left becomes right.", shown=True),
    # Sweep
    Key("sweep.open", "enter", "open", "open", "Open the cell in the workbench.", shown=True),
    Key("sweep.failures", "f", "failures", "failures first", "Failures first, or the plan's order.", shown=True),
    Key("sweep.map", "m", "map", "map", "Histogram or transitions.", shown=True),
    # Text panes
    Key("text.down", "j,down", "move(1)", "down", "One line down."),
    Key("text.up", "k,up", "move(-1)", "up", "One line up."),
    Key("text.page_down", "pagedown,ctrl+d", "page(1)", "page down", "One page down."),
    Key("text.page_up", "pageup,ctrl+b", "page(-1)", "page up", "One page up."),
    Key("text.top", "g,home", "top", "top", "The first line."),
    Key("text.bottom", "G,end", "bottom", "end", "The last line; a log follows from there."),
    Key("text.left", "less_than_sign,shift+left", "side(-1)", "left", "To the left in long lines."),
    Key("text.right", "greater_than_sign,shift+right", "side(1)", "right", "To the right in long lines."),
    Key("text.search", "slash", "search", "search", "Search in this pane."),
    Key("text.next_hit", "full_stop", "hit(1)", "next hit", "The next hit, or the next change of a diff."),
    Key("text.previous_hit", "comma", "hit(-1)", "hit before", "The hit before, or the change before."),
    Key("text.copy", "y", "copy", "copy", "Copy the line (the hunk, in a diff)."),
    Key("log.filter", "f", "filter", "filter", "Show only lines that match."),
    Key("log.choose", "enter", "choose", "go to line", "Go to the source line that this line names."),
    Key("diff.split", "s", "split", "split", "Unified or side by side.", shown=True),
    Key("diff.more", "right_curly_bracket", "context(1)", "more context", "Show more unchanged lines."),
    Key("diff.less", "left_curly_bracket", "context(-1)", "less context", "Show fewer unchanged lines."),
    Key("diff.whitespace", "w", "whitespace", "whitespace", "Show or ignore changes of white space."),
    # The table of a step's errors
    Key("errors.go", "enter", "go", "go to line", "Go to the line of the source."),
    Key("errors.leave", "escape,q,e", "leave", "close", "Back to the workbench."),
    # Lists and tables
    Key("list.down", "j,down", "move(1)", "down", "The next row."),
    Key("list.up", "k,up", "move(-1)", "up", "The row before."),
    Key("list.page_down", "pagedown,ctrl+d", "page(1)", "page down", "One page of rows down."),
    Key("list.page_up", "pageup,ctrl+b", "page(-1)", "page up", "One page of rows up."),
    Key("list.top", "g,home", "top", "first", "The first row."),
    Key("list.bottom", "G,end", "bottom", "end", "The last row."),
    Key("table.left", "h,left", "side(-1)", "left", "The column before; to the left in wide rows."),
    Key("table.right", "l,right", "side(1)", "right", "The next column; to the right in wide rows."),
    # Questions
    Key("confirm.yes", "y", "answer(True)", "yes", "Yes: do it."),
    Key("confirm.no", "n,escape,q", "answer(False)", "no", "No: nothing is done."),
    Key("choose.take", "enter", "take", "take", "Take the row under the cursor.", shown=True),
    Key("choose.leave", "escape,q", "leave", "leave", "Choose nothing.", shown=True),
    Key("ask.leave", "escape", "leave", "leave", "Leave it; what was typed is forgotten.", shown=True),
    Key("field.take", "enter", "submit", "take", "Take what is typed.", shown=True),
    Key("button.press", "enter,space", "press", "press", "Press the button in focus.", shown=True),
    # The form of a new run
    Key("newrun.start", "ctrl+s,enter", "start", "start", "Start the run.", shown=True),
    Key("newrun.leave", "escape", "leave", "leave", "Start nothing.", shown=True),
    Key("setting.next", "right,l,space", "turn(1)", "next value", "The next value.", shown=True),
    Key("setting.previous", "left,h", "turn(-1)", "value before", "The value before.", shown=True),
    # What was told, and help
    Key("messages.leave", "escape,q", "leave", "close", "Back to the screen before.", shown=True),
    Key("help.down", "j,down", "scroll(1)", "down", "One line down."),
    Key("help.up", "k,up", "scroll(-1)", "up", "One line up."),
    Key("help.page_down", "pagedown,ctrl+d", "page(1)", "page down", "One page down."),
    Key("help.page_up", "pageup,ctrl+b", "page(-1)", "page up", "One page up."),
    Key("help.leave", "escape,q,enter", "leave", "close", "Back to the screen before.", shown=True),
)


_user_keys: dict[str, str] = {}


def use_keymap(keys: Mapping[str, str]) -> None:
    """Show a user's keys, by id, where keys are shown."""
    _user_keys.clear()
    _user_keys.update(keys)


def shown_keys(name: str, first: bool = True) -> str:
    """The keys of an action as a person reads them: "?" and not question_mark. ``first``: only the one to remember."""
    keys = _user_keys.get(name) or next(key.keys for key in KEYS if key.id == name)
    shown = [shown_key(part.strip()) for part in keys.split(",")]
    return shown[0] if first else " ".join(shown)


def shown_key(key: str) -> str:
    """One key as a person reads it."""
    return (_WORDS.get(key) or format_key(key)).replace("ctrl+", "^")


_WORDS = {"up": "up", "down": "down", "left": "left", "right": "right", "enter": "enter", "backspace": "backspace"}
"""Keys that Textual shows with signs that not every terminal has."""


def bindings(scope: str, without: Collection[str] = ()) -> list[BindingType]:
    """The bindings of one scope, each with its id, so that a user's keymap can change it; ``without`` those ids."""
    return [
        Binding(key.keys, key.action, key.label, show=key.shown, priority=key.priority, id=key.id, tooltip=key.help)
        for key in KEYS
        if key.scope == scope and key.id not in without
    ]
