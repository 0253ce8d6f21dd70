"""Write tests/mlx/mlx_names.json: the names in the modules of an installed MLX wheel.

Run it with an interpreter that has MLX. The file holds names only: for each module what `dir` of it
shows, by the module that the objects say they are from, and for each class of MLX the names of its
members. `tests/mlx/test_mlx_names.py` looks them all up in umber.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

TABLE = Path(__file__).resolve().parent.parent / "tests/mlx/mlx_names.json"


def modules() -> dict[str, ModuleType]:
    """All modules of the wheel by name, including those inside the extension module."""
    package = importlib.import_module("mlx")
    for info in pkgutil.walk_packages(package.__path__, "mlx."):
        importlib.import_module(info.name)
    return {name: sys.modules[name] for name in sorted(sys.modules) if name.startswith("mlx.")}


def is_shown(name: str) -> bool:
    """Whether the name is not a special name such as `__doc__`."""
    return not (name.startswith("__") and name.endswith("__"))


def names_of(module: ModuleType) -> dict[str, str]:
    """The names by the MLX module that defines them; `""` for names from other packages."""
    names_by_home: dict[str, list[str]] = {}
    for name in filter(is_shown, dir(module)):
        value = getattr(module, name)
        home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
        is_from_mlx = str(home).split(".")[0] == "mlx"
        names_by_home.setdefault(home if is_from_mlx else "", []).append(name)
    return {home: " ".join(names) for home, names in sorted(names_by_home.items())}


def members_of(module: ModuleType) -> dict[str, str]:
    """The members that the classes of the module define in addition to their bases."""
    return {
        name: " ".join(filter(is_shown, sorted(vars(value))))
        for name, value in sorted(vars(module).items())
        if isinstance(value, type) and value.__module__ == module.__name__
    }


def main() -> None:
    """Write the table."""
    modules_by_name = modules()
    table = {
        "version": importlib.import_module("mlx.core").__version__,
        "modules": {name: names_of(module) for name, module in modules_by_name.items()},
        "classes": {
            f"{name}.{class_}": members
            for name, module in modules_by_name.items()
            for class_, members in members_of(module).items()
        },
    }
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
