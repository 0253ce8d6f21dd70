"""`mlx.core`'s streams for single threads, where every stream may be used by all threads."""

import umber.core as mx

ThreadLocalStream = mx.Stream


def new_thread_local_stream(device: mx.Device | mx.DeviceType) -> mx.Stream:
    """A new stream on the device."""
    return mx.new_stream(device)
