"""Transforms of transforms: Jacobians, Hessians, gradients of each example, Newton's method."""

import mlx.core as mx


def rounded(x, digits=3):
    if isinstance(x, list):
        return [rounded(part, digits) for part in x]
    return round(x, digits) + 0.0  # no negative zero


def rosenbrock(p):
    return mx.square(1 - p[0]) + 100 * mx.square(p[1] - mx.square(p[0]))


def jacobian(function):
    """By rows, from one reverse pass a row."""

    def at(x):
        rows = mx.eye(function(x).size)
        return mx.vmap(lambda row: mx.vjp(function, [x], [row])[1][0])(rows)

    return at


def jacobian_by_columns(function):
    def at(x):
        return mx.vmap(lambda v: mx.jvp(function, [x], [v])[1][0], out_axes=1)(mx.eye(x.size))

    return at


def polar(p):
    return mx.stack([p[0] * mx.cos(p[1]), p[0] * mx.sin(p[1])])


point = mx.array([2.0, 0.5])
assert mx.allclose(jacobian(polar)(point), jacobian_by_columns(polar)(point), atol=1e-6)
print("polar", rounded(jacobian(polar)(point).tolist()))

hessian = jacobian(mx.grad(rosenbrock))
print("hessian", rounded(hessian(mx.array([1.0, 1.0])).tolist()))

p = mx.array([-1.2, 1.0])
for _ in range(8):
    (a, b), (c, d) = hessian(p).tolist()
    inverse = mx.array([[d, -b], [-c, a]]) / (a * d - b * c)
    p = p - inverse @ mx.grad(rosenbrock)(p)
assert mx.allclose(p, mx.ones(2), atol=1e-3)
print("minimum", rounded(p.tolist(), 2))

weights = mx.array([0.5, -1.0, 2.0])
x = mx.arange(12).reshape(4, 3) / 10
y = mx.array([0.0, 1.0, 0.0, 1.0])


def loss_of(w, x, y):
    return mx.logaddexp(mx.array(0.0), (1 - 2 * y) * (x @ w))


each = mx.vmap(mx.grad(loss_of), in_axes=(None, 0, 0))(weights, x, y)
loop = mx.stack([mx.grad(loss_of)(weights, a, b) for a, b in zip(x, y, strict=True)])
together = mx.grad(lambda w: mx.vmap(loss_of, (None, 0, 0))(w, x, y).sum())(weights)
assert mx.allclose(each, loop, atol=1e-6)
assert mx.allclose(each.sum(axis=0), together, atol=1e-5)
print("each example", rounded(each.tolist()))

third = mx.grad(mx.grad(mx.grad(lambda t: t**4 + mx.sin(t))))
compiled = mx.compile(mx.vmap(third))
grid = mx.linspace(-1, 1, 5)
assert mx.allclose(compiled(grid), 24 * grid - mx.cos(grid), atol=1e-4)
print("third", rounded(compiled(grid).tolist(), 2))

(value, aux), slope = mx.value_and_grad(lambda t: (t * t, {"twice": 2 * t}))(mx.array(3.0))
print(value.item(), aux["twice"].item(), slope.item())
stopped = mx.grad(lambda t: t * mx.stop_gradient(t))(mx.array(3.0))
print(stopped.item())
