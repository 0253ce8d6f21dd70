"""`mlx.core.cuda` where umber runs on CPUs."""


def is_available() -> bool:
    """Whether an Nvidia GPU is available: it is not.

    Returns
    -------
    bool
        False.
    """
    return False
