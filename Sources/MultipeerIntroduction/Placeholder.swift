// Replaced by the layer's first file.
