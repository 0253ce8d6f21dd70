"""Features of sound, for the transforms of a pipeline."""

from umber.data.features.spectral import FrequencyScale, WindowType, mfsc

__all__ = ["FrequencyScale", "WindowType", "mfsc"]
