"""Tasks made and fixes taken home: a user's failing program becomes a task, an accepted fix becomes a patch, and failing
candidates of stored runs become tasks of their own."""
