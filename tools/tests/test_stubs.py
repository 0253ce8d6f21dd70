"""stubs.py on synthetic modules: which stubs are written, and what is an error."""

import ast
import math
import types

import pytest
import stubs


class Dtype:
    """An element type."""


class array:
    """An array."""

    def __init__(self, val, dtype=None):
        """Make one."""

    @property
    def shape(self):
        """The sizes of the axes."""

    def sum(self, axis=None, keepdims=False, *, stream=None):
        """The sum."""

    def __add__(self, other):
        return self

    def __len__(self):
        return 0

    @staticmethod
    def full(shape):
        """A constant."""


class ThreadLocalStream:
    """A stream of each thread."""


class Stream:
    """A queue of work."""


def exp(a, /, *, stream=None):
    """The exponential.

    Of e, "the" number.
    """


def module_of(name="umber.core", **members):
    module = types.ModuleType(name)
    module.__doc__ = None
    for key, value in members.items():
        setattr(module, key, value)
    return module


class Device:
    """A device."""


class DeviceType:
    """A device type."""


def package_of(**members):
    classes = (array, Dtype, Stream, ThreadLocalStream, Device, DeviceType)
    return module_of(**{each.__name__: each for each in classes}, **members)


def stub_of(**members):
    files, complaints = stubs.render(package_of(**members))
    assert complaints == []
    return files["__init__.pyi"]


def test_function():
    text = stub_of(exp=exp)
    assert "def exp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:\n" in text
    assert '    """The exponential.\n\n    Of e, "the" number.\n    """\n' in text


def test_class():
    text = stub_of()
    body = ast.unparse(next(n for n in ast.parse(text).body if getattr(n, "name", "") == "array"))
    assert "def __init__(self, val: _Operand, dtype: _DType=None)" in body
    assert "@property\n    def shape(self) -> tuple[int, ...]:" in body
    assert "def sum(self, axis: _Axes | None=None, keepdims: bool=False, *," in body
    assert "def __add__(self, other: _Operand) -> array" in body
    assert "@staticmethod\n    def full(shape: _Shape) -> array:" in body


def test_only_used_aliases_and_imports_are_written():
    text = stub_of()
    assert "_Axes: TypeAlias" in text
    assert "_File" not in text
    assert "BinaryIO" not in text


def test_only_used_protocols_are_written():
    text = stub_of()
    assert "class _SupportsArray(Protocol):\n    def __array__(self) -> Any: ...\n" in text
    assert "_Operand: TypeAlias = array | _Scalar | _Buffer | _SupportsArray" in text
    unused, _ = stubs.render(module_of(Dtype=Dtype))
    assert "_SupportsArray" not in unused["__init__.pyi"]


def test_transforms_preserve_function_types():
    def compile(fun):
        """Recorded."""

    def value_and_grad(fun, argnums=None):
        """Two results."""

    text = stub_of(compile=compile, value_and_grad=value_and_grad)
    assert '_P = ParamSpec("_P")\n_R = TypeVar("_R")\n' in text
    assert "def compile(fun: Callable[_P, _R]) -> Callable[_P, _R]:" in text
    assert ") -> Callable[_P, tuple[_R, Any]]:" in text
    assert "ParamSpec" not in stub_of()


def test_names_of_the_array_api_standard_are_written():
    def __array_namespace_info__():
        """What can be asked."""

    class ArrayNamespaceInfo:
        """What there is."""

    members = {
        "__array_namespace_info__": __array_namespace_info__,
        "__array_api_version__": "2024.12",
        "__other__": 3,
    }
    text = stub_of(ArrayNamespaceInfo=ArrayNamespaceInfo, **members)
    assert "__array_api_version__: str\n" in text
    assert "def __array_namespace_info__() -> ArrayNamespaceInfo:" in text
    assert "__other__" not in text


