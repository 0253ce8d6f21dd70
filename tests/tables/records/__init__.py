"""The records of each family; files as in `umber-core/src/ops/`."""
