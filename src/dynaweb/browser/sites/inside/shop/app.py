"""django-oscar as a WSGI application (its own example project is not in the package, so the settings are ours)."""

from pathlib import Path
from wsgiref.types import WSGIApplication

import oscar
from oscar import defaults

from dynaweb.browser.sites.inside import djangosite

forget = djangosite.forget

CONTEXT = (
    "django.template.context_processors.debug",
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.template.context_processors.i18n",
    "django.template.context_processors.media",
    "django.template.context_processors.static",
    "django.contrib.messages.context_processors.messages",
    "oscar.apps.search.context_processors.search_form",
    "oscar.apps.checkout.context_processors.checkout",
    "oscar.apps.communication.notifications.context_processors.notifications",
    "oscar.core.context_processors.metadata",
)
MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "django.middleware.common.CommonMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
)


class _NoMigrations(dict[str, None]):
    """Tables are made from the models at once: Oscar's 150 migrations would lead to the same ones in minutes."""

    def __contains__(self, label: object) -> bool:
        return True

    def __missing__(self, label: str) -> None:
        return None


def shop_settings(data: Path) -> dict[str, object]:
    """Settings of a shop whose data lie in one folder."""
    own = {name: getattr(defaults, name) for name in dir(defaults) if name.isupper()}
    templates = {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": list(CONTEXT)},
    }
    return {
        **own,
        **djangosite.common_settings(data),
        "SITE_ID": 1,
        "MIGRATION_MODULES": _NoMigrations(),
        "INSTALLED_APPS": [*oscar.INSTALLED_APPS, "sorl.thumbnail"],
        "MIDDLEWARE": list(MIDDLEWARE),
        "TEMPLATES": [templates],
        "AUTHENTICATION_BACKENDS": [
            "oscar.apps.customer.auth_backends.EmailBackend",
            "django.contrib.auth.backends.ModelBackend",
        ],
        "ROOT_URLCONF": "dynaweb.browser.sites.inside.shop.urls",
        "LOGIN_REDIRECT_URL": "/",
        "OSCAR_SHOP_NAME": "Lantern Street",
        "OSCAR_SHOP_TAGLINE": "Things that last",
        "OSCAR_DEFAULT_CURRENCY": "EUR",
        "OSCAR_ALLOW_ANON_CHECKOUT": True,
        "OSCAR_INITIAL_ORDER_STATUS": "Pending",
        "OSCAR_INITIAL_LINE_STATUS": "Pending",
        "OSCAR_ORDER_STATUS_PIPELINE": {
            "Pending": ("Being processed", "Cancelled"),
            "Being processed": ("Complete", "Cancelled"),
            "Complete": (),
            "Cancelled": (),
        },
    }


def configure(data: Path) -> None:
    """Set this process up for the shop in the folder `data`; its models can be imported then."""
    djangosite.configure(shop_settings(data))


def open_app(data: Path) -> WSGIApplication:
    """The shop in the folder `data`."""
    configure(data)
    return djangosite.wsgi()
