"""`mlx.core.cuda` where umber runs on CPUs."""


def is_available() -> bool:
    """Whether arrays can live on an Nvidia GPU: they cannot."""
    return False
