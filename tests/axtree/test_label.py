"""What an element is called in prompts: its name, else what stands before it, and its group when names repeat."""

import pytest

from dynaweb.axtree.label import label_element
from dynaweb.axtree.tree import read_tree

TREE = read_tree(
    """RootWebArea 'T'
\tStaticText 'Search'
\t[1] row ''
\t\t[2] rowheader 'Year'
\t\t[3] textbox ''
\t[4] combobox ''
\t\t[5] option 'One'
\t[6] generic '', clickable
\t\tStaticText 'Ada'
\t\t[7] image 'star'
\t\t[8] generic ''
\t\t\t[9] image 'trash'
\t[10] generic '', clickable
\t\tStaticText 'Bo'
\t\t[11] image 'star'
\t\t[12] image 'trash'
\t[13] button 'Ok'
\t[14] button 'Ok'
\t[15] image 'lone'"""
)


@pytest.mark.parametrize(
    ("bid", "label"),
    [
        ("3", "textbox after 'Year'"),  # the nearest, not the page's heading
        ("4", "combobox after 'Year'"),  # not what it offers
        ("6", "generic after 'Ada'"),
        ("7", "image 'star' in 'Ada'"),
        ("9", "image 'trash' in 'Ada'"),
        ("11", "image 'star' in 'Bo'"),
        ("13", "button 'Ok'"),  # nothing tells them apart
        ("14", "button 'Ok'"),
        ("15", "image 'lone'"),
        ("99", ""),
    ],
)
def test_labels(bid: str, label: str) -> None:
    assert label_element(TREE, bid) == label
