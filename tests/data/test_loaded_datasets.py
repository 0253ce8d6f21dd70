"""Data sets as buffers and streams of samples."""

import numpy as np
import pytest
from dataset_archives import cifar_records, wav, write_mnist, write_tar

dx = pytest.importorskip("umber.data.core") and pytest.importorskip("umber.data")
datasets = pytest.importorskip("umber.data.datasets")


def text(value):
    return bytes(np.asarray(value))


def test_mnist(tmp_path, rng):
    images = rng.integers(0, 256, (5, 28, 28), np.uint8)
    labels = rng.integers(0, 10, 5).astype(np.uint8)
    write_mnist(tmp_path, images, labels, train=False)
    for load in (datasets.load_mnist, datasets.load_fashion_mnist):
        buffer = load(tmp_path, train=False)
        assert len(buffer) == 5
        assert buffer[3].keys() == {"image", "label"}
        assert buffer[3]["image"].dtype == buffer[3]["label"].dtype == np.uint8
        batch = buffer.batch(5)[0]
        assert np.array_equal(batch["image"], images[..., None])
        assert np.array_equal(batch["label"], labels)


def test_cifar(tmp_path, rng):
    images = rng.integers(0, 256, (5, 32, 32, 3), np.uint8)
    labels = np.arange(5)
    for load, name, size in (
        (datasets.load_cifar10, "cifar-10-batches-bin/test_batch.bin", 1),
        (datasets.load_cifar100, "cifar-100-binary/test.bin", 2),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(cifar_records(images, labels, size))
        batch = load(tmp_path, train=False).batch(5)[0]
        assert np.array_equal(batch["image"], images)
        assert np.array_equal(batch["label"], labels)
        assert batch["label"].dtype == np.int64


def png(image):
    """A PNG file of one channel."""
    import struct
    import zlib

    def chunk(name, content):
        checksum = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checksum

    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def test_images_from_folder(tmp_path, rng):
    images = {name: rng.integers(0, 256, (4, 6), np.uint8) for name in ("a/2", "b/1", "b/3")}
    for name, image in images.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.png").write_bytes(png(image))
    for path in (tmp_path, str(tmp_path)):
        samples = list(datasets.load_images_from_folder(path))
        assert [int(sample["label"]) for sample in samples] == [0, 1, 1]
        assert [text(sample["folder"]) for sample in samples] == [b"a", b"b", b"b"]
        assert [text(sample["file"]).decode() for sample in samples] == [f"{n}.png" for n in images]
        for sample, image in zip(samples, images.values(), strict=True):
            assert np.array_equal(sample["image"], image[..., None])


def test_imagenet(tmp_path, rng):
    """From folders and from archives; the endings say JPEG, the decoder looks at the content."""
    import pickle

    kit = tmp_path / "ILSVRC2012_devkit_t12"
    kit.mkdir()
    row = {"description": "x", "num_train_images": 2}
    meta = {"n01": {"id": 1, "label": 0, **row}, "n02": {"id": 2, "label": 1, **row}}
    (kit / "meta.pkl").write_bytes(pickle.dumps(meta))
    (kit / "val_gt.pkl").write_bytes(pickle.dumps([1, 0]))
    image = rng.integers(0, 256, (4, 6), np.uint8)
    inner = write_tar(tmp_path / "n02.tar", {"n02_1.JPEG": png(image)}).read_bytes()
    write_tar(tmp_path / "ILSVRC2012_img_train.tar", {"n02.tar": inner})
    write_tar(
        tmp_path / "ILSVRC2012_img_val.tar", {"val_2.JPEG": png(image), "val_1.JPEG": png(image)}
    )
    for split, labels in (("train", [1]), ("val", [1, 0])):
        samples = list(datasets.load_imagenet(tmp_path, split, True, False, 2))
        assert [int(sample["label"]) for sample in samples] == labels
        assert all(np.array_equal(sample["image"], image[..., None]) for sample in samples)
    for name in ("ILSVRC2012_img_train/n02/n02_1", "ILSVRC2012_img_val/1", "ILSVRC2012_img_val/2"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.JPEG").write_bytes(png(image))
    for split, labels in (("train", [1]), ("val", [1, 0])):
        samples = list(datasets.load_imagenet(tmp_path, split))
        assert [int(sample["label"]) for sample in samples] == labels
        assert all(np.array_equal(sample["image"], image[..., None]) for sample in samples)


def test_speechcommands(tmp_path):
    sound = np.arange(-5, 5) * 1000
    names = [f"./{word}/{speaker}_nohash_0.wav" for word in ("yes", "no") for speaker in "ab"]
    lists = {"./validation_list.txt": b"no/a_nohash_0.wav\n", "./testing_list.txt": b""}
    members = {name: wav(sound) for name in names} | lists
    write_tar(tmp_path / "speech_commands_v0.02.tar", members)
    (sample,) = datasets.load_speechcommands(tmp_path, "validation")
    assert sample.keys() == {"file", "label", "audio"}
    assert text(sample["file"]) == b"./no/a_nohash_0.wav"
    assert int(sample["label"]) == 0
    assert np.allclose(sample["audio"], sound[:, None] / 32768)
    assert len(datasets.load_speechcommands(tmp_path)) == 3


def test_librispeech(tmp_path):
    """The sounds are WAV behind the names of FLAC, which the decoder does not look at."""
    sound = np.arange(-5, 5) * 1000
    folder = "LibriSpeech/dev-clean/84/121"
    members = {
        f"{folder}/84-121-0000.flac": wav(sound),
        f"{folder}/84-121.trans.txt": b"84-121-0000 GO ON\n",
    }
    path = write_tar(tmp_path / "dev-clean.tar", members)
    assert datasets.load_librispeech_tarfile(tmp_path) == path
    (sample,) = datasets.load_librispeech(tmp_path)
    assert sample.keys() == {"audio_file", "transcript", "audio"}
    assert text(sample["audio_file"]) == b"84/121/84-121-0000.flac"
    assert text(sample["transcript"]) == b"go on"
    assert np.allclose(sample["audio"], sound[:, None] / 32768)


def test_libritts_r(tmp_path):
    sound = np.arange(-5, 5) * 1000
    name = "LibriTTS_R/dev-clean/8/2/8_2_0"
    members = {f"{name}.wav": wav(sound, 24000), f"{name}.normalized.txt": b"Go on."}
    path = write_tar(tmp_path / "dev_clean.tar", members)
    assert datasets.load_libritts_r_tarfile(tmp_path) == path
    (sample,) = datasets.load_libritts_r(tmp_path)
    assert sample.keys() == {"file", "transcript_file", "transcript", "audio"}
    assert text(sample["transcript"]) == b"Go on."
    assert np.allclose(sample["audio"], sound[:, None] / 32768)


def test_wikitext(tmp_path):
    (tmp_path / "wikitext-2-raw").mkdir()
    (tmp_path / "wikitext-2-raw" / "wiki.test.raw").write_bytes(b" = A = \n\nB\n")
    lines = datasets.load_wikitext_lines(tmp_path, "test", "wikitext-2-raw")
    assert [text(sample["line"]) for sample in lines] == [b" = A = ", b"", b"B"]
