"""What a screen shows, without any screen: progress, lines and summaries, folded from events."""
