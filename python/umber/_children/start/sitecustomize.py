# Run by every interpreter that a process with the import hook of umber.mlx starts, of any version
# and installation. It leaves no trace: it removes its folder from the path and the environment, and
# then runs the sitecustomize that would have been run otherwise.
import os
import sys


def _remove_folder():
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    sys.path_importer_cache.pop(folder, None)
    sys.modules.pop("sitecustomize", None)
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    entries = [entry for entry in entries if entry != folder]
    if entries:
        os.environ["PYTHONPATH"] = os.pathsep.join(entries)
    else:
        os.environ.pop("PYTHONPATH", None)
    return os.path.dirname(folder), os.environ.pop("UMBER_MLX_CHILDREN", None)


def _begin(package, owner):
    tag = getattr(getattr(sys, "implementation", None), "cache_tag", None)
    if owner != str(tag) + " " + os.path.realpath(sys.prefix):
        return
    from importlib import import_module, util

    if util.find_spec("umber") is None:
        spec = util.spec_from_file_location(
            "umber", os.path.join(os.path.dirname(package), "__init__.py")
        )
        sys.modules["umber"] = util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["umber"])
    import_module("umber._children").begin()


_begin(*_remove_folder())

import sitecustomize  # noqa: E402, F401
