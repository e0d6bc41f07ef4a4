"""What sites made with Django share: settings that hold for all, serving static files, letting go of data."""

from datetime import datetime
from pathlib import Path
from wsgiref.types import WSGIApplication

import django
from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.cache import caches
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connections

from dynaweb.browser.sites.inside.clock import at

HOST_NAMES = [".localhost", "127.0.0.1"]


def common_settings(data: Path) -> dict[str, object]:
    """Settings for a site whose data lie in one folder.

    The secret key is no secret: the site listens on loopback and its users are made up.
    """
    memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    return {
        "DEBUG": False,
        "SECRET_KEY": "made-up-site-on-loopback",
        "ALLOWED_HOSTS": HOST_NAMES,
        "DATABASES": {
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(data / "db.sqlite3"),
                "OPTIONS": {
                    "timeout": 20,
                    "init_command": "PRAGMA synchronous=OFF",  # a copy that is thrown away
                },
            }
        },
        # made-up passwords: a slow hash would protect nothing and cost a second a login
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
        "DEFAULT_AUTO_FIELD": "django.db.models.AutoField",
        "CACHES": {
            "default": memory | {"LOCATION": "default"},
            "st_rate_limit": memory | {"LOCATION": "rates", "TIMEOUT": None},
        },
        "HAYSTACK_CONNECTIONS": {
            "default": {
                "ENGINE": "haystack.backends.whoosh_backend.WhooshEngine",
                "PATH": str(data / "search"),
            }
        },
        "LANGUAGE_CODE": "en",
        "LANGUAGES": [("en", "English")],
        "TIME_ZONE": "UTC",
        "USE_I18N": True,
        "USE_TZ": True,
        "STATIC_URL": "/static/",
        "MEDIA_URL": "/media/",
        "MEDIA_ROOT": str(data / "media"),
        "LOGGING": {
            "version": 1,
            "disable_existing_loggers": False,
            "handlers": {"stderr": {"class": "logging.StreamHandler"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
        },
    }


def configure(chosen: dict[str, object]) -> None:
    """Set Django up in this process; once."""
    settings.configure(**chosen)
    django.setup()


def make_database(data: Path, moment: datetime) -> None:
    """Empty tables in a new folder, made at some moment."""
    (data / "media").mkdir(parents=True)
    # one index at the end instead of a new one after every row
    apps.get_app_config("haystack").signal_processor.teardown()
    with at(moment):
        call_command("migrate", verbosity=0, run_syncdb=True)


def make_index() -> None:
    """The search index of everything there is."""
    call_command("rebuild_index", interactive=False, verbosity=0)


def wsgi() -> WSGIApplication:
    """The site, its static files included (no web server stands before it)."""
    application: WSGIApplication = StaticFilesHandler(get_wsgi_application())
    return application


def forget() -> None:
    """Close the database and drop what is cached.

    Every request's thread has closed its own connection when it ended (CONN_MAX_AGE is 0).
    """
    connections.close_all()
    for cache in caches.all():
        cache.clear()
    for name in settings.CACHES:
        caches[name].clear()
