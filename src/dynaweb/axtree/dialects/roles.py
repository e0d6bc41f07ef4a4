"""Words that name an element: ARIA's roles, Chromium's own, and HTML's tags that tools show as roles."""

_ARIA = """
alert alertdialog application article banner blockquote button caption cell checkbox code columnheader
combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed
figure form generic graphics-document graphics-object graphics-symbol grid gridcell group heading image
img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar
radio radiogroup region row rowgroup rowheader scrollbar search searchbox sectionfooter sectionheader
separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist
tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem
"""

_CHROMIUM = """
Abbr Audio Canvas Caret Cell Column ColorWell Date DateTime DescriptionList DescriptionListDetail
DescriptionListTerm Details DisclosureTriangle DisclosureTriangleGrouped EmbeddedObject Figcaption
FooterAsNonLandmark GenericContainer HeaderAsNonLandmark Iframe IframePresentational ImeCandidate
InlineTextBox InputTime Keyboard LabelText LayoutTable LayoutTableCell LayoutTableColumn LayoutTableRow
Legend LineBreak ListGrid ListMarker MathMLFraction MathMLIdentifier MathMLMath MathMLNumber
MathMLOperator MathMLRow MathMLSup MenuListOption MenuListPopup Pane PdfActionableHighlight PdfRoot
PluginObject PopUpButton Pre RootWebArea RubyAnnotation Ruby Section SectionFooter SectionHeader
StaticText SvgRoot TextField Unknown Video WebArea
"""

_TAGS = """
abbr address area aside audio body canvas details dd div dl dt em embed fieldset figcaption footer
h1 h2 h3 h4 h5 h6 header iframe input label legend li nav object ol path picture pre section select
small source span sub summary sup svg tbody td textarea tfoot th thead tr ul video
"""

ROLES = frozenset((_ARIA + _CHROMIUM + _TAGS).split())
"""Every role that a line without an id may begin with; tags of one letter are words of code too often."""

TAG_ROLES = {
    "a": "link", "button": "button", "textarea": "textbox", "select": "combobox", "option": "option", "img": "image",
    "ul": "list", "ol": "list", "li": "listitem", "table": "table", "tr": "row", "td": "cell", "th": "columnheader", "form": "form",
    "nav": "navigation", "main": "main", "header": "banner", "footer": "contentinfo", "section": "region", "article": "article", "p": "paragraph",
    "label": "LabelText", "dialog": "dialog", "iframe": "Iframe", "svg": "image", "summary": "button", "details": "group", "fieldset": "group",
    "div": "generic", "span": "generic",
    **{f"h{i}": "heading" for i in range(1, 7)},
}  # fmt: skip
"""HTML tag -> role (W3C, HTML-AAM), for the elements that matter to an agent. An `input` may be many things: its type says which."""
