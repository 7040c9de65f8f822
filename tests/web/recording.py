"""A visit of the page as an animated picture: ``python -m tests.web.recording FILE.webp``."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from tests.web.__main__ import ROOT, node

WIDTH, FRAME_MS, QUALITY = 900, 900, 60


def joined(folder: Path, file: Path) -> None:
    """The pictures below ``folder``, in the order of their names, as one."""
    pictures = [Image.open(p).convert("RGB") for p in sorted(folder.glob("*.png"))]
    small = [p.resize((WIDTH, round(p.height * WIDTH / p.width)), Image.Resampling.LANCZOS) for p in pictures]
    small[0].save(file, save_all=True, append_images=small[1:], duration=FRAME_MS, loop=0, quality=QUALITY, method=6)


def main() -> int:
    """The exit code of the visit."""
    with TemporaryDirectory() as folder:
        code = node(str(ROOT / "web/e2e/recording.mjs"), RECORDING=folder)
        if code == 0:
            joined(Path(folder), Path(sys.argv[1]))
        return code


if __name__ == "__main__":
    sys.exit(main())
