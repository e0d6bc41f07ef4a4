"""An issue tracker with a wiki: Trac."""
