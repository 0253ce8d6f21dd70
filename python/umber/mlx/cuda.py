"""`mlx.core.cuda` for programs written for MLX: umber has no GPU backend."""


def is_available() -> bool:
    """Whether an Nvidia GPU is available: it is not.

    Returns
    -------
    bool
        False.
    """
    return False
