"""The bare minimum for each thing that is measured: scripts without a line of ours."""
