"""The import hook of `umber.mlx`: what it answers, refuses and leaves alone.

Each case is a process of its own, since what a process has imported cannot be taken back.
"""

import importlib.util
import pickle
import subprocess
import sys
import textwrap

import pytest


def run(code, *, hook=True, folder=None):
    """Run Python code, with the hook installed unless told otherwise."""
    before = "import umber.mlx; umber.mlx.install()\n" if hook else ""
    done = subprocess.run(
        [sys.executable, "-c", before + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


MODULES = {
    "mlx": "umber",
    "mlx.core": "umber.core",
    "mlx.core.fast": "umber.core.fast",
    "mlx.core.fft": "umber.core.fft",
    "mlx.core.linalg": "umber.core.linalg",
    "mlx.core.random": "umber.core.random",
    "mlx.data": "umber.data",
    "mlx.data.core": "umber.data.core",
    "mlx.data.datasets": "umber.data.datasets",
    "mlx.data.features": "umber.data.features",
    "mlx.data.tokenizer_helpers": "umber.data.tokenizer_helpers",
    "mlx.nn": "umber.nn",
    "mlx.nn.init": "umber.nn.init",
    "mlx.nn.layers": "umber.nn.layers",
    "mlx.nn.layers.base": "umber.nn.layers.base",
    "mlx.nn.layers.transformer": "umber.nn.layers.transformer",
    "mlx.nn.losses": "umber.nn.losses",
    "mlx.nn.utils": "umber.nn.utils",
    "mlx.optimizers": "umber.optimizers",
    "mlx.nn.layers.distributed": "umber.nn.layers.distributed",
    "mlx.optimizers.optimizers": "umber.optimizers.optimizers",
    "mlx.optimizers.schedulers": "umber.optimizers.schedulers",
    "mlx.utils": "umber.utils",
}


@pytest.mark.parametrize("first", ["umber", "mlx"])
def test_modules_are_the_very_modules_of_umber(first):
    run(
        f"""
        from importlib import import_module
        modules = {MODULES}
        if {first!r} == "umber":
            [import_module(ours) for ours in modules.values()]
        for name, ours in modules.items():
            assert import_module(name) is import_module(ours), name
            spec = import_module(ours).__spec__
            assert spec is None or spec.name == name, spec
            assert import_module(ours).__name__ == name
        umber.mlx.uninstall()
        for ours in modules.values():
            spec = import_module(ours).__spec__
            assert spec is None or spec.name == ours, spec
            assert import_module(ours).__name__ == ours
        """
    )


def test_every_form_of_import():
    run(
        """
        import mlx, mlx.core, mlx.core as mx, mlx.nn as nn, mlx.core.random, mlx.nn.layers.linear
        import umber.core, umber.nn, umber.utils
        from mlx import core, nn as layers, optimizers
        from mlx.core import array, float32, random
        from mlx.nn import Module, init, losses
        from mlx.utils import tree_flatten
        from mlx.core.distributed import all_sum
        assert mx is core is mlx.core is umber.core and nn is layers is umber.nn
        assert random is mx.random and tree_flatten is umber.utils.tree_flatten
        assert isinstance(umber.core.zeros(2), array) and Module is umber.nn.Module
        assert __import__("mlx.nn") is mlx and __import__("mlx.nn", fromlist=["x"]) is nn
        """
    )


def test_pickles_agree():
    run(
        """
        import pickle, mlx.core as mx, mlx.nn as nn
        text = pickle.dumps([mx.array([1, 2]), mx.float16, nn.Linear])
        assert b"mlx" not in text
        umber.mlx.uninstall()
        values, dtype, layer = pickle.loads(text)
        assert values.tolist() == [1, 2] and dtype == mx.float16 and layer is nn.Linear
        """
    )


def test_finding_without_importing():
    run(
        """
        import sys
        from importlib.util import find_spec
        assert find_spec("mlx").name == "mlx" and find_spec("mlx").submodule_search_locations
        assert find_spec("mlx.nn").name == "mlx.nn" and "umber.nn" not in sys.modules
        assert find_spec("no_such_module") is None
        import mlx.nn
        assert find_spec("mlx.nn") is mlx.nn.__spec__
        """
    )


def test_versions():
    run(
        """
        import mlx.core as mx
        from importlib import metadata
        assert mx.__version__ == metadata.version("mlx") == umber.mlx.MLX_VERSION
        assert metadata.metadata("MLX")["Name"] == "mlx" and metadata.requires("mlx") is None
        assert "mlx" in {d.metadata["Name"] for d in metadata.distributions()}
        assert metadata.version("numpy") != umber.mlx.MLX_VERSION
        umber.mlx.uninstall()
        assert umber.core.__version__ == umber.__version__
        """
    )


MISSING = {
    "import mlx.separate": "No module named 'mlx.separate'",
    "import mlx.nn.nothing.below": "No module named 'mlx.nn.nothing'",
    # They lie in umber's folder.
    "import mlx.mlx": "No module named 'mlx.mlx': umber answers for mlx and has no such module",
    "import mlx.array_api.fft": "No module named 'mlx.array_api': umber answers",
    "import mlx._errors": "No module named 'mlx._errors': umber answers",
    "import mlx.core.nothing": "No module named 'mlx.core.nothing'",
    "from mlx import separate": "cannot import name 'separate' from 'mlx'",
    "from mlx.core import nothing": "cannot import name 'nothing' from 'mlx.core'",
    "from mlx.nn import Nothing": "cannot import name 'Nothing' from 'mlx.nn'",
    "import mlx.core as mx; mx.nothing": "module 'mlx.core' has no attribute 'nothing'",
    "import mlx.nn as nn; nn.Nothing": "module 'mlx.nn' has no attribute 'Nothing'",
}


@pytest.mark.parametrize("line", MISSING)
def test_what_umber_lacks_is_named(line):
    message = run(
        f"""
        try:
            exec({line!r})
        except (ImportError, AttributeError) as error:
            print(error)
        """
    )
    assert message.startswith(MISSING[line])


def test_finding_what_is_not_there():
    run(
        """
        import sys
        from importlib.util import find_spec
        for name in ("mlx.separate", "mlx.nn.nothing", "mlx.core_"):
            assert find_spec(name) is None, name
        for name in ("separate", "nn.nothing", "mlx", "array_api"):
            try:
                __import__(f"mlx.{name}")
            except ModuleNotFoundError as error:
                assert error.name == f"mlx.{name}", error.name
            else:
                raise AssertionError(name)
            assert f"mlx.{name}" not in sys.modules
        """
    )


def test_modules_that_a_program_puts_below_mlx_itself(tmp_path):
    (tmp_path / "inner.py").write_text("value = 3")
    run(
        f"""
        import sys, types
        sys.modules["mlx.separate"] = package = types.ModuleType("mlx.separate")
        package.__path__ = [{str(tmp_path)!r}]
        import mlx.separate.inner
        assert sys.modules["mlx.separate.inner"].value == 3
        """
    )


def test_devices_that_are_not_there():
    run(
        """
        import mlx.core as mx, mlx.core.metal
        assert mx.metal is mlx.core.metal
        assert mx.metal.is_available() is False and mx.cuda.is_available() is False
        assert mx.metal.get_active_memory() == mx.get_active_memory()
        assert mx.metal.set_wired_limit(0) == 0
        assert mx.metal.start_capture("a.gputrace") is None and mx.metal.stop_capture() is None
        """
    )


def test_a_group_of_one_process():
    run(
        """
        import mlx.core as mx
        d, x = mx.distributed, mx.array([1.0, 2.0])
        group = d.init()
        assert (group.rank(), group.size(), d.is_available()) == (0, 1, False)
        for exchange in (d.all_sum, d.all_max, d.all_min, d.all_gather, d.sum_scatter):
            assert exchange(x, group=group, stream=mx.cpu).tolist() == x.tolist()
            assert mx.grad(lambda x: exchange(x).sum())(x).tolist() == [1.0, 1.0]
        assert d.all_sum(1.5).tolist() == 1.5

        def refused(kind, name, text, call):
            try:
                call()
            except kind as error:
                assert str(error).startswith(f"[distributed.{name}] {text}"), error
            else:
                raise AssertionError(name)

        alone = "a group of one process has no other process to communicate with"
        refused(ValueError, "init", "got backend 'pigeons'", lambda: d.init(backend="pigeons"))
        refused(RuntimeError, "init", "strict=True requires a backend", lambda: d.init(strict=True))
        refused(RuntimeError, "split", "cannot split a group of one", lambda: group.split(0))
        refused(TypeError, "all_sum", "group: got int, expected a", lambda: d.all_sum(x, group=3))
        refused(ValueError, "send", alone, lambda: d.send(x, 1))
        refused(ValueError, "recv", alone, lambda: d.recv((2,), mx.float32, 1))
        refused(ValueError, "recv_like", alone, lambda: d.recv_like(x, 1))
        """
    )


def test_layers_of_one_process_stay_whole():
    run(
        """
        import mlx.core as mx, mlx.nn as nn
        from mlx.nn.layers.distributed import shard_inplace, shard_linear, sum_gradients
        layer, group = nn.Linear(4, 6), mx.distributed.init()
        quantized = nn.QuantizedLinear(64, 6, mode="mxfp4")
        weight, x, wide = layer.weight, mx.ones((2, 4)), mx.ones((2, 64))
        kinds = {"all-to-sharded": "AllToSharded", "sharded-to-all": "ShardedToAll"}
        for sharding, kind in kinds.items():
            part = shard_linear(layer, sharding, segments=2, group=group)
            assert type(part) is getattr(nn, f"{kind}Linear") and part.group is group
            assert part.weight is weight and part(x).tolist() == layer(x).tolist()
            part = shard_linear(quantized, sharding)
            assert type(part) is getattr(nn, f"Quantized{kind}Linear"), part
            assert part(wide).tolist() == quantized(wide).tolist()
            assert not part.trainable_parameters()
            assert type(part)(64, 6)(wide).shape == (2, 6)
        assert nn.fully_shard(layer) is layer
        whole = nn.FullyShardedModule(layer, compute_dtype=mx.float16)
        assert whole(x.astype(mx.float16)).dtype == mx.float16 and layer.weight is weight
        assert whole.parameters() == {"module": layer.parameters()}
        shard_inplace(layer, lambda path, weight: 0, group=group)
        assert layer.weight is weight
        assert sum_gradients(group)(weight) is weight

        for kind, call in (
            (ValueError, lambda: shard_linear(layer, "around")),
            (ValueError, lambda: shard_inplace(layer, "around")),
            (TypeError, lambda: shard_linear(3, "all-to-sharded")),
            (TypeError, lambda: shard_linear(nn.ReLU(), "all-to-sharded")),
            (ValueError, lambda: shard_linear(layer, lambda path, weight: 0)),
        ):
            try:
                call()
            except kind as error:
                assert str(error).startswith("[shard_"), error
            else:
                raise AssertionError(kind)
        """
    )


NAMES = {
    "str(mx.bfloat16)": "mlx.core.bfloat16",
    "repr(mx.bool_)": "mlx.core.bool",
    "str(mx.array(1).dtype).removeprefix('mlx.core.')": "int32",
    "repr(mx.array)": "<class 'mlx.core.array'>",
    "type(mx.array(1)).__module__": "mlx.core",
    "mx.Dtype.__module__": "mlx.core",
    "mx.DtypeCategory.__module__": "mlx.core",
    "mx.array.astype.__qualname__": "array.astype",
    "mx.add.__module__": "mlx.core",
    "mx.linalg.norm.__module__": "mlx.core.linalg",
    "type(mx.random.state).__module__": "mlx.core.random",
    "type(mx.grad(abs)).__module__": "mlx.core",
    "type(mx.compile(abs)).__module__": "mlx.core",
    "type(mx.custom_function(abs)).__module__": "mlx.core",
    "type(iter(mx.array([1]))).__module__": "mlx.core",
    "type(mx.array(1).at).__module__": "mlx.core",
    "mx.distributed.Group.__module__": "mlx.core.distributed",
    "mx.__name__": "mlx.core",
    "mx.fast.__name__": "mlx.core.fast",
    "repr(mx).split()[1]": "'mlx.core'",
    "mlx.__name__": "mlx",
    "nn.__name__": "mlx.nn",
    "nn.Linear.__module__": "mlx.nn.layers.linear",
    "nn.Module.parameters.__module__": "mlx.nn.layers.base",
    "nn.Linear(2, 2).__call__.__module__": "mlx.nn.layers.linear",
    "nn.relu.__module__": "mlx.nn.layers.activations",
    "nn.value_and_grad.__module__": "mlx.nn.utils",
    "nn.utils.checkpoint.__module__": "mlx.nn.utils",
    "nn.losses.mse_loss.__module__": "mlx.nn.losses",
    "nn.init.normal.__module__": "mlx.nn.init",
    "repr(optim.Adam)": "<class 'mlx.optimizers.optimizers.Adam'>",
    "optim.cosine_decay.__module__": "mlx.optimizers.schedulers",
    "tree_map.__module__": "mlx.utils",
}


@pytest.mark.parametrize("first", ["umber", "mlx"])
def test_names_are_those_of_mlx_while_it_is_installed(first):
    run(
        f"""
        if {first!r} == "umber":
            import umber.nn, umber.optimizers, umber.utils
        import mlx, sys
        import mlx.core as mx, mlx.nn as nn, mlx.optimizers as optim
        from mlx.utils import tree_map
        for expression, name in {NAMES}.items():
            assert eval(expression) == name, (expression, eval(expression))
            module = eval(expression.rpartition(".__module__")[0] or "nn.Linear")
            assert module.__module__ in sys.modules
        umber.mlx.uninstall()
        for expression, name in {NAMES}.items():
            if "distributed" not in expression:
                assert "mlx" not in str(eval(expression)), expression
        umber.mlx.install()
        assert str(mx.int8) == "mlx.core.int8" and nn.Linear.__module__ == "mlx.nn.layers.linear"
        """
    )


def test_every_class_and_function_is_found_where_it_says_it_is_from():
    run(
        """
        import copy, inspect, pickle, sys, typing
        import mlx.core as mx, mlx.nn as nn, mlx.optimizers as optim, mlx.utils
        for module in (mx, mx.linalg, mx.random, mx.fft, mx.fast, nn, nn.losses, nn.init, optim):
            for name, value in vars(module).items():
                if name[0] != "_" and (isinstance(value, type) or inspect.isbuiltin(value)):
                    if value.__module__.partition(".")[0] not in ("mlx", "umber"):
                        continue
                    text = pickle.dumps(value)
                    assert b"mlx" not in text and pickle.loads(text) is value, value
        assert inspect.getmodule(nn.Linear) is sys.modules["umber.nn.layers.linear"]
        assert "def __call__" in inspect.getsource(nn.Linear)
        assert copy.deepcopy({"name": mx.array.__module__}) == {"name": "mlx.core"}
        """
    )


@pytest.mark.parametrize("protocol", range(4, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_read_without_the_hook(protocol, tmp_path):
    run(
        f"""
        import pickle, mlx.core as mx, mlx.nn as nn, mlx.optimizers as optim
        model, adam = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), optim.AdamW(1e-3)
        adam.update(model, model.parameters())
        given = [mx.arange(3), mx.bfloat16, mx.cpu, mx.add, optim.Adam, nn.Linear, model, adam]
        open("given", "wb").write(pickle.dumps(given, {protocol}))
        """,
        folder=tmp_path,
    )
    run(
        """
        import pickle, umber.core as mx
        x, dtype, kind, add, Adam, linear, model, adam = pickle.load(open("given", "rb"))
        assert x.tolist() == [0, 1, 2] and dtype == mx.bfloat16 and kind is mx.cpu
        assert add is mx.add and Adam.__module__ == "umber.optimizers.adam"
        assert linear.__module__ == "umber.nn.layers.linear"
        assert model(mx.ones(2)).shape == (3,) and adam.state["step"].item() == 1
        """,
        hook=False,
        folder=tmp_path,
    )


def test_submodules_of_umber_by_every_form_of_import():
    run(
        """
        import mlx.core
        from umber import _errors, array_api, nn, utils
        from umber.nn import losses
        import mlx.nn
        assert mlx.nn is nn and array_api.__name__ == "umber.array_api"
        assert mlx.core.ones(2).__array_namespace__().__name__.startswith("umber.array_api")
        try:
            from umber import nothing
        except ImportError as error:
            assert "cannot import name 'nothing'" in str(error)
        """
    )


@pytest.mark.parametrize("is_real_mlx_there", [False, True])
def test_packages_beside_mlx_are_found_where_they_are_installed(tmp_path, is_real_mlx_there):
    package = tmp_path / "mlx/separate/inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from mlx.core import array\nvalue = 3")
    (package / "__init__.py").write_text("from mlx.separate import value")
    (tmp_path / "mlx/extension.py").write_text("raise RuntimeError('MLX itself')")
    if is_real_mlx_there:
        (tmp_path / "mlx/nn").mkdir()
        (tmp_path / "mlx/nn/__init__.py").write_text("raise RuntimeError('MLX itself')")
    run(
        f"""
        import sys
        sys.path.append({str(tmp_path)!r})
        from importlib.util import find_spec
        assert find_spec("mlx.separate").origin.startswith({str(tmp_path)!r})
        from mlx import separate
        import mlx.separate.inner, mlx.nn
        assert separate.value == mlx.separate.inner.value == 3
        assert separate.array is umber.core.array
        assert separate.__name__ == "mlx.separate" and mlx.nn is umber.nn
        assert find_spec("mlx.extension") is None
        """
    )


def test_streams_of_single_threads():
    run(
        """
        import mlx.core as mx
        from threading import Thread
        stream = mx.new_thread_local_stream(mx.default_device())
        assert isinstance(stream, mx.ThreadLocalStream)
        results = []

        def work():
            with mx.stream(stream):
                results.append((mx.arange(3) + 1).tolist())

        threads = [Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        mx.synchronize(stream)
        assert results == [[1, 2, 3]] * 3
        """
    )


def test_installing_twice_and_taking_it_back():
    run(
        """
        import sys, multiprocessing.spawn
        import umber, umber.core
        names, path = set(vars(umber.core)), list(sys.meta_path)
        prepare = multiprocessing.spawn.get_preparation_data
        import umber.mlx
        umber.mlx.uninstall()
        for _ in range(2):
            umber.mlx.install()
            umber.mlx.install()
            assert len(sys.meta_path) == len(path) + 1
            import mlx.nn
            umber.mlx.uninstall()
            umber.mlx.uninstall()
            assert sys.meta_path == path and set(vars(umber.core)) == names
            assert not [name for name in sys.modules if name.split(".")[0] == "mlx"]
            assert multiprocessing.spawn.get_preparation_data is prepare
        assert mlx.nn.__name__ == "umber.nn"
        """,
        hook=False,
    )


REFUSED = """
    import umber.mlx, sys
    try:
        umber.mlx.install()
    except umber.mlx.MlxImportedError as error:
        assert isinstance(error, ImportError) and error.name == {name!r}, error.name
        assert str(error).startswith("[umber.mlx.install] mlx is already imported")
        assert not hasattr(umber.core, "metal") and len(sys.meta_path) == count
    else:
        raise AssertionError
"""


def test_a_module_of_the_name_that_came_first(tmp_path):
    (tmp_path / "mlx.py").write_text("")
    code = "import sys, mlx\ncount = len(sys.meta_path)\n"
    run(code + textwrap.dedent(REFUSED.format(name="mlx")), hook=False, folder=tmp_path)
    # Before it is imported, umber's answer comes first.
    run("import mlx; assert mlx is umber", folder=tmp_path)


def test_a_name_whose_import_is_forbidden():
    run(
        """
        import sys
        sys.modules["mlx"] = None
        import umber.mlx
        try:
            umber.mlx.install()
        except umber.mlx.MlxImportedError as error:
            assert str(error).startswith("[umber.mlx.install] sys.modules['mlx'] is None")
        else:
            raise AssertionError
        """,
        hook=False,
    )


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="MLX is not installed")
def test_the_real_mlx_before_and_after():
    code = "import sys, mlx.core\ncount = len(sys.meta_path)\n"
    run(code + textwrap.dedent(REFUSED.format(name="mlx")), hook=False)
    run("umber.mlx.uninstall(); import mlx.core; assert mlx.core is not umber.core")


def test_threads_that_import_at_once():
    run(
        """
        import sys, threading
        sys.setswitchinterval(1e-6)
        names = [*"mlx.core mlx.nn mlx.optimizers.optimizers mlx.utils mlx.nn.layers.base".split()]
        start, found = threading.Barrier(20), []

        def work(name):
            start.wait()
            umber.mlx.install()
            scope = {}
            exec(f"import {name}; from {name} import __name__ as here", scope)
            found.append((name, scope["here"]))

        threads = [threading.Thread(target=work, args=(names[i % 5],)) for i in range(20)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(found) == 20 and all(name == here for name, here in found), found
        """
    )


def test_values_beyond_the_places_of_a_mask_are_ignored_as_mlx_does():
    run(
        """
        import numpy as np
        import umber.core
        import umber.mlx

        umber.mlx.install()
        import mlx.core as mx

        def assigned(a, mask, values):
            a = a * 1
            a[mask] = values
            return a

        def outcomes(shape, mask, values):
            a, mask = mx.zeros(shape), mx.array(mask) > 0
            yield assigned(a, mask, values)
            yield assigned(a, np.array(mask), values)
            yield mx.compile(assigned)(a, mask, values)
            yield mx.vmap(assigned)(a[None], mask[None], values[None])[0]
            yield mx.vmap(assigned, in_axes=(None, 0, None))(a, mask[None], values)[0]

        numbers = mx.arange(1.0, 9.0)
        for shape, mask, values, want in (
            ((4,), [1, 0, 1, 0], numbers, [1, 0, 2, 0]),
            ((4,), [0, 0, 0, 0], numbers, [0, 0, 0, 0]),
            ((3, 2), [1, 0, 1], numbers.reshape(4, 2), [[1, 2], [0, 0], [3, 4]]),
            ((3, 2), [1, 0, 1], numbers.reshape(8, 1), [[1, 1], [0, 0], [2, 2]]),
            ((2, 2), [[1, 0], [1, 1]], numbers, [[1, 0], [2, 3]]),
            ((2,), [1, 1], mx.array(5.0), [5, 5]),
            ((3,), [1, 0, 1], mx.array([5.0]), [5, 0, 5]),
            ((3, 2), [1, 0, 1], mx.array([[5.0]]), [[5, 5], [0, 0], [5, 5]]),
        ):
            for found in outcomes(shape, mask, values) if values.ndim else [
                assigned(mx.zeros(shape), mx.array(mask) > 0, values)
            ]:
                assert found.tolist() == want, (shape, found)

        masks = mx.array([[True, False, True], [True, True, True]])
        found = mx.vmap(assigned)(mx.zeros((2, 3)), masks, numbers.reshape(2, 4))
        assert found.tolist() == [[1, 0, 2], [5, 6, 7]]
        gradient = mx.grad(lambda v: (assigned(mx.zeros(3), masks[0], v) * numbers[:3]).sum())
        assert gradient(mx.ones(4)).tolist() == [1, 3, 0, 0]

        for few in (mx.ones(2), mx.ones(0)):
            for call in (assigned, mx.compile(assigned)):
                try:
                    mx.eval(call(mx.zeros(3), masks[1], few))
                except ValueError as error:
                    assert str(error).startswith("[index]"), error
                else:
                    raise AssertionError("too few values were accepted")

        whole = mx.array([4, 5, 6])
        whole[1:] *= 1.5
        assert whole.tolist() == [4, 7, 9]
        umber.mlx.uninstall()
        try:
            assigned(mx.zeros(3), masks[0], numbers)
        except ValueError:
            pass
        else:
            raise AssertionError("too many values were accepted")
        """
    )


def test_negative_classes_count_from_the_end_as_mlx_does():
    run(
        """
        import mlx.core as mx
        from mlx import nn

        def masked(logits, targets):
            values = nn.losses.cross_entropy(logits, targets, reduction="none")
            return (values * (targets != -100)).sum()

        x, targets = mx.array([[1.0, 2, 3]] * 3), mx.array([0, -1, -100])
        expected = nn.losses.cross_entropy(x[:2], mx.array([0, 2])).sum()
        value, slope = mx.value_and_grad(masked)(x, targets)
        assert mx.allclose(value, expected), value
        assert slope[2].tolist() == [0, 0, 0], slope
        umber.mlx.uninstall()
        try:
            mx.eval(masked(x, targets))
        except IndexError:
            pass
        else:
            raise AssertionError("negative classes are taken")
        """
    )


def test_arrays_of_others_are_narrowed_as_mlx_does():
    run(
        """
        import mlx.core as mx
        import numpy as np
        import umber.mlx

        def dtypes(a):
            return [mx.array(a).dtype, mx.array(val=a).dtype, mx.array(memoryview(a)).dtype]

        real, complex_ = np.hanning(5), np.ones(3, np.complex128)
        assert dtypes(real) == [mx.float32] * 3
        assert dtypes(complex_) == [mx.complex64] * 3
        assert dtypes(np.array(0.1)) == [mx.float32] * 3
        np.testing.assert_array_equal(np.array(mx.array(real)), real.astype(np.float32))
        # What is asked for, what is MLX's own, what meets an array and what shares memory stay.
        own = mx.array(real, mx.float64)
        assert own.dtype == mx.array(own).dtype == mx.array([own, own]).dtype == mx.float64
        assert mx.array(real, None).dtype == mx.float32
        assert mx.asarray(real).dtype == mx.from_dlpack(real).dtype == mx.float64
        assert mx.array(np.arange(3)).dtype == mx.int64
        assert mx.array_equal(own, real) and (own + real == 2 * own).all()
        assert np.concatenate([real, own]).tolist() == real.tolist() * 2
        umber.mlx.uninstall()
        assert dtypes(real) == [mx.float64] * 3
        """
    )
