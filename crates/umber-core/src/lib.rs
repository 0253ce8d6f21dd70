//! Floor 2: the framework.
