"""Fourier transforms."""

from mlx_calls.draw import Call, Draw

NORMS = ("backward", "ortho", "forward")


def source(draw: Draw, shape, real):
    return draw.array(shape, ("float32",) if real else ("float32", "complex64"))


def one_axis(*, real=False, half=False):
    def make(draw):
        shape = draw.shape(1, 3, 6, zero=0.0)
        axis = draw.axis(shape)
        size = 2 * (shape[axis] - 1) if half else shape[axis]
        size = draw.pick([max(size, 2), draw.int(2, 7)])
        must = {"a": source(draw, shape, real), "n": size, "axis": axis}
        return draw.call(must=must, either={"norm": draw.pick(NORMS)})

    return make


def several_axes(*, real=False, two=False):
    def make(draw):
        shape = draw.shape(2, 3, 6, zero=0.0)
        axes = (
            draw.pick([[-2, -1], [0, 1], [-1, -2]]) if two else draw.pick([[-1], [-2, -1], [0, 1]])
        )
        sizes = [draw.int(2, 6) for _ in axes]
        must = {"a": source(draw, shape, real), "s": sizes, "axes": axes}
        return draw.call(must=must, either={"norm": draw.pick(NORMS)})

    return make


def shift(draw):
    a = draw.array(draw.shape(1, 3))
    return draw.call(must={"a": a}, either={"axes": draw.axes(a.shape)})


def frequencies(draw):
    return draw.call(must={"n": draw.int(1, 9)}, either={"d": draw.pick([1.0, 0.5, 2.0])})


def stft(draw):
    x = draw.array((*draw.shape(0, 1, zero=0.0), draw.int(40, 60)), "float32")
    return Call((x,), {"n_fft": draw.pick([8, 16]), "hop_length": draw.pick([None, 4])})


def istft(draw):
    n_fft = draw.pick([8, 16])
    x = draw.array((draw.int(4, 7), n_fft // 2 + 1), "complex64")
    window = {"window": draw.array((n_fft,), "float32", 0.5, 1.0)} if draw.chance(0.3) else {}
    return Call((x,), {"n_fft": n_fft, "hop_length": n_fft // 4} | window)


CALLS = {
    **{f"fft.{name}": one_axis() for name in ("fft", "ifft")},
    "fft.rfft": one_axis(real=True),
    "fft.irfft": one_axis(half=True),
    **{f"fft.{name}": several_axes(two=True) for name in ("fft2", "ifft2", "irfft2")},
    **{f"fft.{name}": several_axes() for name in ("fftn", "ifftn", "irfftn")},
    "fft.rfft2": several_axes(real=True, two=True),
    "fft.rfftn": several_axes(real=True),
    **{f"fft.{name}": shift for name in ("fftshift", "ifftshift")},
    **{f"fft.{name}": frequencies for name in ("fftfreq", "rfftfreq")},
    "fft.stft": stft,
    "fft.istft": istft,
}
