"""The built site in a browser without a network: pages render, search and copy buttons work.

Skipped where there is no Chromium or where `make docs` has not built the site; `UMBER_DOCS` names
the folder of a site that was built elsewhere.
"""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("UMBER_DOCS", ROOT / "target/docs/html"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# Loads from other hosts; links that a reader may follow are none.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["'](?:https?:)?//"""
    r"""|<link\b[^>]*\brel=["'](?:stylesheet|preload|icon|preconnect)["'][^>]*(?:https?:)?//"""
    r"""|url\(["']?(?:https?:)?//|@import ["'](?:https?:)?//"""
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built"),
]


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """A function from a page's address within the site to its DOM and its console messages."""
    profile = tmp_path_factory.mktemp("profile")

    @cache
    def visit(address):
        run = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={profile}",
                "--enable-logging=stderr",
                "--virtual-time-budget=20000",
                "--dump-dom",
                f"{SITE.resolve().as_uri()}/{address}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout, [line for line in run.stderr.splitlines() if ":CONSOLE" in line]

    return visit


def test_front_page_renders(visit):
    dom, _ = visit("index.html")
    assert "<h1>umber" in dom
    for caption in ("Getting started", "How-to guides", "Coming from", "Reference", "Internals"):
        assert f'<span class="caption-text">{caption}</span>' in dom


def test_search_finds_a_function(visit):
    dom, _ = visit("search.html?q=softmax")
    results = dom[dom.index('id="search-results"') :]
    assert "umber.core.softmax" in results
    assert re.search(r'href="api/core/reductions\.html[^"]*umber\.core\.softmax"', results)


def test_code_has_copy_buttons(visit):
    dom, _ = visit("start/tour.html")
    assert dom.count('class="copybtn') >= 8


@pytest.mark.parametrize(
    "address", ["index.html", "search.html?q=softmax", "start/tour.html", "api/core/array.html"]
)
def test_console_is_silent(visit, address):
    assert visit(address)[1] == []


def test_nothing_is_loaded_from_the_network():
    files = [path for path in SITE.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > 50
    found = [path for path in files if LOADS.search(path.read_text(encoding="utf-8"))]
    assert found == []
