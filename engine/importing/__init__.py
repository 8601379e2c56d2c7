"""Results of other harnesses as runs of ours: read, never played again, marked as imported."""

from engine.importing.runs import Imported, find_results, import_results

__all__ = ["Imported", "find_results", "import_results"]
