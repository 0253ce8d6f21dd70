"""Every name in the modules of MLX's wheel is found in umber, with the import hook and without.

`tests/mlx/mlx_names.json` lists them; `tools/mlx_names.py` writes it from an installed wheel.
"""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from umber.mlx import MLX_VERSION

TABLE = json.loads((Path(__file__).parent / "mlx_names.json").read_text(encoding="utf-8"))

# What umber has no counterpart of, and why.
WITHOUT_COUNTERPART = {
    "mlx.__array_api_info": "is reached by `__array_namespace_info__` alone",
    "mlx.__main__": "prints where MLX's C++ headers are",
    "mlx._reprlib_fix": "mends a fault of `reprlib` that `umber/__init__.py` mends",
    "mlx.extension": "builds C++ and Metal code against MLX's headers",
}
# What is there while the hook is installed only.
WITH_HOOK_ONLY = {
    "mlx.core": "_PrintOptionsContext _gc_func cuda distributed metal",
    "mlx.core.cuda": "*",
    "mlx.core.distributed": "*",
    "mlx.core.metal": "*",
}
MODULES = [name for name in TABLE["modules"] if name not in WITHOUT_COUNTERPART]


def names_in(module):
    return [name for names in TABLE["modules"][module].values() for name in names.split()]


def test_the_table_is_of_the_version_that_umber_follows():
    assert TABLE["version"] == MLX_VERSION
    assert set(WITHOUT_COUNTERPART) | set(WITH_HOOK_ONLY) <= set(TABLE["modules"])


@pytest.mark.parametrize("module", [m for m in MODULES if WITH_HOOK_ONLY.get(m) != "*"])
def test_names_without_the_hook(module):
    excused = WITH_HOOK_ONLY.get(module, "").split()
    found = import_module(module.replace("mlx", "umber", 1))
    missing = [name for name in names_in(module) if not hasattr(found, name)]
    assert missing == [name for name in names_in(module) if name in excused]
    for name in set(names_in(module)) - set(excused):
        exec(f"from {found.__name__} import {name}", {})


@pytest.mark.parametrize("name", TABLE["classes"])
def test_public_members_of_classes(name):
    module, _, class_ = name.rpartition(".")
    if module in WITHOUT_COUNTERPART or class_ in WITH_HOOK_ONLY.get(module, ""):
        return
    ours = "umber.mlx" if WITH_HOOK_ONLY.get(module) == "*" else "umber.core"
    ours = module.replace("mlx.core", ours).removeprefix("mlx.")
    found = getattr(import_module(ours if ours[:6] == "umber." else f"umber.{ours}"), class_)
    members = [member for member in TABLE["classes"][name].split() if member[0] != "_"]
    assert [member for member in members if not hasattr(found, member)] == []


CHECK = """
import json, sys
from importlib import import_module
from types import ModuleType
import umber.mlx
umber.mlx.install()
modules = json.load(sys.stdin)
for module, homes in modules.items():
    found = import_module(module)
    assert found.__name__ == module, (found.__name__, module)
    for home, names in homes.items():
        for name in names.split():
            scope = {}
            exec(f"from {module} import {name}", scope)
            value = scope[name]
            # Functions of umber's that MLX has twice say where the first is.
            if not home or name[0] == "_" or module == "mlx.core.metal":
                continue
            shown = value.__name__ if isinstance(value, ModuleType) else value.__module__
            assert shown == home or name == "clip_grad_norm_sharded", (module, name, shown, home)
print("done")
"""


def test_names_with_the_hook_and_where_they_say_they_are_from():
    modules = {name: TABLE["modules"][name] for name in MODULES}
    done = subprocess.run(
        [sys.executable, "-c", CHECK],
        input=json.dumps(modules),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "done\n", done.stderr


def test_keys_are_checked_as_by_freeze():
    import umber.nn as nn

    model = nn.Sequential(nn.Linear(2, 2))
    assert model._validate_keys("layers", True) == ["layers"]
    assert model._validate_keys(["bias", "other"], False) == ["bias", "other"]
    model._validate_keys_recursive(["layers", "bias"])
    with pytest.raises(KeyError, match="'bias'"):
        model._validate_keys(["bias"], True)
    with pytest.raises(KeyError, match="'other'"):
        model._validate_keys_recursive(["bias", "other"])


def test_private_functions_compute_what_umber_does():
    import umber.core as mx
    import umber.nn as nn

    x = mx.random.normal((2, 6, 5, 3), key=mx.random.key(0))
    upsample, pooling = nn.layers.upsample, nn.layers.pooling
    for mode, taps in (
        ("linear", upsample._linear_indices),
        ("cubic", upsample._cubic_indices),
    ):
        for align in (False, True):
            expected = nn.Upsample((2.0, 1.5), mode=mode, align_corners=align)(x)
            for function in (upsample._interpolate, upsample._interpolate_separable):
                assert mx.allclose(function(x, (2.0, 1.5), taps, align), expected, atol=1e-5)
    for mode, taps in (
        ("linear", upsample._linear_aa_indices),
        ("cubic", upsample._cubic_aa_indices),
    ):
        expected = nn.Upsample((0.5, 0.6), mode=mode, antialias=True)(x)
        assert mx.allclose(upsample._interpolate(x, (0.5, 0.6), taps), expected, atol=1e-5)
    assert upsample._nearest_indices(3, 1.5, 1, 2).tolist() == [[0, 1, 1, 2]]
    windows = pooling._sliding_windows(x, (3, 2), (2, 1))
    assert windows.shape == (2, 2, 4, 3, 2, 3)
    assert mx.array_equal(windows[1, 1, 2], x[1, 2:5, 2:4])
    tiles = pooling._non_overlapping_sliding_windows(x, x.shape, (3, 5))
    assert mx.array_equal(tiles[0, 1, 0], x[0, 3:, :])
    for kind, function, padding in (("Max", mx.max, -mx.inf), ("Avg", mx.mean, 0)):
        pool = pooling._Pool2d(function, padding, (3, 2), 2, 1)
        assert mx.allclose(pool(x), getattr(nn, f"{kind}Pool2d")((3, 2), 2, 1)(x))
    assert nn.init._calculate_fan_in_fan_out(mx.zeros((3, 4, 5))) == (20, 12)
    assert nn.losses._reduce(mx.array([1.0, 2.0]), "sum").item() == 3
    assert nn.quantized._defaults_for_mode("mxfp8", None, None) == (32, 8)
    groups = nn.utils._group_by_size
    assert groups("abc", [3, 4, 5], 4, 20) == groups("abc", [3, 4, 5], 4, 28) == [[0, 1], [2]]
    assert groups("abc", [300, 4, 5], 4, 16) == groups("abc", [3, 4, 5], 4, 0) == [[0], [1], [2]]
    scaled, norm = nn.utils.clip_grad_norm_sharded({"a": mx.array([3.0, 4.0])}, 1.0)
    assert norm.item() == 5
    assert mx.allclose(scaled["a"], mx.array([0.6, 0.8]))
    linear = nn.Linear(2, 3)
    tree = nn.layers.base._unwrap(
        linear,
        "x",
        [linear, linear.bias],
        lambda module, key, value: True,
        lambda value: value.shape,
        lambda module, key, value: isinstance(value, mx.array),
    )
    assert tree == [{"weight": (3, 2), "bias": (3,)}, (3,)]
