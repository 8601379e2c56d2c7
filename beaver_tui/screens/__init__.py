"""The five screens, and the questions that lie over them."""
