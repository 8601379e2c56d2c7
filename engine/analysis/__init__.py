"""Numbers from stored runs: a Frame of columns, the paper's metrics over it, and how far each number can be trusted.

``scan.frame_of`` reads runs into a Frame; everything else is a pure function of a Frame or of plain arrays. numpy is loaded by
these modules and scipy by the functions that need it, so import them where they are used.
"""
