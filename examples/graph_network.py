"""Classifies the vertices of a random graph by community, given the labels of a few.

    python examples/graph_network.py

A network of graph convolutions (Kipf and Welling, "Semi-Supervised Classification with Graph
Convolutional Networks", 2017): H' = σ(D^-½ (A + I) D^-½ H W + b), where A is the adjacency matrix
and D the diagonal matrix of the row sums of A + I. The only input feature of a vertex is its index,
one-hot encoded. Writes `graph_network.png`.
"""

from __future__ import annotations

import argparse
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import umber.core as mx
from common.files import check_output, staging
from common.options import Options, number_in, positive_number, run, whole_number
from common.training import fit
from umber import nn, optimizers

FIGURE_FILE = "graph_network.png"


def parse_options() -> argparse.Namespace:
    options = Options("Find the communities of a generated graph with a graph network.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=200, help="training steps")
    add("--learning-rate", type=positive_number, default=1e-2, help="Adam's step size at first")
    add("--hidden", type=whole_number(2, 4096), default=16, help="size of the hidden layer")
    add("--communities", type=whole_number(2, 20), default=4, help="how many the graph has")
    add("--members", type=whole_number(2, 500), default=50, help="vertices of each community")
    add("--known", type=whole_number(1, 500), default=3, help="vertices of each that are known")
    add("--inside", type=number_in(0, 1), default=0.2, help="probability of an edge inside")
    add("--between", type=number_in(0, 1), default=0.02, help="and of one between communities")
    options.add_seed_and_output()
    parsed = options.parse_args()
    if parsed.known >= parsed.members:
        options.error(f"--known: got {parsed.known}, expected fewer than --members")
    return parsed


class Graph(NamedTuple):
    """The edges of a graph, each in both directions and with a self-loop at each vertex."""

    sources: mx.array
    targets: mx.array
    weights: mx.array
    """The entries of D^-½ (A + I) D^-½ at the edges."""
    labels: mx.array
    """The community of each vertex."""


def communities(options: argparse.Namespace) -> Graph:
    """A stochastic block model: random edges, more likely inside a community than between two."""
    labels = mx.repeat(mx.arange(options.communities), options.members)
    vertex_count = labels.size
    same_community = labels[:, None] == labels
    upper_edges = mx.triu(
        mx.random.bernoulli(mx.where(same_community, options.inside, options.between)), k=1
    )
    sources, targets = mx.nonzero(
        upper_edges | upper_edges.T | mx.eye(vertex_count, dtype=mx.bool_)
    )
    degrees = mx.zeros(vertex_count).at[sources].add(mx.ones(sources.size))
    weights = mx.rsqrt(degrees[sources] * degrees[targets])
    return Graph(sources, targets, weights, labels)


class GraphConvolution(nn.Module):
    """H ↦ D^-½ (A + I) D^-½ H W + b: a weighted sum over the neighbours of each vertex."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.bias = mx.zeros(outputs)

    def __call__(self, h: mx.array, graph: Graph) -> mx.array:
        messages = graph.weights[:, None] * self.linear(h)[graph.sources]
        sums = mx.zeros((h.shape[0], messages.shape[1])).at[graph.targets].add(messages)
        return sums + self.bias


class GraphNetwork(nn.Module):
    """Two graph convolutions."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.first = GraphConvolution(inputs, hidden)
        self.dropout = nn.Dropout(0.5)
        self.second = GraphConvolution(hidden, outputs)

    def hidden(self, x: mx.array, graph: Graph) -> mx.array:
        return nn.relu(self.first(x, graph))

    def __call__(self, x: mx.array, graph: Graph) -> mx.array:
        return self.second(self.dropout(self.hidden(x, graph)), graph)


def draw(file: Path, graph: Graph, hidden: mx.array, known: mx.array, losses: list[float]) -> None:
    """Plot the loss of each step, the adjacency matrix, and the vertices' hidden vectors."""
    from common.drawing import draw_losses
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 4.5), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    draw_losses(left, losses)
    middle.set_title("edges, by community")
    middle.scatter(np.array(graph.sources), np.array(graph.targets), s=1)
    middle.set_aspect("equal")
    # The first two principal components of the hidden vectors.
    centered = hidden - mx.mean(hidden, axis=0)
    components = np.array(centered @ mx.linalg.svd(centered)[2][:2].T)
    labels = np.array(graph.labels)
    right.set_title("vertices in the hidden layer; those known are circled")
    right.scatter(*components.T, c=labels, s=12, cmap="tab20")
    right.scatter(*components[np.array(known)].T, s=80, facecolors="none", edgecolors="black")
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    check_output(options.output, FIGURE_FILE)
    graph = communities(options)
    vertex_count = graph.labels.size
    x = mx.eye(vertex_count)
    starts = mx.arange(options.communities)[:, None] * options.members
    known = (starts + mx.arange(options.known)).flatten()
    edge_count = (graph.sources.size - vertex_count) // 2
    print(f"{vertex_count} vertices, {edge_count} edges, {known.size} known")
    model = GraphNetwork(vertex_count, options.hidden, options.communities)

    def loss_fn() -> mx.array:
        scores = model(x, graph)[known]
        return nn.losses.cross_entropy(scores, graph.labels[known], reduction="mean")

    rate = optimizers.cosine_decay(options.learning_rate, options.steps)
    optimizer = optimizers.AdamW(rate, weight_decay=0.05)
    losses = fit(model, optimizer, loss_fn, repeat(()), options.steps)

    is_correct = mx.argmax(model(x, graph), axis=-1) == graph.labels
    is_correct[known] = False
    test_accuracy = mx.sum(is_correct).item() / (vertex_count - known.size)
    print(f"accuracy of the others {test_accuracy:.2%}, by chance {1 / options.communities:.2%}")
    with staging(options.output, FIGURE_FILE) as folder:
        draw(folder / FIGURE_FILE, graph, model.hidden(x, graph), known, losses)
    return 0


if __name__ == "__main__":
    run(main)
