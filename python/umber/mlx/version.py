"""The version of MLX whose API umber follows."""

from typing import Final

MLX_VERSION: Final = "0.32.4"
