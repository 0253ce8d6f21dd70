"""What every installed wheel must do; runs in an environment that has umber and NumPy only."""

import importlib.metadata
import tempfile
from pathlib import Path

import numpy as np
import umber.core as mx
from umber import nn, optimizers


def main() -> None:
    names = {distribution.name.lower() for distribution in importlib.metadata.distributions()}
    assert names <= {"umber", "numpy", "pip", "setuptools"}, names
    needed = [name for name in importlib.metadata.requires("umber") or [] if "extra ==" not in name]
    assert not needed, needed

    shared = mx.asarray(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    np.testing.assert_allclose(mx.softmax(shared, axis=-1).sum(axis=-1), [1, 1], rtol=1e-6)
    np.testing.assert_allclose(mx.linalg.inv(mx.eye(3) * 2), np.eye(3) / 2)
    np.testing.assert_allclose(mx.fft.irfft(mx.fft.rfft(mx.arange(8.0))), np.arange(8), atol=1e-6)
    np.testing.assert_allclose(mx.vmap(mx.grad(mx.sin))(mx.zeros(3)), [1, 1, 1])

    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = optimizers.Adam(learning_rate=0.01)
    step = nn.value_and_grad(model, lambda x: mx.mean(mx.square(model(x) - 1)))
    losses = []
    for _ in range(50):
        loss, gradients = step(shared)
        optimizer.update(model, gradients)
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2, losses

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save_weights(str(path))
        model.load_weights(str(path))
    version = importlib.metadata.version("umber")
    print(f"umber {version}: import, arrays, transforms, training and files work")


if __name__ == "__main__":
    main()
