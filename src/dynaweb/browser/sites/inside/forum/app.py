"""django-spirit as a WSGI application."""

from pathlib import Path
from wsgiref.types import WSGIApplication

from spirit.extra.project_template.project_name.settings import base

from dynaweb.browser.sites.inside import djangosite

forget = djangosite.forget


def forum_settings(data: Path) -> dict[str, object]:
    """The project's own settings with ours over them."""
    own = {name: getattr(base, name) for name in dir(base) if name.isupper()}
    return {
        **own,
        **djangosite.common_settings(data),
        "ROOT_URLCONF": "dynaweb.browser.sites.inside.forum.urls",
        "WSGI_APPLICATION": None,
        "ST_SITE_URL": "http://forum.localhost/",
        "ST_RATELIMIT_ENABLE": False,  # time stands still: a limit would never pass
        "ST_ORDERED_CATEGORIES": True,
        # language and avatars as the browser asks would differ from machine to machine
        "MIDDLEWARE": [m for m in base.MIDDLEWARE if not m.endswith("LocaleMiddleware")],
    }


def configure(data: Path) -> None:
    """Set this process up for the forum in the folder `data`; its models can be imported then."""
    djangosite.configure(forum_settings(data))


def open_app(data: Path) -> WSGIApplication:
    """The forum in the folder `data`."""
    configure(data)
    return djangosite.wsgi()
