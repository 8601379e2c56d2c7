"""The base of what is drawn line by line: a size of its own that the screen need not be laid out anew for."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView


class Lined(ScrollView, inherit_bindings=False):
    """A scrollable pane without widgets in it. Its room is the screen's to give; what is in it may grow and shrink."""

    def fit(self, size: Size) -> None:
        """What is in the pane is so large now. Textual lays out the whole screen for that, which takes longer than all drawing; it
        is needed where a bar comes or goes, and where the pane is as high as what is in it."""
        if size == self.virtual_size:
            return
        if not self.container_size or self.styles.is_auto_height:
            self.virtual_size = size
            return
        self.set_reactive(ScrollView.virtual_size, size)
        self._scroll_update(size)
