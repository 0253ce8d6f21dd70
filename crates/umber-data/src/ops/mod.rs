//! Operations on samples, a file each or a family.
