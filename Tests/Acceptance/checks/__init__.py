"""The acceptance run: the real command between real processes on 127.0.0.1."""
