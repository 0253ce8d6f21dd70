"""The layers, a file for each kind. To add one: write its file and list it in `umber.nn`."""
