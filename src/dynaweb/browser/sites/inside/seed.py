"""Fill a new site. The parent gives the folder and the seed as one JSON line on standard input."""

import json
import sys
from pathlib import Path

from dynaweb.browser.sites.inside.clock import OPENED
from dynaweb.browser.sites.inside.telling import STAGES, tell


def seed_site(site: str, data: Path, seed: int) -> dict[str, int]:
    """Make the data of a site in a new folder; how many there are of each thing.

    Django's models can be imported only once it is set up, so the modules that name them come after that.
    """
    tell(0, STAGES, "empty tables")
    if site == "tracker":
        from dynaweb.browser.sites.inside.tracker.seed import fill_tracker

        return fill_tracker(data, seed)
    from dynaweb.browser.sites.inside import djangosite

    if site == "shop":
        from dynaweb.browser.sites.inside.shop import app as shop

        shop.configure(data)
        djangosite.make_database(data, OPENED)
        from dynaweb.browser.sites.inside.shop.seed import fill_shop

        return fill_shop(data, seed)
    if site == "forum":
        from dynaweb.browser.sites.inside.forum import app as forum

        forum.configure(data)
        djangosite.make_database(data, OPENED)
        from dynaweb.browser.sites.inside.forum.seed import fill_forum

        return fill_forum(seed)
    raise SystemExit(f"no site {site!r}")


def main() -> None:
    """Make the data and say what was made."""
    given = json.loads(sys.stdin.readline())
    made = seed_site(given["site"], Path(given["data"]), int(given["seed"]))
    tell(STAGES, STAGES, "done")
    print(json.dumps({"made": made}), flush=True)


if __name__ == "__main__":
    main()
