"""Pages as trees: parse, render, compare, change."""
