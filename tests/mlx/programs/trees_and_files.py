"""Nested parameters taken apart, changed, put together, written to files and read back."""

import tempfile
from pathlib import Path

import mlx.core as mx
import mlx.utils
from mlx.utils import tree_flatten, tree_map, tree_map_with_path, tree_reduce, tree_unflatten

tree = {
    "blocks": [
        {"weight": mx.arange(6, dtype=mx.float32).reshape(2, 3), "bias": mx.zeros(2)},
        {"weight": -mx.ones((3, 2)), "bias": mx.full((3,), 0.5)},
    ],
    "scale": mx.array(2.0),
    "steps": mx.array([1, 2, 3], dtype=mx.uint32),
}

flat = tree_flatten(tree)
print([name for name, _ in flat])
assert tree_flatten(tree_unflatten(flat))[0][0] == flat[0][0]
sizes = tree_map(lambda x: x.size, tree)
print(sizes, tree_reduce(lambda total, size: total + size, sizes))

halved = tree_map_with_path(
    lambda path, x: x.astype(mx.float16) if path.endswith("weight") else x, tree
)
print({name: str(x.dtype).split(".")[-1] for name, x in tree_flatten(halved)})
print(sorted(mlx.utils.tree_merge({"a": {"x": 1}}, {"a": {"y": 2}})["a"].items()))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "tree.safetensors"
    mx.save_safetensors(str(path), dict(tree_flatten(halved)), {"made_by": "a program"})
    loaded, notes = mx.load(str(path), return_metadata=True)
    again = tree_unflatten(list(loaded.items()))
    one = Path(folder) / "one.npy"
    mx.save(str(one), tree["steps"])
    steps = mx.load(str(one))
    try:
        mx.load(str(Path(folder) / "nothing.safetensors"))
    except Exception:
        print("no such file")

assert notes["made_by"] == "a program"
same = tree_map(lambda a, b: a.dtype == b.dtype and mx.array_equal(a, b).item(), halved, again)
assert all(value for _, value in tree_flatten(same))
assert steps.dtype == mx.uint32
print("read back", steps.tolist(), again["blocks"][0]["weight"])
