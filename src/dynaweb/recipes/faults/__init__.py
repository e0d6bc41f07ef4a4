"""What real pages and machines do to a browser, done on purpose: faults one by one, and long runs."""
