"""The configuration: one TOML file, read whole, refused whole, handed out as frozen values.

cli and bootstrap call `load_config`; nothing else reads the file. `toban --help` never imports it.
"""

from controller.config.load import load_config
from controller.config.model import Config, Sections
from controller.config.secrets import read_app_key, read_signing_keys, read_token, secret_paths

__all__ = [
    "Config",
    "Sections",
    "load_config",
    "read_app_key",
    "read_signing_keys",
    "read_token",
    "secret_paths",
]
