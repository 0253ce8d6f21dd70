"""The examples in docstrings print what they say."""

import doctest
import importlib

import docstrings
import pytest

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [importlib.import_module(name) for name in docstrings.MODULES]
# Pipelines that the examples of umber.data start from, new for each docstring.
PIPELINES = {
    "buffer": lambda dx: dx.buffer_from_vector([{"x": 1}, {"x": 2}, {"x": 3}]),
    "stream": lambda dx: dx.buffer_from_vector([{"x": n} for n in range(5)]).to_stream(),
}
PARSER = doctest.DocTestParser()

# Some print devices and memory, which are those of the CPU.
pytestmark = pytest.mark.host


def examples():
    """The docstrings with examples by name: of modules, functions, classes and their members."""
    documented = [(module.__name__, module) for module in MODULES]
    documented += [(entry.name, entry.value) for entry in docstrings.entries(MODULES)]
    for name, value in documented:
        text = docstrings.text_of(value)
        if ">>> " in text:
            yield pytest.param(name, text, id=name)


@pytest.mark.parametrize(("name", "text"), [*examples()])
def test_examples_of(name, text):
    namespace = {
        short: importlib.import_module(module) for short, module in docstrings.NAMESPACE.items()
    }
    if name.startswith("umber.data"):
        namespace |= {short: make(namespace["dx"]) for short, make in PIPELINES.items()}
    printed = []
    test = PARSER.get_doctest(text, namespace, name, None, None)
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=printed.append)
    assert not printed, "".join(printed)
