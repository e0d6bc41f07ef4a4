"""Who uses the sites: made-up people with passwords that are data, since nothing real is behind them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with an account."""

    username: str
    name: str
    password: str
    staff: bool = False
    """May do everything on the site."""

    @property
    def email(self) -> str:
        """An address in a domain that cannot exist."""
        return f"{self.username}@example.test"


PEOPLE = (
    Person("admin", "Ada Holm", "admin-lantern-1", staff=True),
    Person("anna", "Anna Berg", "anna-lantern-2"),
    Person("bruno", "Bruno Costa", "bruno-lantern-3"),
    Person("chiara", "Chiara Fontana", "chiara-lantern-4"),
    Person("david", "David Okafor", "david-lantern-5"),
    Person("elif", "Elif Kaya", "elif-lantern-6"),
    Person("farid", "Farid Rahimi", "farid-lantern-7"),
    Person("greta", "Greta Lindqvist", "greta-lantern-8"),
    Person("hiro", "Hiro Tanaka", "hiro-lantern-9"),
    Person("ines", "Ines Duarte", "ines-lantern-10"),
    Person("jonas", "Jonas Weber", "jonas-lantern-11"),
    Person("katya", "Katya Orlova", "katya-lantern-12"),
)
"""The same on every site; the first is staff."""