def test_constants_and_aliases():
    def concatenate(arrays, axis=0):
        """Join."""

    text = stub_of(pi=math.pi, newaxis=None, concatenate=concatenate, concat=concatenate)
    assert "pi: float\n" in text
    assert "newaxis: None\n" in text
    assert "concat = concatenate\n" in text


def test_shadowed_builtins_are_qualified():
    def slice(a, /, axes):
        """A slice."""

    class array:
        """An array."""

        def __getitem__(self, index):
            return index

    files, complaints = stubs.render(module_of(array=array, slice=slice))
    assert complaints == []
    assert "int | builtins.slice | array" in files["__init__.pyi"]
    assert "import builtins\n" in files["__init__.pyi"]


def test_submodule_has_its_own_file():
    def split(key, num=2, *, stream=None):
        """New keys."""

    package = package_of(random=module_of("umber.core.random", split=split))
    files, complaints = stubs.render(package)
    assert complaints == []
    assert "from . import random as random" in files["__init__.pyi"]
    assert "from umber.core import _StreamOrDevice, array" in files["random.pyi"]
    assert "def split(key: array, num: int = 2," in files["random.pyi"]
    assert ") -> array:" in files["random.pyi"]


def test_private_module_has_its_own_types():
    class Buffer:
        """Samples."""

        def __getitem__(self, index):
            return index

        def squeeze(self, key, dim=None):
            """Remove axes."""

        def squeeze_if(self, cond, key, dim=None):
            """`squeeze`, if `cond` is true."""

    def zip(*streams):
        """Side by side."""

    class Stream:
        """Samples in order."""

    data = module_of("umber.core._data", Buffer=Buffer, Stream=Stream, zip=zip)
    files, complaints = stubs.render(package_of(_data=data))
    assert complaints == []
    assert "_data" not in files["__init__.pyi"]
    text = files["_data.pyi"]
    assert "    @overload\n    def __getitem__(self, index: int) -> _Sample: ...\n" in text
    assert "_Sample: TypeAlias = dict[str, Any]\n" in text
    assert "def squeeze(self, key: str, dim: _Ints | None = None) -> Buffer:" in text
    assert "def squeeze_if(self, cond: bool, key: str, dim: _Ints | None = None) -> Buffer:" in text
    assert "def zip(*streams: Stream) -> Stream:" in text


def test_undocumented_function_is_an_error():
    _, complaints = stubs.render(package_of(thing=lambda a: a))
    assert complaints == ["umber.core.thing: no docstring"]


def test_attribute_without_type_is_an_error():
    class Odd:
        """Odd."""

        colour = property(lambda self: 0, doc="A colour.")

    _, complaints = stubs.render(package_of(Odd=Odd))
    assert complaints == ["umber.core.Odd.colour: no type for this attribute"]


def test_undefined_type_is_an_error():
    _, complaints = stubs.render(module_of(array=array, Stream=Stream, exp=exp))
    assert "umber.core: the type Device is not defined" in complaints


def test_parameter_without_type_is_an_error():
    def strange(wobble):
        """Strange."""

    _, complaints = stubs.render(package_of(strange=strange))
    assert complaints == ["umber.core.strange.wobble: no type for this parameter"]


def test_function_without_signature_is_an_error():
    _, complaints = stubs.render(package_of(getattr=getattr))
    assert complaints == ["umber.core.getattr: no text signature"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ("a", '"a"'),
        ('"', "'\"'"),
        (1e-5, "1e-05"),
        (math.inf, "..."),
        (object(), "..."),
    ],
)
def test_defaults(value, text):
    assert stubs.default(value) == text


def test_long_docstrings_are_preserved():
    text = "\n".join(stubs.docstring('Says """hello""" and \\sum."'))
    assert ast.literal_eval(text) == 'Says """hello""" and \\sum."'


def test_check_and_write(tmp_path):
    files = {"__init__.pyi": "a: int\n"}
    assert stubs.differences(files, tmp_path)
    (tmp_path / "old.pyi").write_text("b: int\n")
    stubs.write(files, tmp_path)
    assert stubs.differences(files, tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["__init__.pyi"]
