"""What the tracker is about: a made-up program for notes, its parts, its releases, its troubles."""

from datetime import UTC, datetime

PROJECT = "Lantern"
ABOUT = "Lantern keeps notes on every device you own."

COMPONENTS = {
    "editor": "anna",
    "sync": "bruno",
    "search": "chiara",
    "mobile": "david",
    "export": "elif",
    "docs": "greta",
    "build": "hiro",
}
"""Name -> who looks after it."""

MILESTONES = {
    "1.0": datetime(2024, 11, 18, tzinfo=UTC),
    "1.1": datetime(2025, 2, 10, tzinfo=UTC),
    "1.2": datetime(2025, 4, 28, tzinfo=UTC),
    "1.3": datetime(2025, 7, 14, tzinfo=UTC),
    "2.0": datetime(2025, 11, 3, tzinfo=UTC),
}
"""Name -> when it is due; those before the present are done."""

VERSIONS = {"1.0": MILESTONES["1.0"], "1.1": MILESTONES["1.1"], "1.2": MILESTONES["1.2"]}

KINDS = ("defect", "enhancement", "task")
PRIORITIES = ("blocker", "critical", "major", "minor", "trivial")

DEFECTS = {
    "editor": (
        "Pasting a table drops its last column",
        "Undo after a drag moves the wrong paragraph",
        "Cursor jumps to the top when a heading is folded",
        "Bold text loses its colour in dark mode",
        "Checklists cannot be reordered with the keyboard",
        "Very long lines make typing slow",
    ),
    "sync": (
        "Two devices offline for a week create duplicate notes",
        "Sync stops without a message when the disk is full",
        "Attachments larger than 20 MB are sent twice",
        "Clock skew of one hour hides the newest change",
        "Retry after a lost connection ignores the proxy",
    ),
    "search": (
        "Search for a phrase in quotes ignores the quotes",
        "Results are not updated after a note is renamed",
        "Umlauts are found only when typed exactly",
        "Searching inside a closed notebook shows nothing",
    ),
    "mobile": (
        "Share sheet shows an empty title",
        "Rotating the screen closes the open note",
        "Widget displays yesterday's list",
        "Dictation stops after the first full stop",
    ),
    "export": (
        "PDF export cuts the last page",
        "Markdown export escapes every underscore",
        "Exported images have the wrong orientation",
    ),
    "docs": (
        "The sync guide names a menu that no longer exists",
        "Keyboard shortcuts for Linux are missing",
        "Broken links in the first-steps page",
    ),
    "build": (
        "Nightly package is not signed",
        "Tests of the importer fail on the first of the month",
        "Build needs the network although it should not",
    ),
}

WISHES = {
    "editor": ("Add a focus mode that hides the sidebar", "Number headings automatically", "Insert the date with a shortcut"),
    "sync": ("Let the user choose which notebooks are synced", "Show how much is left to send", "Sync over a local network only"),
    "search": ("Save a search as a smart notebook", "Search by date range", "Highlight all hits in the open note"),
    "mobile": ("Lock the app with a fingerprint", "Scan paper with the camera", "Home screen shortcut for a new note"),
    "export": ("Export one notebook as a web site", "Remember the last export folder", "Export to plain text with front matter"),
    "docs": ("Write a guide for moving from other programs", "Translate the first-steps page", "Explain what is stored where"),
    "build": ("Publish a portable archive", "Measure start-up time on every commit", "Cache dependencies between builds"),
}  # fmt: skip

STEPS = (
    "Open a notebook with more than a hundred notes.",
    "Create a note and give it a title.",
    "Close the window and open it again.",
    "Switch to the second device.",
    "Wait until the status bar says that everything is saved.",
    "Use the menu instead of the shortcut.",
    "Disconnect from the network for a minute.",
)
SEEN = (
    "It happens every time on my machine.",
    "I saw it three times this week.",
    "Only the newest release does this.",
    "The log has nothing about it.",
    "A restart helps for a while.",
    "A colleague on another system sees the same.",
)
REMARKS = (
    "I can reproduce this with the steps above.",
    "Could you attach the log of the last session?",
    "This looks like the same cause as the older report.",
    "I have a change that fixes the first half; the second needs a decision.",
    "Lowering the priority, since there is a way around it.",
    "Raising the priority: two more people wrote to support about it.",
    "Fixed on the main branch, please try tonight's package.",
    "The fix works for me, thank you.",
    "Not before the next milestone, I am afraid.",
    "I would rather solve this in the settings than in the code.",
)
