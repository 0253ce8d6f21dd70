"""What the examples share: options, files, training, drawing, the digits."""
