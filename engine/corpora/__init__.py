"""Corpora: where tasks come from. ``load_corpus`` recognises the layout of a folder."""

from engine.corpora.corpus import Corpus, builtin_folder, load_corpus, with_broken

__all__ = ["Corpus", "builtin_folder", "load_corpus", "with_broken"]
