"""The secret key, generated once if none is set, and stored outside the code."""

import os
import secrets
from pathlib import Path


def secret_kept_in(path: Path) -> str:
    """Return the secret in `path`; create it on the first call, readable by its owner only.

    Several processes may start at once: the file appears complete, and the first one wins.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
