"""The live world: Chromium as an environment, with real MiniWoB++ pages. The only package that knows Playwright."""
