"""Counting how often a compiled function is traced."""

import umber.core as mx


class Traces:
    """A compiled function that counts how often its Python body runs."""

    def __init__(self, function, **options):
        self.count = 0

        def body(*args, **kwargs):
            self.count += 1
            return function(*args, **kwargs)

        self.compiled = mx.compile(body, **options)

    def __call__(self, *args, **kwargs):
        return self.compiled(*args, **kwargs)
