"""A forum: django-spirit."""
