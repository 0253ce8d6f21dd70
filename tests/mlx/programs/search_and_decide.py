"""Control that depends on values: bisection, power iteration, a sieve, sampling until accepted."""

import mlx.core as mx


def bisect(function, low, high):
    steps = 0
    while (high - low) > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if function(low) * function(middle) <= 0 else (middle, high)
        steps += 1
    return (low + high) / 2, steps


root, steps = bisect(lambda x: mx.cos(x) - x, mx.array(0.0), mx.array(1.0))
print(f"cos x = x at {root.item():.4f} after {steps} steps")
slope = mx.grad(lambda a: bisect(lambda x: x * x - 2, a, mx.array(2.0))[0])(mx.array(1.0))
assert 0 <= slope.item() <= 1


def greatest_eigenvalue(matrix):
    v, before = mx.ones(matrix.shape[0]), 0.0
    for turn in range(1000):
        v = matrix @ v
        size = mx.linalg.norm(v)
        v = v / size
        if abs(size.item() - before) < 1e-6 * size.item():
            return size, turn
        before = size.item()
    raise AssertionError("no end")


matrix = mx.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
value, _ = greatest_eigenvalue(matrix)
expected = mx.linalg.eigvalsh(matrix, stream=mx.cpu)[-1]
assert mx.allclose(value, expected, rtol=1e-3)
print(f"eigenvalue {value.item():.3f}")

is_prime = mx.ones(50, dtype=mx.bool_)
is_prime[:2] = False
for number in range(2, 8):
    if is_prime[number]:
        is_prime[number * number :: number] = False
primes = [number for number, prime in enumerate(is_prime.tolist()) if prime]
print(primes)
assert sum(primes) == 328

mx.random.seed(42)
accepted, drawn = [], 0
while sum(part.size for part in accepted) < 200:
    points = mx.random.uniform(-1, 1, (100, 2))
    inside = mx.square(points).sum(axis=1) < 1
    kept = mx.argsort(mx.logical_not(inside))[: inside.sum().item()]
    accepted.append(mx.arange(100)[kept])
    drawn += 100
print(f"{drawn} points drawn, {sum(part.size for part in accepted)} inside the circle")

with mx.stream(mx.cpu):
    table = mx.where(matrix > 1, matrix, 0)
rows = {row: [c for c in range(3) if table[row, c] > 0] for row in range(3)}
print(rows, mx.default_device().type == mx.cpu)
device = "gpu" if mx.metal.is_available() else "cpu"
world = mx.distributed.init()
print(device, world.rank(), world.size(), mx.distributed.all_sum(mx.array([1.0, 2.0])).tolist())
