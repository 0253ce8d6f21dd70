//! The operations on samples: a row each, from which the methods of both classes follow.
