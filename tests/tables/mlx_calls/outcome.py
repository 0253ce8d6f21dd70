"""What a call gives in one framework, in a form that can be compared with another's."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from arrays import name_of
from tolerances import BY_DTYPE, EXACT, Tolerance

from mlx_calls.draw import Call, realise


@dataclass(frozen=True)
class Leaf:
    """An array as shape, dtype and values."""

    dtype: str
    values: np.ndarray

    def __repr__(self) -> str:
        return f"{self.dtype}{self.values.shape}:{self.values.tolist()!r}"


@dataclass(frozen=True)
class Refused:
    """The call raised."""

    kind: str
    text: str


def find(module, name: str):
    """The public thing of this name, or `None`: `sum`, `linalg.norm`, `array.sum`."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def outcome_of(name: str, call: Call, module) -> Any:
    """What this call gives in this module."""
    try:
        return settle(perform(name, call, module), module)
    except Exception as error:
        return Refused(type(error).__name__, str(error))


def perform(name, call, module):
    """The call itself."""
    args, kwargs = list(realise(call.args, module)), realise(call.kwargs, module)
    home, _, member = name.rpartition(".")
    if name == "array.__setitem__":
        args[0][args[1]] = args[2]
        return args[0]
    if name == "array.at":
        return getattr(args[0].at[args[1]], args[2])(args[3])
    if name == "random.seed":
        module.random.seed(*args, **kwargs)
        return module.random.uniform(shape=(3,))
    if name == "array.__iter__":
        return list(args[0])
    if name == "get_printoptions":
        return module.get_printoptions().precision
    if name == "set_printoptions":
        module.set_printoptions(*args, **kwargs)
        text = repr(module.array([1 / 3, 2e5]))
        module.set_printoptions(precision=-1)
        return text
    if name == "printoptions":
        with module.printoptions(*args, **kwargs):
            return repr(module.array([1 / 3, 2e5]))
    if name in ("finfo", "iinfo"):
        info = find(module, name)(*args)
        parts = ("min", "max", "eps", "smallest_normal", "dtype")
        return {part: getattr(info, part) for part in parts if hasattr(info, part)}
    if home in ("array", "Dtype"):
        got = getattr(args[0], member)
        return got(*args[1:], **kwargs) if callable(got) else got
    return reduce_freedom(name, call, find(module, name)(*args, **kwargs), module)


def reduce_freedom(name, call, result, module):
    """What is promised of a result whose parts are free: the product of factors, sorted sides."""
    short = name.rpartition(".")[2]
    if short in ("empty", "empty_like"):
        return [result.shape, result.dtype]
    if short in ("partition", "argpartition", "topk"):
        return sorted_sides(short, call, result, module)
    if name == "linalg.svd" and isinstance(result, list | tuple):
        u, s, vt = result
        rank = s.shape[-1]
        return [u.shape, s, vt.shape, (u[..., :rank] * s[..., None, :]) @ vt[..., :rank, :]]
    if name == "linalg.qr":
        q, r = result
        return [q.shape, r.shape, q @ r]
    if name in ("linalg.eig", "linalg.eigh"):
        values, vectors = result
        order = module.argsort(values.real, axis=-1)
        return [vectors.shape, vectors.dtype, module.take_along_axis(values, order, axis=-1)]
    if name == "linalg.eigvals":
        return module.take_along_axis(result, module.argsort(result.real, axis=-1), axis=-1)
    return result


def sorted_sides(short, call, result, module):
    a = np.array(realise(call.args[0], module).astype(module.float64))
    options = dict(
        zip(("kth", "axis") if short != "topk" else ("k", "axis"), call.args[1:], strict=False)
    )
    options |= call.kwargs
    axis, values = (
        options["axis"],
        np.array(result if short == "argpartition" else result.astype(module.float64)),
    )
    if axis is None:
        a, axis = a.ravel(), 0
    if short == "argpartition":
        values = np.take_along_axis(a, values.reshape(a.shape).astype(int), axis)
    kth = options.get("kth", 0)
    kth = kth + a.shape[axis] if kth < 0 else kth
    sides = [values] if short == "topk" else np.split(values, [kth, kth + 1], axis)
    return [result.dtype, *(np.sort(side, axis) for side in sides)]


