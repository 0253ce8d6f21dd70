"""Every public function and method of umber.data is used by a test of this folder.

A test uses a name by an attribute, or by a word of a text, as the tables of operations do. Of the
conditional twins `…_if`, the last test here tests all.
"""

import ast
import inspect
import itertools
from functools import cache
from pathlib import Path

import pytest
import umber.data as dx

FOLDER = Path(__file__).parent
CLASSES = {"Buffer": dx.Buffer, "Stream": dx.Stream}
# Classes that only results are of, tested here.
RESULTS = {
    "CharTrieNode": lambda trie: trie.insert("a"),
    "GraphInt64": lambda trie: dx.core.Tokenizer(trie).tokenize("a"),
}
TWINS = [
    f"{owner}.{name}" for owner, cls in CLASSES.items() for name in dir(cls) if name.endswith("_if")
]


def public_names():
    """The names of the package, and the methods of its two classes."""
    for name in dx.__all__:
        if name not in CLASSES:
            yield name
    for name in dx.core.__all__:
        if name not in RESULTS:
            yield f"core.{name}"
    for owner, cls in CLASSES.items():
        for name in dir(cls):
            if not name.startswith("_") and f"{owner}.{name}" not in TWINS:
                yield f"{owner}.{name}"


@cache
def words():
    """What the tests of this folder mention: attributes, imported names, and words of texts."""
    found = set()
    tables = [*(FOLDER.parent / "tables").rglob("*data*.py")]
    for path in [*FOLDER.glob("test_*.py"), *tables]:
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.alias):
                found.add(node.name)
            elif isinstance(node, ast.keyword) and node.arg:
                found.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(node.value.split())
    return found


@pytest.mark.parametrize("name", [*public_names()])
def test_is_used_by_a_test(name):
    own = name.rpartition(".")[2]
    assert own in words(), f"no test in tests/data uses {name}: add one, or a row to its table"


def test_classes_of_results():
    trie = dx.core.CharTrie()
    for name, make in RESULTS.items():
        assert type(make(trie)) is getattr(dx.core, name)


# Arguments that an operation accepts when it is added, by the names of its parameters.
ARGUMENTS = {
    "key": "x",
    "ikey": "x",
    "output_key": "y",
    "filename_key": "f",
    "size_key": "n",
    "prefix": "nowhere",
    "dim": 0,
    "dims": 0,
    "starts": 0,
    "ends": 1,
    "sizes": 1,
    "func": lambda x: x,
    "dtype": "float32",
    "scale": 2.0,
    "mean": 0.0,
    "std": 1.0,
    "byte_map": [b"a"] * 256,
    "old": b"a",
    "replacement": b"b",
    "area_range": (0.5, 1.0),
    "aspect_ratio_range": (0.5, 2.0),
    "prob": 0.5,
    "num_partitions": 2,
    "partition": 1,
    "buffer_size": 2,
    "trie": dx.core.CharTrie(),
    "symbols": dx.core.CharTrie(),
    "merges": dx.core.BPEMerges(),
    "tarkey": "t",
    "okey": "y",
}


@pytest.mark.parametrize("name", TWINS)
def test_a_conditional_twin_does_all_or_nothing(name):
    owner, _, twin = name.partition(".")
    plain = twin.removesuffix("_if")
    cls = CLASSES[owner]
    parameters = inspect.signature(getattr(cls, plain)).parameters
    (first, own), (second, cond), *rest = inspect.signature(getattr(cls, twin)).parameters.items()
    assert (first, second, cond.default) == ("self", "cond", inspect.Parameter.empty)
    assert {first: own, **dict(rest)} == dict(parameters)

    needed = {
        parameter: ARGUMENTS.get(parameter, 1)
        for parameter, value in itertools.islice(parameters.items(), 1, None)
        if value.default is inspect.Parameter.empty
    }
    made = dx.buffer_from_arrays({"x": [1, 2, 3]})
    made = made if owner == "Buffer" else made.to_stream()
    assert repr(getattr(made, twin)(False, **needed)) == repr(made)
    more = {each: 1 for each in ("seed", "input_sample_rate") if each in parameters}
    if plain == "load_video":
        with pytest.raises(NotImplementedError, match=r"^\[load_video\]"):
            made.load_video_if(True, "x")
        return
    done = [
        repr(getattr(made, each)(*cond, **needed, **more))
        for each, cond in ((twin, (True,)), (plain, ()))
    ]
    assert done[0] == done[1]
    if plain != "prefetch":
        assert done[0] != repr(made)
