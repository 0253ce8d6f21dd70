"""Data sets are read from the published archives, their folders, and mlx-data's caches."""

import gzip
import os
import pickle

import numpy as np
import pytest
from dataset_archives import (
    cifar_pickles,
    cifar_records,
    wav,
    write_mnist,
    write_tar,
    write_zip,
)
from umber.data.datasets import image_folder, imagenet, librispeech, libritts_r, speechcommands
from umber.data.datasets.cifar import CIFAR10, CIFAR100, read_cifar
from umber.data.datasets.librispeech import load_librispeech_tarfile
from umber.data.datasets.libritts_r import load_libritts_r_tarfile
from umber.data.datasets.mnist import read_idx, read_mnist
from umber.data.datasets.wikitext import wikitext_file


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """No test may download."""

    def refuse(url, *_args, **_settings):
        raise OSError(f"no network for {url}")

    monkeypatch.setattr("urllib.request.urlopen", refuse)


@pytest.fixture
def digits(rng):
    return rng.integers(0, 256, (5, 28, 28), np.uint8), rng.integers(0, 10, 5).astype(np.uint8)


@pytest.fixture
def photos(rng):
    """Images and labels of CIFAR's form, for training and for testing."""
    return {
        train: (rng.integers(0, 256, (size, 32, 32, 3), np.uint8), rng.integers(0, 10, size))
        for train, size in ((True, 10), (False, 3))
    }


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("train", [True, False])
def test_mnist(tmp_path, digits, compressed, train):
    write_mnist(tmp_path, *digits, train=train, compressed=compressed)
    columns = read_mnist("mnist", tmp_path, train)
    assert columns["image"].dtype == columns["label"].dtype == np.uint8
    assert np.array_equal(columns["image"], digits[0][..., None])
    assert np.array_equal(columns["label"], digits[1])
    with pytest.raises(ConnectionError, match=r"^\[load_fashion_mnist\] .*put the file .*gz into"):
        read_mnist("fashion-mnist", tmp_path, not train)


@pytest.mark.parametrize("order", ["C", "F"])
def test_mnist_of_mlx_data(tmp_path, digits, order):
    """Its cache has arrays in Fortran order, too, which it cannot read itself."""
    images, labels = digits
    samples = [
        {"image": np.asarray(images[i][..., None], order=order), "label": labels[i]}
        for i in range(5)
    ]
    (tmp_path / "train.pkl").write_bytes(pickle.dumps(samples))
    for _ in range(2):
        columns = read_mnist("mnist", tmp_path, True)
        assert np.array_equal(columns["image"], images[..., None])
        assert np.array_equal(columns["label"], labels)
    assert sorted(os.listdir(tmp_path)) == ["train.npz", "train.pkl"]


def test_mnist_is_damaged(tmp_path, digits):
    write_mnist(tmp_path, *digits)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    content = gzip.decompress(path.read_bytes())
    for damaged, fault in (
        (content[:-1], "needs"),
        (content + b"x", "needs"),
        (content[:10], "IDX"),
        (b"", "IDX"),
        (b"\0\0\x0d" + content[3:], "IDX"),
        (content[:4] + b"\xff" * 12 + content[16:], "needs"),
    ):
        path.write_bytes(gzip.compress(damaged))
        with pytest.raises(ValueError, match=rf"^\[load_mnist\] .*images-idx3-ubyte\.gz.*{fault}"):
            read_mnist("mnist", tmp_path, True)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"images-idx3-ubyte\.gz is damaged"):
        read_mnist("mnist", tmp_path, True)
    path.unlink()
    write_mnist(tmp_path, digits[0][:3], digits[1])
    with pytest.raises(ValueError, match="do not belong together"):
        read_mnist("mnist", tmp_path, True)
    assert read_idx("op", tmp_path / "train-labels-idx1-ubyte.gz").shape == (5,)


def test_cache_of_mlx_data_is_damaged(tmp_path):
    for samples in ([1], [{}], {}, "text", [{"image": np.zeros(3), "label": 1}], [{"image": 1}]):
        (tmp_path / "train.pkl").write_bytes(pickle.dumps(samples))
        (tmp_path / "cifar10_train.pkl").write_bytes(pickle.dumps(samples))
        with pytest.raises(ValueError, match=r"train\.pkl does not hold samples of MNIST"):
            read_mnist("mnist", tmp_path, True)
        with pytest.raises(ValueError, match=r"train\.pkl does not hold samples of CIFAR"):
            read_cifar(CIFAR10, tmp_path, True)


