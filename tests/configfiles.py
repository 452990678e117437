"""Configuration files of a made-up user, for the tests of `controller.config`."""

import dataclasses
from pathlib import Path

import pytest

from controller.config import Config, load_config
from controller.errors import ConfigError

SMALLEST = '[github]\nowner = "octo"\n'


@dataclasses.dataclass(frozen=True)
class Place:
    """A home folder and a configuration folder of a made-up user."""

    home: Path
    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home)}

    def write(self, content: str | bytes, name: str = "config.toml") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(0o600)
        return path

    def load(self, content: str | bytes, **environ: str) -> Config:
        return load_config(self.write(content), {**self.environ, **environ})

    def refused(self, content: str | bytes, **environ: str) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(content, **environ)
        return str(caught.value)


def made_up(folder: Path) -> Place:
    """Both folders with Japanese names, one of them decomposed (NFD) as macOS writes it."""
    place = Place(home=folder / "家", folder=folder / "設定 か\u3099")
    place.home.mkdir()
    place.folder.mkdir()
    return place
