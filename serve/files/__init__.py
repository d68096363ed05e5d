"""The part of OpenAI's Files API that batches need: upload, list, look up, read, delete.

| module   | what it does                                                   |
|----------|----------------------------------------------------------------|
| `routes` | the HTTP routes                                                |
| `form`   | the form of an upload, within the settings' limit              |
| `store`  | the files on disk by owner, written whole or not at all        |
"""

from .routes import OWNER, router

__all__ = ["OWNER", "router"]
