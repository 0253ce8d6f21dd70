"""Calls in threads whose stack is small."""

import threading
from collections.abc import Callable
from typing import Any


def call_in_thread(stack: int, function: Callable[[], Any]) -> Any:
    """What `function` returns in a thread with a stack of so many bytes; what it raises is raised.

    A thread that ends without either fails the test that called.
    """
    returned, raised = [], []

    def run():
        try:
            returned.append(function())
        except BaseException as error:
            raised.append(error)

    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if raised:
        raise raised[0]
    (answer,) = returned
    return answer
