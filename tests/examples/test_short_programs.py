"""Small programs of daily use, with the text they print."""

import numpy as np
import pytest
import umber.core as mx


def test_slope_of_a_sine():
    slope = mx.grad(mx.sin)
    assert repr(slope(mx.array(mx.pi))) == "array(-1, dtype=float32)"
    assert repr(mx.cos(mx.array(mx.pi))) == "array(-1, dtype=float32)"
    twice = mx.grad(mx.grad(mx.sin))
    assert repr(twice(mx.array(mx.pi / 2))) == "array(-1, dtype=float32)"
    assert repr(mx.sin(mx.array(mx.pi / 2))) == "array(1, dtype=float32)"


POINTS = ([0.5, -0.5], [1.5, -1.5])


def slope_only(w, x, y):
    return mx.mean(mx.square(w * x - y))


def slope_and_offset(parameters, x, y):
    guess = parameters["slope"] * x + parameters["offset"]
    return mx.mean(mx.square(guess - y))


def test_gradient_by_one_argument_or_another():
    w, x, y = mx.array(1.0), *(mx.array(p) for p in POINTS)
    assert str(mx.grad(slope_only)(w, x, y)) == "array(-1, dtype=float32)"
    assert str(mx.grad(slope_only, argnums=1)(w, x, y)) == "array([-1, 1], dtype=float32)"
    loss, by_w = mx.value_and_grad(slope_only)(w, x, y)
    assert str(loss) == "array(1, dtype=float32)"
    assert str(by_w) == "array(-1, dtype=float32)"


def test_gradient_of_named_parameters():
    parameters = {"slope": mx.array(1.0), "offset": mx.array(0.0)}
    x, y = (mx.array(p) for p in POINTS)
    gradients = mx.grad(slope_and_offset)(parameters, x, y)
    assert (
        str(gradients) == "{'slope': array(-1, dtype=float32), 'offset': array(0, dtype=float32)}"
    )


def test_adding_rows_to_columns():
    rows = mx.random.uniform(shape=(64, 10))
    columns = mx.random.uniform(shape=(10, 64))
    loop = mx.stack([rows[:, i] + columns[i] for i in range(10)])
    mapped = mx.vmap(lambda x, y: x + y, in_axes=(1, 0))(rows, columns)
    assert mapped.tolist() == loop.tolist()
    turned = mx.vmap(lambda x, y: x + y, in_axes=(1, 0), out_axes=1)(rows, columns)
    assert turned.tolist() == loop.T.tolist()


def test_reading_by_index():
    line = mx.arange(10)
    assert repr(line[3]) == "array(3, dtype=int32)"
    assert repr(line[-2]) == "array(8, dtype=int32)"
    assert repr(line[2:8:2]) == "array([2, 4, 6], dtype=int32)"
    cube = mx.arange(8).reshape(2, 2, 2)
    for part in (cube[:, :, 0], cube[..., 0]):
        assert repr(part) == "array([[0, 2],\n       [4, 6]], dtype=int32)"
    assert mx.arange(8)[None].shape == (1, 8)
    assert repr(line[mx.array([5, 7])]) == "array([5, 7], dtype=int32)"


def test_reading_past_the_end_is_an_error():
    with pytest.raises(IndexError):
        mx.eval(mx.arange(10)[mx.array([5, 10])])


def test_updates_in_place():
    a = mx.array([1, 2, 3])
    a[2] = 0
    assert repr(a) == "array([1, 2, 0], dtype=int32)"
    first = mx.array([1, 2, 3])
    second = first
    second[2] = 0
    assert repr(second) == "array([1, 2, 0], dtype=int32)"
    assert repr(first) == "array([1, 2, 0], dtype=int32)"


def test_gradient_sees_updates():
    def function(x, places):
        x[places] = 2.0
        return x.sum()

    slope = mx.grad(function)(mx.array([1.0, 2.0, 3.0]), mx.array([1]))
    assert str(slope) == "array([1, 0, 1], dtype=float32)"


def test_only_what_is_used_is_computed():
    def cheap_and_costly(x):
        a = x + 1
        return a, mx.random.normal((3000, 3000)) @ mx.random.normal((3000, 3000)) * a

    before = mx.get_active_memory()
    y, _ = cheap_and_costly(mx.array(1.0))
    assert y.item() == 2.0
    assert mx.get_active_memory() - before < 1_000_000


def test_half_precision_weights_never_cost_more():
    """Lazy float32 weights that are replaced by float16 ones take no memory."""
    before = mx.get_active_memory()
    model = {"w": mx.random.normal((1000, 1000))}
    model.update(w=mx.ones((1000, 1000), dtype=mx.float16))
    mx.eval(model)
    assert mx.get_active_memory() - before < 2_100_000


def test_loop_that_evaluates_at_each_turn():
    a, b = mx.ones(3), mx.ones(3)
    for _ in range(10):
        a = a + b
        mx.eval(a)
        b = b * 2
        mx.eval(b)
    assert a.tolist() == [1024.0] * 3


def test_branching_on_a_value():
    def program(x):
        h, y = x * 2, x.sum()
        return h + 1 if y > 0 else h - 1

    assert program(mx.array([1.0, 2.0])).tolist() == [3.0, 5.0]
    assert program(mx.array([-1.0, -2.0])).tolist() == [-3.0, -5.0]
    assert mx.grad(lambda x: program(x).sum())(mx.array([1.0, 2.0])).tolist() == [2.0, 2.0]


def test_to_numpy_and_back():
    a = mx.arange(3)
    copied = np.array(a)
    assert copied.tolist() == [0, 1, 2]
    assert mx.array(copied).tolist() == [0, 1, 2]
    half = mx.array([1.5, 2.5], dtype=mx.bfloat16)
    assert np.array(half.astype(mx.float32)).tolist() == [1.5, 2.5]


def test_a_view_shares_memory():
    """The only reference may be written through; the array sees it."""
    a = mx.array([0, 1, 2])
    mx.eval(a)
    view = np.array(a, copy=False)
    assert not view.flags.owndata
    view[0] = 1
    assert a[0].item() == 1


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_a_write_behind_the_gradient_is_an_error():
    """Where others give a wrong gradient in silence, the write raises."""

    def function(x):
        view = np.array(x, copy=False)
        view[:] *= view
        return x.sum()

    with pytest.raises(ValueError, match="read-only"):
        mx.value_and_grad(function)(mx.array([3.0]))


def test_saving_and_loading(tmp_path):
    a, b = mx.array([1.0]), mx.array([[2.0, 3.0]])
    path = str(tmp_path / "arrays.safetensors")
    mx.save_safetensors(path, {"a": a, "b": b})
    loaded = mx.load(path)
    assert {name: value.tolist() for name, value in loaded.items()} == {
        "a": [1.0],
        "b": [[2.0, 3.0]],
    }
    assert repr(loaded["a"]) == "array([1], dtype=float32)"
