"""The imperative shell: observe, apply, tick. Holds no decision that planning could make."""
