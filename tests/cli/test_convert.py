"""`dynaweb convert`: a page in another form, and whether it comes back."""

import json
from pathlib import Path

import pytest

from dynaweb.axtree.tree import read_tree
from dynaweb.axtree.views.convert import ONE_WAY, Form, convert, read_page
from dynaweb.cli.main import main
from dynaweb.dataset.imports.formats import Format

PAGE = "RootWebArea 'Shop'\n\t[4] link 'Cart', url='/c'\n\t[7] textbox 'Search', value='tea', required\n\tStaticText 'one & <two>'"
WEBARENA = "[1] RootWebArea 'Shop' focused: True\n\t[4] link 'Cart'"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.txt"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["html", "xml", "dynaweb", "browsergym"])
def test_an_exact_form_comes_back_byte_for_byte(page, form, tmp_path, capsys):
    there = tmp_path / "there"
    assert main(["convert", str(page), "--to", form, "--out", str(there)]) == 0
    assert capsys.readouterr().err == f"{form}: reads back exactly, all 4 lines\n"
    assert main(["convert", str(there), "--to", "dynaweb"]) == 0
    assert capsys.readouterr().out == PAGE + "\n"


def test_what_a_form_loses_is_said(page, capsys):
    assert main(["convert", str(page), "--to", "webvoyager_labels"]) == 0
    said = capsys.readouterr()
    assert '[7]: <textbox> "Search", "tea", "None";' in said.out
    assert "does NOT read back exactly" in said.err
    assert main(["convert", str(page), "--to", "playwright_aria", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["exact"] is False and facts["lost"]["bid"] == 2
    assert '- link "Cart"' in facts["text"] and "ref" not in facts["text"]


def test_reading_forms_are_one_way(page, capsys):
    assert main(["convert", str(page), "--to", "markdown"]) == 0
    said = capsys.readouterr()
    assert "[Cart](#4)" in said.out and "one way" in said.err
    assert main(["convert", str(page), "--to", "prose", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exact"] is None
    assert main(["convert", str(page), "--to", "html", "--from", "prose"]) == 2
    assert "nothing reads this form back" in capsys.readouterr().err


def test_another_dialect_is_read(tmp_path, capsys):
    path = tmp_path / "wa.txt"
    path.write_text(WEBARENA, encoding="utf-8")
    assert main(["convert", str(path), "--to", "browsergym"]) == 0
    assert capsys.readouterr().out == "[1] RootWebArea 'Shop', focused=True\n\t[4] link 'Cart'\n"


@pytest.mark.parametrize("text", ["hello", "<page><b>", "<body><script>x</script></body>"])
def test_what_is_no_page_is_one_line_and_exit_2(text, tmp_path, capsys):
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path), "--to", "xml"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1 and str(path) in said.err


def test_half_a_surrogate_pair_is_spelt_out_in_forms_that_do_not_quote():
    tree = read_tree("[1] link 'a\\ud83c'")
    assert tree[0].name == "a\ud83c"
    for form in Form:
        made = convert(tree, form)
        made.text.encode("utf-8")
        assert made.exact is None or made.exact == (read_page(made.text, form) == tree)
        assert (made.exact is None) == (form in ONE_WAY)


def test_the_docs_name_every_form_and_every_format():
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text("utf-8")
    for name in (*Form, *Format):
        assert f"`{name.value}`" in text, name
