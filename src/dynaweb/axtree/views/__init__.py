"""A page in the forms that WebWorld writes it in (W4, W20): HTML, XML, Markdown, Playwright-style, natural language."""
