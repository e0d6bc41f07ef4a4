"""The live world as a crawl meets it: addresses instead of tasks, robots.txt, and requests that are not made."""
