"""Which sites there are: what they are made of, where to begin, how to log in. Data, nothing else."""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files

from dynaweb.browser.sites.inside.people import PEOPLE, Person
from dynaweb.browser.sites.packages import pinned_in
from dynaweb.errors import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The form that lets somebody in."""

    path: str
    user_field: str
    password_field: str
    by_email: bool = False
    """The form asks for the address, not for the name."""
    also: tuple[tuple[str, str], ...] = ()
    """Further fields that the form sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSpec:
    """One site."""

    name: str
    title: str
    """What it is, in a few words."""
    package: str
    """Name and version of the program, as on PyPI; written on trajectories as their origin."""
    license: str
    """Licence of the program; the data are made by our own scripts."""
    starts: tuple[str, ...]
    """Paths that are worth beginning at."""
    login: Login
    robots: str
    """Text of the site's robots.txt."""

    @property
    def host(self) -> str:
        """Name under which pages see themselves, the same in every run."""
        return f"{self.name}.localhost"

    @property
    def origin(self) -> str:
        """Address without a trailing slash, as observations show it."""
        return f"http://{self.host}"

    @property
    def lock(self) -> str:
        """Text of the file that pins its packages, one a line."""
        return files("dynaweb.browser.sites").joinpath("locks", f"{self.name}.txt").read_text("utf-8")  # fmt: skip

    @property
    def requirements(self) -> tuple[str, ...]:
        """The pinned packages: `Django==5.2.19`, ..."""
        return pinned_in(self.lock)


SITES = {
    spec.name: spec
    for spec in (
        SiteSpec(
            name="shop",
            title="a shop with customers, stock and orders",
            package="django-oscar-4.2.1",
            license="BSD-3-Clause",
            starts=(
                "/catalogue/",
                "/catalogue/category/kitchen_1/",
                "/catalogue/category/outdoor_5/",
                "/search/?q=lamp",
                "/basket/",
                "/accounts/login/",
            ),
            login=Login(
                path="/accounts/login/",
                user_field="login-username",
                password_field="login-password",
                by_email=True,
                also=(("login_submit", "Log In"), ("login-redirect_url", "")),
            ),
            robots="User-agent: *\nDisallow: /dashboard/\nDisallow: /accounts/\nDisallow: /checkout/\n",
        ),
        SiteSpec(
            name="tracker",
            title="an issue tracker with a wiki",
            package="Trac-1.6",
            license="BSD-3-Clause",
            starts=("/wiki", "/report/1", "/query", "/roadmap", "/timeline", "/ticket/12", "/search"),
            login=Login(path="/login", user_field="user", password_field="password"),
            robots="User-agent: *\nDisallow: /admin\nDisallow: /prefs\n",
        ),
        SiteSpec(
            name="forum",
            title="a forum of a small town",
            package="django-spirit-0.14.3",
            license="MIT",
            starts=("/", "/topic/1/", "/topic/12/", "/category/3/", "/user/login/", "/user/register/"),
            login=Login(path="/user/login/", user_field="username", password_field="password"),
            robots="User-agent: *\nDisallow: /st/admin/\nDisallow: /admin/\nDisallow: /user/logout/\n",
        ),
    )
}  # fmt: skip
"""Name -> site."""


def find_site(name: str) -> SiteSpec:
    """The site of this name.

    Raises:
        UserError: there is none.
    """
    if name in SITES:
        return SITES[name]
    near = get_close_matches(name, SITES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UserError(f"no site {name!r}{hint} The sites are {', '.join(SITES)}")


def find_person(username: str) -> Person:
    """Somebody with an account on every site.

    Raises:
        UserError: there is nobody of this name.
    """
    for person in PEOPLE:
        if person.username == username:
            return person
    raise UserError(
        f"nobody called {username!r} has an account; use one of {', '.join(p.username for p in PEOPLE)}"
    )
