"""Published data sets as buffers and streams.

Every function takes `root`, the folder of the data set's files; by default it is below
``~/.cache/mlx.data``, where mlx-data keeps them, too. What is there is used without network. The
rest is downloaded, where it may be; if the network refuses, the error names the file to put there.
"""

from umber.data.datasets.cifar import load_cifar10, load_cifar100
from umber.data.datasets.image_folder import load_images_from_folder
from umber.data.datasets.imagenet import load_imagenet, load_imagenet_metadata
from umber.data.datasets.librispeech import load_librispeech, load_librispeech_tarfile
from umber.data.datasets.libritts_r import load_libritts_r, load_libritts_r_tarfile
from umber.data.datasets.mnist import load_fashion_mnist, load_mnist
from umber.data.datasets.speechcommands import load_speechcommands
from umber.data.datasets.wikitext import load_wikitext_lines

__all__ = [
    "load_cifar10",
    "load_cifar100",
    "load_fashion_mnist",
    "load_imagenet",
    "load_imagenet_metadata",
    "load_images_from_folder",
    "load_librispeech",
    "load_librispeech_tarfile",
    "load_libritts_r",
    "load_libritts_r_tarfile",
    "load_mnist",
    "load_speechcommands",
    "load_wikitext_lines",
]
