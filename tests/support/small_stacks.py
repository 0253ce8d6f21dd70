"""Calls in threads whose stack is small."""

import threading
from collections.abc import Callable
from typing import Any


def call_in_thread(stack: int, function: Callable[[], Any]) -> Any:
    """What `function` returns in a thread with a stack of so many bytes; what it raises is raised.

    A thread that ends without either fails the test that called. The system may give a thread the
    stack of an earlier one, up to four times as large: tests of what 256 KB do not hold want no
    others of up to 1 MB beside them.
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
