"""Take a screenshot of the dashboard in headless Chromium, as in the README.

Examples:
  python3 -m ohash screenshot
  python3 -m ohash screenshot --link "dataset=digits&method=mmoh" --dark --out mmoh.png
  python3 -m ohash screenshot --page data --width 390 --height 844
"""

import argparse
from pathlib import Path

from ohash.cli.lab import Dashboard
from ohash.plots.renderers.pdf import chromium

PAIRS = "Number(document.querySelector('.ohash-status')?.dataset.pairs) >= "
LIVE = "document.querySelector('.ohash-status')?.textContent.includes('running')"
QUIET_MS = 1500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options."""
    parser.add_argument("--out", default=".readme/live.png", help="file to write (.readme/live.png)")
    parser.add_argument("--page", default="", help="path of the page: compare, data, runs ... (default: the Live page)")
    parser.add_argument("--link", default="", help="query string of the experiment (default: the first preset)")
    parser.add_argument(
        "--pairs", type=int, default=20_000, help="Live page: wait until this many pairs are learnt (20000)"
    )
    parser.add_argument("--seconds", type=float, default=10, help="other pages: seconds to wait (10)")
    parser.add_argument("--width", type=int, default=1280, help="width of the window in pixels (1280)")
    parser.add_argument("--height", type=int, default=800, help="height of the window in pixels (800)")
    parser.add_argument("--dark", action="store_true", help="dark theme")
    parser.add_argument("--whole", action="store_true", help="the whole page, not only the visible part")


def run(options: argparse.Namespace) -> int:
    """Start a server, open the page, write the image."""
    server = Dashboard()
    try:
        with chromium() as browser:
            page = browser.new_page(
                viewport={"width": options.width, "height": options.height},
                color_scheme="dark" if options.dark else "light",
                device_scale_factor=1 if options.width > 640 else 2,
            )
            page.set_default_timeout(180_000)
            page.goto(f"{server.url}/{options.page}?{options.link}")
            if options.page:
                page.wait_for_timeout(1000 * options.seconds)
            else:
                page.wait_for_function(f"{LIVE} && {PAIRS}{options.pairs}")
                page.wait_for_timeout(QUIET_MS)
            Path(options.out).parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=options.out, full_page=options.whole)
    finally:
        server.stop()
    print(f"wrote {options.out}")
    return 0
