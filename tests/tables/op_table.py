"""The table of ops: one record for each way of calling an op. Tests in all folders loop over it.

To add an op, add a record to the file of its family in `records/`; nothing else. A record says how
to call the op, which NumPy function gives the same values, from where inputs are drawn, and what is
promised.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import umber.core as mx
from arrays import ALL, FLOATS, INEXACT, kind_of, widen
from domains import ANY, Domain
from promotion_table import result_dtype

Shape = tuple[int, ...]


@dataclass(frozen=True)
class OpRecord:
    """One way of calling an op, and everything that is promised about it."""

    name: str
    """The public name, then the variant: `sum[axis=0]`."""
    call: Callable
    """Takes `arity` umber arrays, gives an array or a list of arrays."""
    oracle: Callable
    """Takes NumPy arrays: floating inputs in double precision, others as they are."""
    shapes: tuple[Shape, ...] = ((3, 4),)
    """The shape of each input."""
    dtypes: tuple[str, ...] = ALL
    """The dtypes that the inputs may have."""
    result: str = "same"
    """The rule of `promotion_table` for the result's dtype, or a dtype's name."""
    domain: Domain | tuple[Domain, ...] = ANY
    """Where inputs are drawn from: one for all, or one for each."""
    fixed: dict[int, str] = field(default_factory=dict)
    """Inputs with a dtype of their own: indices, conditions."""
    tolerance: float = 1.0
    """Factor on the dtype's tolerance; above 1 with a reason in a comment."""
    differentiable: tuple[int, ...] = ()
    """The inputs that a gradient flows to."""
    second_order: bool = True
    """Whether the derivative can be differentiated again and is not just piecewise constant."""
    batchable: bool = True
    """Whether `vmap` works."""
    compilable: bool = True
    """Whether it can be traced without values."""
    layouts: bool = True
    """Whether inputs may be arranged at will in memory (`broadcast` repeats values)."""
    empty: tuple[Shape, ...] | None = None
    """Shapes with a zero in them that the op takes."""
    scalar: tuple[Shape, ...] | None = None
    """0-d shapes, where the op takes them."""
    long: tuple[Shape, ...] | None = None
    """Shapes that fill vectors and blocks and leave a rest."""
    refuses: tuple[str, ...] = ()
    """Dtypes that raise ValueError or TypeError."""
    specials: bool = False
    """Whether NaN, infinities, signed zeros and extremes give what the oracle gives."""
    also: tuple[str, ...] = ()
    """Other public names that this record stands for."""

    @property
    def arity(self) -> int:
        """How many arrays the op takes."""
        return len(self.shapes)

    @property
    def names(self) -> set[str]:
        """The public names that this record stands for."""
        return {self.name.partition("[")[0], *self.also}

    def dtype_of_input(self, index: int, dtype: str) -> str:
        """The dtype of one input when the record is tried in `dtype`."""
        return self.fixed.get(index, dtype)

    def sample(self, rng, dtype: str, shapes: Sequence[Shape] | None = None) -> list[np.ndarray]:
        """Values for all inputs."""
        domains = self.domain if isinstance(self.domain, tuple) else (self.domain,) * self.arity
        return [
            domain.sample(rng, shape, self.dtype_of_input(index, dtype))
            for index, (domain, shape) in enumerate(
                zip(domains, shapes or self.shapes, strict=True)
            )
        ]

    def result_of(self, dtype: str) -> str:
        """The result's dtype when the record is tried in `dtype`."""
        free = [dtype for index in range(self.arity) if index not in self.fixed] or [dtype]
        return result_dtype(self.result, *free)

    def expected(self, values: Sequence[np.ndarray], dtype: str) -> list[np.ndarray]:
        """What the oracle gives, unrounded where the result is inexact."""
        inexact = kind_of(self.result_of(dtype)) in "fc"
        given = [self._for_oracle(index, value, inexact) for index, value in enumerate(values)]
        with np.errstate(all="ignore"):
            results = self.oracle(*given)
        results = list(results) if isinstance(results, list | tuple) else [results]
        if inexact:
            return [np.asarray(result) for result in results]
        return [np.asarray(result).astype(self.result_of(dtype).rstrip("_")) for result in results]

    def _for_oracle(self, index: int, value: np.ndarray, inexact: bool) -> np.ndarray:
        if inexact and index not in self.fixed and value.dtype.kind in "biu":
            return value.astype(np.float64)
        return widen(value)

    def but(self, **changes) -> "OpRecord":
        """The same record with some fields changed."""
        return replace(self, **changes)


def op(name: str) -> Callable:
    """The public function, looked up when called: a missing op fails its tests only."""

    def call(*args, **kwargs):
        module, _, function = name.partition("[")[0].rpartition(".")
        home = getattr(mx, module) if module else mx
        return getattr(home, function)(*args, **kwargs)

    return call


def bind(name: str, *after, **kwargs) -> Callable:
    """The public function with arguments fixed after the arrays."""
    function = op(name)
    return lambda *arrays: function(*arrays, *after, **kwargs)


# What the package must have, whatever it has beside.
REQUIRED = set(
    """
    abs arccos arccosh arcsin arcsinh arctan arctanh bitwise_invert ceil clip conjugate cos cosh
    degrees erf erfinv exp expm1 floor imag isfinite isinf isnan isneginf isposinf log log10
    log1p log2 logical_not nan_to_num negative radians real reciprocal round rsqrt sigmoid sign
    sin sinh sqrt square stop_gradient tan tanh add arctan2 bitwise_and bitwise_or bitwise_xor
    divide divmod equal floor_divide greater greater_equal isclose left_shift less less_equal
    logaddexp logical_and logical_or logical_xor maximum minimum multiply not_equal power
    remainder right_shift subtract where astype all any argmax argmin logsumexp max mean min
    prod softmax std sum var matmul addmm broadcast_to concatenate expand_dims flatten moveaxis
    pad repeat reshape split squeeze stack swapaxes tile transpose unflatten put_along_axis take
    take_along_axis arange eye full full_like identity linspace ones ones_like tri tril triu
    zeros zeros_like array asarray eval async_eval synchronize grad value_and_grad vjp jvp vmap
    compile load save_safetensors allclose array_equal random.key random.seed random.split
    random.uniform random.normal random.bernoulli random.categorical random.permutation
    random.randint random.truncated_normal random.gumbel random.laplace
""".split()
)


def is_public(name: str) -> bool:
    """Whether the package has a function of this name."""
    home = mx
    for part in name.split("."):
        home = getattr(home, part, None)
    return home is not None


def gather_records() -> tuple[OpRecord, ...]:
    """All records of all families."""
    import records as package

    families = (import_module(f"records.{m.name}") for m in iter_modules(package.__path__))
    records = tuple(record for family in families for record in family.RECORDS)
    names = [record.name for record in records]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"records with the same name: {sorted(twice)}"
    return records


def dtypes_for_gradients(record: OpRecord) -> tuple[str, ...]:
    """The dtypes in which derivatives are compared with finite differences."""
    return tuple(name for name in INEXACT if name in record.dtypes and name not in FLOATS[:2])
