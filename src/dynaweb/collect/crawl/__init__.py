"""Level 1 of data collection: a random crawl (WebWorld 3.2): where to go next, what to do there, what was seen."""
