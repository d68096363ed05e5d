"""How each family's parser reads a reply, written from its described behaviour.

``ORACLES`` maps an adapter's name to its readers; a reader returns ``correct``, ``incorrect``,
``invalid`` or None (no verdict: unscored, retried or an error on the caller's side). A caller
with several parsers has several readers: all must agree.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

Reader = Callable[[str], str | None]

ORACLES: dict[str, tuple[Reader, ...]] = {}
for _module in pkgutil.iter_modules(__path__):
    ORACLES |= importlib.import_module(f"{__name__}.{_module.name}").ORACLES
