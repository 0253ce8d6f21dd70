"""Dtypes and their rules."""

from mlx_calls.draw import ALL, FLOATS, INTEGERS, Dtype, Member

CATEGORIES = (
    "complexfloating floating generic inexact integer number signedinteger unsignedinteger".split()
)
KINDS = (
    "bool,signed integer,unsigned integer,integral,real floating,complex floating,numeric"
).split(",")


def can_cast(draw):
    source = draw.pick([Dtype(draw.dtype()), draw.array((2,))])
    return draw.call(must={"from_": source, "to": Dtype(draw.dtype())})


def finfo(draw):
    return draw.call(Dtype(draw.pick((*FLOATS, "complex64"))))


def iinfo(draw):
    return draw.call(Dtype(draw.pick(INTEGERS)))


def isdtype(draw):
    one = [Dtype(draw.dtype()), draw.pick(KINDS)]
    kind = draw.pick([*one, tuple(one)])
    return draw.call(must={"dtype": Dtype(draw.dtype()), "kind": kind})


def issubdtype(draw):
    first, second = (draw.pick([Dtype(draw.dtype()), Member(draw.pick(CATEGORIES))]) for _ in "ab")
    return draw.call(first, second)


def result_type(draw):
    return draw.call(
        *(draw.pick([Dtype(draw.dtype()), draw.array((2,))]) for _ in range(draw.int(1, 3)))
    )


def size(draw):
    return draw.call(Dtype(draw.pick(ALL)))


CALLS = {
    "can_cast": can_cast,
    "finfo": finfo,
    "iinfo": iinfo,
    "isdtype": isdtype,
    "issubdtype": issubdtype,
    "result_type": result_type,
    "Dtype.size": size,
}
