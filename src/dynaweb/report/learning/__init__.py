"""What the page of a learning measurement shows: a figure, tables, words."""
