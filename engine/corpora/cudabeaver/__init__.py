"""A checkout of the public CUDABeaver repository as a corpus, read where it lies: nothing is prepared and nothing is written into it."""

from engine.corpora.cudabeaver.reader import Checkout, is_checkout

__all__ = ["Checkout", "is_checkout"]