def cifar_members(version, photos, form):
    """The files of one of the two archives, by name: the training set in the files it has."""
    members = {}
    for train, (images, labels) in photos.items():
        files = version.forms[form].files[train]
        for file, rows in zip(
            files, np.array_split(np.arange(len(images)), len(files)), strict=True
        ):
            if form == 0:
                content = cifar_pickles(images[rows], labels[rows], version.labels)
            else:
                content = cifar_records(images[rows], labels[rows], version.label_bytes)
            members[f"{version.forms[form].folder}/{file}"] = content
    return members


def check_cifar(version, folder, photos):
    for train, (images, labels) in photos.items():
        columns = read_cifar(version, folder, train, quiet=True, validate_download=False)
        assert columns["image"].dtype == np.uint8
        assert columns["label"].dtype == np.int64
        assert np.array_equal(columns["image"], images)
        assert np.array_equal(columns["label"], labels)


@pytest.mark.parametrize("form", [0, 1], ids=["pickles", "records"])
@pytest.mark.parametrize("version", [CIFAR10, CIFAR100], ids=lambda version: version.name)
def test_cifar(tmp_path, photos, version, form):
    members = cifar_members(version, photos, form)
    # In another order, as in the published archive.
    shuffled = {"readme.html": b"", **dict(sorted(members.items(), reverse=True))}
    archive = write_tar(tmp_path / version.forms[form].archive.name, shuffled, "w:gz")
    with pytest.raises(RuntimeError, match=rf"^\[load_{version.name}\] .*its md5 is"):
        read_cifar(version, tmp_path, True, quiet=True)
    check_cifar(version, tmp_path, photos)
    # From what was saved.
    archive.unlink()
    check_cifar(version, tmp_path, photos)
    folder = tmp_path / "extracted"
    for name, content in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    check_cifar(version, folder, photos)


def test_cifar_of_mlx_data(tmp_path, photos):
    for train, (images, labels) in photos.items():
        samples = [
            {"image": image, "label": int(label)}
            for image, label in zip(images, labels, strict=True)
        ]
        name = f"cifar100_{'train' if train else 'test'}.pkl"
        (tmp_path / name).write_bytes(pickle.dumps(samples))
    check_cifar(CIFAR100, tmp_path, photos)
    check_cifar(CIFAR100, tmp_path, photos)


def test_cifar_is_damaged(tmp_path, photos):
    with pytest.raises(ConnectionError, match=r"put the file cifar-10-python\.tar\.gz into"):
        read_cifar(CIFAR10, tmp_path, True, quiet=True)
    members = cifar_members(CIFAR10, photos, 0)
    last = members.pop("cifar-10-batches-py/test_batch")
    path = tmp_path / "cifar-10-python.tar.gz"
    for content, fault in (
        (None, "has no file cifar-10-batches-py/test_batch"),
        (last[:-10], "damaged|ends within"),
        (pickle.dumps({"data": 1}), "is not a file of CIFAR's images"),
        (pickle.dumps(print), "only NumPy arrays"),
    ):
        extra = {} if content is None else {"cifar-10-batches-py/test_batch": content}
        write_tar(path, members | extra, "w:gz")
        with pytest.raises(ValueError, match=fault):
            read_cifar(CIFAR10, tmp_path, True, quiet=True, validate_download=False)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"cifar-10-python\.tar\.gz is damaged"):
        read_cifar(CIFAR10, tmp_path, True, quiet=True, validate_download=False)
    assert os.listdir(tmp_path) == ["cifar-10-python.tar.gz"]


