"""What the shop sells, in parts that a seed puts together."""

SHELVES = {
    "Kitchen > Pans": ("Frying pan", "Saucepan", "Wok", "Griddle", "Roasting tin"),
    "Kitchen > Knives": ("Bread knife", "Paring knife", "Chef's knife", "Cleaver", "Peeler"),
    "Kitchen > Tea and coffee": ("Kettle", "Teapot", "Coffee grinder", "Milk jug", "Cup"),
    "Outdoor > Tents": ("Tunnel tent", "Dome tent", "Tarp", "Groundsheet", "Tent peg set"),
    "Outdoor > Lamps": ("Head lamp", "Camping lantern", "Torch", "String of lights"),
    "Outdoor > Bags": ("Backpack", "Pannier", "Belt bag", "Dry bag", "Shopping bag"),
    "Office > Paper": ("Notebook", "Sketch pad", "Letter set", "Calendar", "Index cards"),
    "Office > Writing": ("Fountain pen", "Pencil set", "Marker", "Ink bottle", "Eraser"),
    "Office > Desk": ("Desk lamp", "Drawer box", "Book end", "Footrest", "Clock"),
    "Garden > Tools": ("Spade", "Rake", "Secateurs", "Watering can", "Trowel"),
    "Garden > Seeds": ("Tomato seeds", "Bean seeds", "Flower mix", "Herb seeds", "Pumpkin seeds"),
    "Home > Textiles": ("Blanket", "Cushion", "Tea towel", "Curtain", "Bath mat"),
    "Home > Games": ("Puzzle", "Dice set", "Card game", "Chess set", "Spinning top"),
}
"""Path of a category -> what stands there."""

MAKERS = ("Almgren", "Brook & Vale", "Corvid", "Dovetail", "Ellery", "Fjord", "Gantry", "Halden")
KINDS = ("classic", "small", "large", "light", "folding", "double", "travel", "everyday")
COLOURS = ("black", "blue", "green", "grey", "red", "sand", "white", "yellow")
MATERIALS = ("steel", "beech", "linen", "copper", "recycled plastic", "wool", "aluminium", "clay")

PRAISE = (
    "Made in small numbers and easy to mend.",
    "Spare parts are kept for ten years.",
    "Tested by our own staff for a whole winter.",
    "The maker changed the handle last year; this is the new one.",
    "Packed in paper, without plastic.",
    "A quiet classic that does not ask for attention.",
)
CARE = (
    "Wipe it with a damp cloth.",
    "Oil it once a year.",
    "Wash by hand.",
    "Keep it dry when it is not in use.",
    "Do not leave it in the sun.",
)

REVIEWS = (
    ("Better than I hoped", "Arrived after two days and does what it should.", 5),
    ("Good, with one flaw", "The lid is a little loose, otherwise fine.", 4),
    ("Does its job", "Nothing special, but the price is right.", 3),
    ("Smaller than in the picture", "Look at the measurements before you order.", 2),
    ("Broke after a month", "The shop sent a new one without questions, though.", 2),
    ("I bought a second one", "One for the house, one for the garden shed.", 5),
    ("A present for my father", "He uses it every day.", 5),
)

STREETS = ("Mill Street", "Harbour Road", "Linden Way", "Station Square", "Orchard Lane")
TOWNS = (("Eastford", "10441"), ("Millbrook", "20357"), ("Northam", "50823"), ("Weir", "80331"))
COUNTRIES = (("DE", "Germany"), ("DK", "Denmark"), ("FR", "France"), ("NL", "Netherlands"))
