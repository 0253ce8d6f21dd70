"""Enumerations of mlx-data, whose members are names of the modules, too."""

import enum


class TokenizeMode(enum.Enum):
    """Which tokens `tokenize` takes of several possibilities."""

    Shortest = 0
    Rand = 1


class LoadAudioInfo(enum.Enum):
    """What `load_audio` tells of a sound: frames, channels and rate, or one of them, or seconds."""

    All = 0
    NumFrames = 1
    NumChannels = 2
    SampleRate = 3
    NumSeconds = 4


class ArrayType(enum.Enum):
    """The dtypes of mlx-data's arrays."""

    any = 0
    uint8 = 1
    int8 = 2
    int32 = 3
    int64 = 4
    float = 5
    double = 6


for _class in (TokenizeMode, LoadAudioInfo):
    _class.__module__ = "umber.data"
ArrayType.__module__ = "umber.data.core"