def test_images_from_folder(tmp_path):
    for name in (
        "b/2.png",
        "b/1.jpg",
        "a/é.png",
        ".git/x",
        "b/.DS_Store",
        "c/inner/x.png",
        "x.png",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert image_folder.list_images(tmp_path) == [
        {"folder": b"a", "label": 0, "file": "a/é.png".encode()},
        {"folder": b"b", "label": 1, "file": b"b/1.jpg"},
        {"folder": b"b", "label": 1, "file": b"b/2.png"},
    ]
    for bad in (tmp_path / "a", tmp_path / "x.png", tmp_path / "none"):
        with pytest.raises(ValueError, match=r"^\[load_images_from_folder\] .*folder"):
            image_folder.list_images(bad)


def test_librispeech(tmp_path):
    members = {
        "LibriSpeech/dev-clean/84/121123/84-121123-0000.flac": b"sound",
        "LibriSpeech/dev-clean/84/121123/84-121123.trans.txt": (
            b"84-121123-0000 GO ON\n84-121123-0001 YES\n"
        ),
        "LibriSpeech/README.TXT": b"text",
    }
    write_tar(tmp_path / "dev-clean.tar.gz", members, "w:gz")
    path = load_librispeech_tarfile(tmp_path, "dev-clean", quiet=True)
    assert path == tmp_path / "dev-clean.tar"
    assert librispeech.list_utterances(path) == [
        {"audio_file": b"84/121123/84-121123-0000.flac", "transcript": b"go on"},
        {"audio_file": b"84/121123/84-121123-0001.flac", "transcript": b"yes"},
    ]
    write_tar(path, {"x.trans.txt": b"no transcript\n"})
    with pytest.raises(ValueError, match=r"x\.trans\.txt has the line b'no transcript'"):
        librispeech.list_utterances(path)
    with pytest.raises(ValueError, match="unknown split 'dev'; use one of dev-clean, "):
        load_librispeech_tarfile(tmp_path, "dev")
    with pytest.raises(ConnectionError, match=r"put the file test-clean\.tar\.gz into"):
        load_librispeech_tarfile(tmp_path, "test-clean", quiet=True)


def test_libritts_r(tmp_path):
    members = {"LibriTTS_R/dev-clean/8/2/8_2_0.wav": b"", "LibriTTS_R/dev-clean/8/2/x.txt": b""}
    write_tar(tmp_path / "dev_clean.tar.gz", members, "w:gz")
    path = load_libritts_r_tarfile(tmp_path, "dev-clean", quiet=True)
    assert libritts_r.list_recordings(path) == [
        {
            "file": b"LibriTTS_R/dev-clean/8/2/8_2_0.wav",
            "transcript_file": b"LibriTTS_R/dev-clean/8/2/8_2_0.normalized.txt",
        }
    ]


SPEECH = {
    **{
        f"./{word}/{speaker}_nohash_0.wav": wav(np.arange(10))
        for word in ("yes", "no")
        for speaker in "abc"
    },
    "./_background_noise_/hum.wav": wav(np.arange(10)),
    "./validation_list.txt": b"yes/a_nohash_0.wav\nno/b_nohash_0.wav\n",
    "./testing_list.txt": b"no/a_nohash_0.wav\n",
}


def test_speechcommands(tmp_path):
    path = write_tar(tmp_path / "speech_commands_v0.02.tar", SPEECH)
    no, yes = 0, 1
    expected = {
        "train": {"no/c": no, "yes/b": yes, "yes/c": yes},
        "validation": {"no/b": no, "yes/a": yes},
        "test": {"no/a": no},
    }
    for split, labels in expected.items():
        assert speechcommands.list_recordings(path, split) == [
            {"file": f"./{name}_nohash_0.wav".encode(), "label": label}
            for name, label in labels.items()
        ]
    write_tar(path, {**SPEECH, "./testing_list.txt": b"maybe/a_nohash_0.wav"})
    with pytest.raises(ValueError, match="no recording to train on has the word 'maybe'"):
        speechcommands.list_recordings(path, "test")
    write_tar(path, {"x.wav": b""})
    with pytest.raises(ValueError, match=r"speech_commands_v0\.02\.tar has no file \./validation"):
        speechcommands.list_recordings(path, "train")


def test_wikitext(tmp_path):
    members = {
        f"wikitext-2-raw/wiki.{split}.raw": split.encode() for split in ("train", "valid", "test")
    }
    write_zip(tmp_path / "wikitext-2-raw-v1.zip", {**members, "../x": b"no"})
    for split in ("train", "valid", "test"):
        path = wikitext_file(tmp_path, split, "wikitext-2-raw", quiet=True)
        assert path == tmp_path / f"wikitext-2-raw/wiki.{split}.raw"
        assert path.read_bytes() == split.encode()
    (tmp_path / "wikitext-103").mkdir()
    (tmp_path / "wikitext-103" / "wiki.test.tokens").write_bytes(b"x")
    assert wikitext_file(tmp_path, "test", "wikitext-103").name == "wiki.test.tokens"
    with pytest.raises(ValueError, match="unknown subset 'wiki'"):
        wikitext_file(tmp_path, "test", "wiki")
    with pytest.raises(ValueError, match="unknown split 'val'; use one of train, valid, test"):
        wikitext_file(tmp_path, "val", "wikitext-2")
    with pytest.raises(ConnectionError, match=r"put the file wikitext-2-v1\.zip into"):
        wikitext_file(tmp_path, "test", "wikitext-2", quiet=True)


CLASSES = {"n01440764": ("tench, Tinca tinca", 1), "n01443537": ("goldfish", 2)}
METADATA = {
    name: {"id": number, "label": number - 1, "description": words, "num_train_images": 1300}
    for name, (words, number) in CLASSES.items()
}


def devkit_members(tmp_path):
    savemat = pytest.importorskip("scipy.io").savemat
    form = [("ILSVRC2012_ID", "O"), ("WNID", "O"), ("words", "O"), ("num_train_images", "O")]
    rows = [(float(number), name, words, 1300.0) for name, (words, number) in CLASSES.items()]
    savemat(tmp_path / "meta.mat", {"synsets": np.array(rows, form)})
    content = (tmp_path / "meta.mat").read_bytes()
    (tmp_path / "meta.mat").unlink()
    return {
        "ILSVRC2012_devkit_t12/data/meta.mat": content,
        "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt": b"2\n1\n",
    }


def test_imagenet_devkit(tmp_path):
    members = devkit_members(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"neither ILSVRC2012_devkit_t12\.tar\.gz nor"):
        imagenet.read_devkit(tmp_path)
    archive = write_tar(tmp_path / "ILSVRC2012_devkit_t12.tar.gz", members, "w:gz")
    with pytest.raises(RuntimeError, match="its md5 is"):
        imagenet.load_imagenet_metadata(tmp_path, quiet=True)
    assert imagenet.read_devkit(tmp_path, True, False) == (METADATA, [1, 0])
    archive.unlink()
    for name, content in members.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert imagenet.read_devkit(tmp_path) == (METADATA, [1, 0])
    (tmp_path / "ILSVRC2012_devkit_t12/data/meta.mat").write_bytes(b"MATLAB 5.0" * 30)
    with pytest.raises(ValueError, match=r"meta\.mat is damaged"):
        imagenet.read_devkit(tmp_path)


def test_imagenet_devkit_of_mlx_data(tmp_path):
    kit = tmp_path / "ILSVRC2012_devkit_t12"
    kit.mkdir()
    rows = {
        np.str_(name): {
            "id": np.uint16(row["id"]),
            "label": np.int64(row["label"]),
            "description": np.str_(row["description"]),
            "num_train_images": np.uint16(row["num_train_images"]),
        }
        for name, row in METADATA.items()
    }
    (kit / "meta.pkl").write_bytes(pickle.dumps(rows))
    (kit / "val_gt.pkl").write_bytes(pickle.dumps([1, 0]))
    metadata, labels = imagenet.read_devkit(tmp_path)
    assert metadata == METADATA
    assert labels == [1, 0]
    assert {type(value) for row in metadata.values() for value in row.values()} == {int, str}
    (kit / "meta.pkl").write_bytes(pickle.dumps([1]))
    with pytest.raises(ValueError, match="does not hold the classes of ImageNet"):
        imagenet.read_devkit(tmp_path)


def test_imagenet_needs_its_archives(tmp_path):
    for name, content in devkit_members(tmp_path).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with pytest.raises(
        FileNotFoundError, match=r"neither ILSVRC2012_img_train\.tar nor the folder"
    ):
        imagenet.load_imagenet(tmp_path)
    with pytest.raises(ValueError, match="unknown split 'test'; use one of train, val"):
        imagenet.load_imagenet(tmp_path, "test")
    write_tar(tmp_path / "ILSVRC2012_img_val.tar", {})
    with pytest.raises(RuntimeError, match=r"img_val\.tar is damaged or another version"):
        imagenet.load_imagenet(tmp_path, "val", quiet=True)
    with pytest.raises(ValueError, match=r"img_val\.tar has 0 images, expected 2"):
        imagenet.load_imagenet(tmp_path, "val", quiet=True, validate_download=False)