def settle(result, module):
    """Arrays evaluated, dtypes as names; Python's containers and values as they are."""
    if isinstance(result, module.array):
        dtype = name_of(result.dtype)
        if dtype == "bfloat16":
            result = result.astype(module.float32)
        return Leaf(dtype, np.array(result))
    if isinstance(result, module.Dtype):
        return name_of(result)
    if isinstance(result, np.ndarray):
        return Leaf(str(result.dtype), result)
    if isinstance(result, list):
        return [settle(part, module) for part in result]
    if isinstance(result, tuple):
        return tuple(settle(part, module) for part in result)
    if isinstance(result, dict):
        return {name: settle(part, module) for name, part in result.items()}
    return result


# Both frameworks round: each may be off by a few units, and MLX computes halves in halves.
WIDER = {"float16": 4.0, "bfloat16": 4.0, "float32": 8.0, "float64": 50.0, "complex64": 8.0}


def tolerance_for(dtype: str) -> Tolerance:
    return BY_DTYPE[dtype].times(WIDER[dtype]) if dtype in WIDER else EXACT


def ignore_form(result):
    """The same with tuples in place of lists."""
    return tuple(map(ignore_form, result)) if isinstance(result, list | tuple) else result


def difference(ours, theirs, accuracy: str | None = None) -> str | None:
    """What differs, or `None`. `accuracy` names the dtype whose tolerance holds instead."""
    if type(ours) is not type(theirs):
        return f"a {type(ours).__name__}, theirs a {type(theirs).__name__}"
    if isinstance(ours, Leaf):
        return leaf_difference(ours, theirs, accuracy)
    if isinstance(ours, Refused):
        return None
    if isinstance(ours, dict):
        if ours.keys() != theirs.keys():
            return f"{list(ours)}, theirs {list(theirs)}"
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, list | tuple):
        if len(ours) != len(theirs):
            return f"{len(ours)} parts, theirs {len(theirs)}"
        found = (difference(a, b, accuracy) for a, b in zip(ours, theirs, strict=True))
        return next((text for text in found if text), None)
    if isinstance(ours, float | complex):
        same = np.isclose(ours, theirs, rtol=1e-5, equal_nan=True)
        return None if same else f"{ours}, theirs {theirs}"
    return None if ours == theirs else f"{ours!r}, theirs {theirs!r}"


def parts(values: np.ndarray) -> np.ndarray:
    """Complex values as two real ones, both not-a-number if one is; an infinite one says nothing
    about the other."""
    if values.dtype.kind != "c":
        return values
    lost = np.isnan(values)
    return np.stack([np.where(lost, np.nan, part) for part in (values.real, values.imag)], -1)


def leaf_difference(ours: Leaf, theirs: Leaf, accuracy) -> str | None:
    if ours.values.shape != theirs.values.shape:
        return f"shape {ours.values.shape}, theirs {theirs.values.shape}"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, theirs {theirs.dtype}"
    if ours.values.size == 0:
        return None
    tolerance = tolerance_for(accuracy or ours.dtype)
    a, b = parts(ours.values), parts(theirs.values)
    if ours.dtype in BY_DTYPE:
        # Cancellation leaves an error of the size of what was added, not of what is left.
        sizes = np.abs(b[np.isfinite(b)])
        scale = max(1.0, float(sizes.max())) if sizes.size else 1.0
        with np.errstate(all="ignore"):
            close = np.isclose(
                a, b, rtol=tolerance.relative, atol=tolerance.absolute * scale, equal_nan=True
            )
    else:
        close = a == b
    if np.all(close):
        return None
    place = tuple(int(i[0]) for i in np.nonzero(~close)) if a.shape else ()
    return f"{int((~close).sum())} of {a.size} values, {a[place]!r} at {place}, theirs {b[place]!r}"
