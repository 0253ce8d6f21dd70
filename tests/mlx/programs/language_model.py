"""Steps of a transformer that learns to continue a sentence, character by character."""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.utils import tree_flatten

TEXT = "the quick brown fox jumps over the lazy dog and naps. " * 8
CONTEXT = 24


class LanguageModel(nn.Module):
    def __init__(self, vocabulary: int, dims: int, heads: int, layers: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dims)
        self.position = nn.SinusoidalPositionalEncoding(dims)
        self.transformer = nn.TransformerEncoder(layers, dims, heads, norm_first=True)
        self.head = nn.Linear(dims, vocabulary)

    def __call__(self, tokens):
        length = tokens.shape[1]
        mask = nn.MultiHeadAttention.create_additive_causal_mask(length)
        x = self.embedding(tokens) + self.position(mx.arange(length))
        return self.head(self.transformer(x, mask))


def main():
    mx.random.seed(0)
    letters = sorted(set(TEXT))
    data = mx.array([letters.index(letter) for letter in TEXT])
    model = LanguageModel(len(letters), 32, 4, 2)
    weights = sum(value.size for _, value in tree_flatten(model.trainable_parameters()))
    optimizer = optim.AdamW(learning_rate=3e-3, weight_decay=1e-2)

    def loss_of(tokens):
        logits = model(tokens[:, :-1])
        return nn.losses.cross_entropy(logits, tokens[:, 1:], reduction="mean")

    step = nn.value_and_grad(model, loss_of)
    losses = []
    for _ in range(40):
        starts = mx.random.randint(0, data.size - CONTEXT - 1, (16, 1))
        loss, gradients = step(data[starts + mx.arange(CONTEXT + 1)])
        gradients, _ = optim.clip_grad_norm(gradients, max_norm=1.0)
        optimizer.update(model, gradients)
        mx.eval(model.state, optimizer.state, loss)
        losses.append(loss.item())

    model.eval()
    prompt = data[None, :12]
    logits = model(prompt)
    changed = mx.concatenate([prompt[:, :-1], 1 + prompt[:, -1:]], axis=1)
    assert mx.allclose(model(changed)[:, :-1], logits[:, :-1], atol=1e-5), "saw the future"
    assert losses[-1] < 0.5 * losses[0]
    print(f"{weights} weights, loss {losses[0]:.3f}, then {losses[1]:.2f}, halved later")


if __name__ == "__main__":
    main()
