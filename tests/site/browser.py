# SPDX-License-Identifier: MIT
"""browser.py FOLDER [SCREENSHOTS]: looks at a built site in headless Chromium.

Each page loads without an error in the console, and does not scroll sideways in a window of 400 pixels, light and dark. The search finds a term. With
SCREENSHOTS, a folder, it writes pictures of some pages there.
"""

import re
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

SHOWN = ["index.html", "start.html", "types.html", "scheduling.html", "troubleshooting.html", "reference.html", "reference/checkpointer.html"]
# Elements that reach out of the window, but for those that scroll on their own; the theme makes the whole text scroll before the window does.
WIDE = """return [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
  !e.closest("pre, .table-wrapper, .sidebar-drawer, .toc-drawer, svg")).slice(0, 3).map(e => e.outerHTML.slice(0, 120))"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def browser():
    options = Options()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def resize(driver, width, height=900):
    """Headless windows have a least width; the metrics of a device have none."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def scheme(driver, name):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def brightness(driver):
    """0 to 255, of the background of the page."""
    colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour.strip("rgba()").split(",")[:3]) / 3


def check_pages(driver, address, pages):
    resize(driver, 400)
    for name in ("light", "dark"):
        scheme(driver, name)
        for page in pages:
            driver.get(f"{address}/{page}")
            wide, bright = driver.execute_script(WIDE), brightness(driver)
            if wide:
                yield f"{page}: wider than 400 pixels ({name}): {wide}"
            if (bright > 128) != (name == "light"):
                yield f"{page}: a background of {bright} ({name})"
            if not driver.execute_script('return document.querySelector("article h1")') and page != "search.html":
                yield f"{page}: has no title"
            for line in driver.get_log("browser"):
                yield f"{page}: {line['message']}"


def check_search(driver, address):
    resize(driver, 1200)
    for term, wanted in (("retention", "guarantees.html"), ("keep_last", "reference/options.html")):
        driver.get(f"{address}/index.html")
        box = driver.find_element(By.CSS_SELECTOR, "input[name=q]")
        box.send_keys(term)
        box.submit()
        try:  # the summary says so when the search is done
            WebDriverWait(driver, 60).until(lambda d: re.search("found|did not match", " ".join(e.text for e in d.find_elements(By.CSS_SELECTOR, "#search-results .search-summary"))))
        except TimeoutException:
            yield f"the search for {term} does not end"
        found = [link.get_attribute("href") for link in driver.find_elements(By.CSS_SELECTOR, "#search-results ul.search li a")]
        if not any(wanted in link for link in found):
            yield f"the search for {term} does not find {wanted}, but {found}"
    driver.get_log("browser")


def take(driver, address, folder):
    for width in (400, 1200):
        resize(driver, width, 1600)
        for name in ("light", "dark"):
            scheme(driver, name)
            for page in SHOWN:
                driver.get(f"{address}/{page}")
                driver.save_screenshot(str(folder / f"{page.replace('/', '_')}_{width}_{name}.png"))


def main():
    folder = Path(sys.argv[1]).resolve()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    pages = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.html")) if not path.is_relative_to(folder / "_static")]
    driver = browser()
    try:
        wrong = [*check_pages(driver, address, pages), *check_search(driver, address)]
        if len(sys.argv) > 2:
            take(driver, address, Path(sys.argv[2]))
    finally:
        driver.quit()
        server.shutdown()
    print("\n".join(wrong + [f"{len(pages)} pages, {len(wrong)} problems"]))
    return 1 if wrong or len(pages) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
