"""How fast real pages are attempted, beside BrowserGym on the same pages, and whether both see the same elements."""
