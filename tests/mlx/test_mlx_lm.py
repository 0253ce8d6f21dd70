"""mlx-lm, where it is installed, generates from a small model with umber in MLX's place."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap

import pytest
import umber.core as mx
from models import llama
from models.sampling import generate, sampler

# Not imported here, where there may be no MLX.
if importlib.util.find_spec("mlx_lm") is None:
    pytest.skip("needs mlx-lm", allow_module_level=True)
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

PROMPT = "the cat sat on the mat"
LENGTH = 12
CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
}


def byte_tokenizer(file):
    """Writes a tokenizer of bytes, with a few of them joined; returns it."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("a", "t")]
    pieces = [*alphabet, *("".join(pair) for pair in merges)]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE({piece: n for n, piece in enumerate(pieces)}, merges)
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["</s>"])
    tokenizer.save(str(file))
    return tokenizer


LONGER = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


@pytest.fixture(scope="module", params=[None, LONGER], ids=["plain", "llama3"])
def folder(tmp_path_factory, request):
    """A published model, as small as can be, with random weights."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = byte_tokenizer(folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>"})
    )
    size = tokenizer.get_vocab_size()
    config = {**CONFIG, "vocab_size": size, "eos_token_id": tokenizer.token_to_id("</s>")}
    config["rope_scaling"] = request.param
    (folder / "config.json").write_text(json.dumps(config))
    mx.random.seed(3)
    model = llama.Llama(llama.Config.of(config))
    # Larger than usual, so that the greatest scores are far apart.
    model.apply(lambda x: 3 * x if x.ndim == 2 else x)
    model.save_weights(folder / "model.safetensors")
    return folder


def umber(*arguments, folder):
    """Run Python with umber in MLX's place, and without asking the network."""
    result = subprocess.run(
        [sys.executable, "-m", "umber.mlx", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def likeliest(folder):
    """What the examples' own Llama continues with: the tokens and the text."""
    model = llama.load(folder)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    stream = generate(model, tokenizer.encode(PROMPT).ids, sampler(0, 1))
    tokens = [next(stream) for _ in range(LENGTH)]
    return tokens, tokenizer.decode(tokens)


def command(folder):
    """The command line that continues the prompt with the likeliest tokens."""
    return (
        *("-m", "mlx_lm", "generate", "--model", folder, "--prompt", PROMPT),
        *("--max-tokens", LENGTH, "--temp", 0, "--ignore-chat-template"),
    )


def test_generates_what_the_example_does(folder):
    printed = umber(*command(folder), folder=folder)
    text = printed.split("==========")[1].strip()
    assert text == likeliest(folder)[1].strip()
    assert re.search(rf"^Generation: {LENGTH} tokens", printed, re.MULTILINE)


def test_program_with_a_cache_that_is_kept(folder, tmp_path):
    """Half of the prompt first, then the rest with the same cache; also saved and read again."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import sys
            import mlx.core as mx
            from mlx_lm import load
            from mlx_lm.generate import generate_step
            from mlx_lm.models.cache import load_prompt_cache, make_prompt_cache, save_prompt_cache
            from mlx_lm.sample_utils import make_sampler

            model, tokenizer = load(sys.argv[1])
            prompt = mx.array(tokenizer.encode({PROMPT!r}))
            cache = make_prompt_cache(model)
            mx.eval(model(prompt[None, :5], cache=cache))
            save_prompt_cache("cache.safetensors", cache)
            for each in (cache, load_prompt_cache("cache.safetensors")):
                steps = generate_step(
                    prompt[5:], model, prompt_cache=each, max_tokens={LENGTH},
                    sampler=make_sampler(temp=0.0),
                )
                print([int(token) for token, _ in steps])
            sample = make_sampler(temp=0.8, top_p=0.9, min_p=0.01, top_k=20)
            mx.random.seed(0)
            steps = generate_step(prompt, model, max_tokens={LENGTH}, sampler=sample)
            print(len([token for token, _ in steps]))
            """
        )
    )
    expected = str(likeliest(folder)[0])
    printed = umber(program, folder, folder=tmp_path).splitlines()
    assert printed == [expected, expected, str(LENGTH)]


def test_quantised_to_four_bits(folder, tmp_path):
    umber(
        *("-m", "mlx_lm", "convert", "--hf-path", folder, "--mlx-path", "small"),
        *("--quantize", "--q-bits", 4, "--q-group-size", 32),
        folder=tmp_path,
    )
    small = tmp_path / "small"
    stored = mx.load(small / "model.safetensors")
    assert stored["model.layers.0.mlp.up_proj.weight"].dtype == mx.uint32
    printed = umber(*command(small), folder=tmp_path)
    text = printed.split("==========")[1].strip()
    assert text == likeliest(small)[1].strip()


def test_adapters_are_trained(folder, tmp_path):
    for part in ("train", "valid"):
        (tmp_path / f"{part}.jsonl").write_text(8 * (json.dumps({"text": PROMPT}) + "\n"))
    printed = umber(
        *("-m", "mlx_lm", "lora", "--train", "--model", folder, "--data", tmp_path),
        *("--iters", 20, "--batch-size", 2, "--num-layers", 2, "--learning-rate", 1e-2),
        *("--max-seq-length", 64, "--adapter-path", "adapters"),
        folder=tmp_path,
    )
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed)
    losses = [float(loss) for loss in re.findall(r"\bval +([\d.]+)", plain)]
    assert losses[-1] < 0.7 * losses[0]
    adapters = mx.load(tmp_path / "adapters" / "adapters.safetensors")
    assert all(name.endswith((".lora_a", ".lora_b")) for name in adapters)
    umber(*command(folder), "--adapter-path", "adapters", folder=tmp_path)
