"""The commands around tasks: making them, checking them, taking a fix home."""
