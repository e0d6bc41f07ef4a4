"""Wiki pages of the tracker, in Trac's markup."""

PAGES = {
    "WikiStart": "= Lantern =\nLantern keeps notes on every device you own.\n\n * [wiki:FirstSteps First steps]\n * [wiki:UserGuide User guide]\n * [wiki:TeamHandbook Team handbook]\n * [wiki:ReleasePlan Release plan]\n * [report:1 Open tickets]\n * [wiki:Glossary Glossary]\n",
    "FirstSteps": "= First steps =\n 1. Download the package for your system.\n 1. Start Lantern and choose a folder for your notes.\n 1. Write the first note: press `Ctrl+N`.\n 1. Add a second device, see [wiki:SyncGuide the sync guide].\n\nTrouble? Look at [wiki:Troubleshooting].\n",
    "UserGuide": "= User guide =\n == Writing ==\nNotes are plain text with a little markup, see [wiki:Markup].\n\n == Finding ==\nType into the search field; see [wiki:SearchTips].\n\n == Sharing ==\nAny notebook can be exported, see [wiki:ExportFormats].\n",
    "Markup": "= Markup =\n|| '''You type''' || '''You get''' ||\n|| `*word*` || bold ||\n|| `_word_` || italic ||\n|| `# Title` || a heading ||\n|| `- item` || a list ||\n|| `[ ] item` || a checklist ||\n",
    "KeyboardShortcuts": "= Keyboard shortcuts =\n|| '''Key''' || '''Does''' ||\n|| Ctrl+N || new note ||\n|| Ctrl+F || search ||\n|| Ctrl+E || export ||\n|| Ctrl+L || lock ||\n|| F5 || sync now ||\n",
    "SearchTips": '= Search tips =\n * `tag:work` finds notes with a tag.\n * `before:2025-01-01` finds old notes.\n * `"two words"` finds a phrase.\n * A minus in front leaves notes out.\n',
    "SyncGuide": "= Sync guide =\nA notebook is synced when its lamp is green.\n\n|| '''Lamp''' || '''Meaning''' ||\n|| green || everything is saved ||\n|| yellow || changes wait to be sent ||\n|| red || the server refuses; see [wiki:Troubleshooting] ||\n\nA device that was away for more than 90 days is set up anew.\n",
    "ExportFormats": "= Export formats =\n * '''PDF''' for printing, A4 by default.\n * '''Markdown''' for other programs.\n * '''HTML''' for one notebook as one page.\n\nImages are limited to 4096 pixels.\n",
    "Troubleshooting": "= Troubleshooting =\n == The lamp is red ==\nLook whether the server's certificate has run out.\n\n == A note is missing ==\nOpen ''Notebook > Bin''. The bin keeps notes for 30 days.\n\n == Lantern does not start ==\nStart it with `--safe` and write a ticket with the log.\n",
    "Glossary": "= Glossary =\n Notebook:: a folder of notes.\n Lamp:: the light that shows the state of sync.\n Bin:: where deleted notes stay for 30 days.\n Vault:: a notebook with a password of its own.\n",
    "TeamHandbook": "= Team handbook =\n * [wiki:CodingStyle How we write code]\n * [wiki:ReviewRules How we review]\n * [wiki:TicketRules How we use tickets]\n * [wiki:OnCall Who is on call]\n * [wiki:MeetingNotes Meeting notes]\n",
    "CodingStyle": "= Coding style =\nShort functions, long names, no clever tricks. Every public function says what it does in one line.\n\nThe formatter decides about white space.\n",
    "ReviewRules": "= Review rules =\n 1. One reviewer for docs, two for sync.\n 1. Answer within two working days.\n 1. A change without a test needs a reason.\n",
    "TicketRules": "= Ticket rules =\n blocker:: data may be lost; work stops until it is fixed.\n critical:: a main function cannot be used.\n major:: a function is wrong and there is a way around it.\n minor:: it looks wrong.\n trivial:: a spelling mistake.\n\nTickets without an answer for 60 days are closed as ''worksforme''.\n",
    "OnCall": "= On call =\n|| '''Week''' || '''Who''' || '''Stands in''' ||\n|| 24 || bruno || anna ||\n|| 25 || david || chiara ||\n|| 26 || elif || hiro ||\n|| 27 || greta || bruno ||\n",
    "ReleasePlan": "= Release plan =\n * [milestone:1.3] brings faster search and the focus mode.\n * [milestone:2.0] brings vaults and a new storage format.\n\nPackages are built every night at 02:00 UTC, see [wiki:BuildSystem].\n",
    "BuildSystem": "= Build system =\nOne command builds everything: `make all`. The result is in `dist/`.\n\nThe signing key is kept by hiro; a second copy is in the safe.\n",
    "StorageFormat": "= Storage format =\nA notebook is a folder; a note is a file; its history is a second file with the ending `.log`.\n\nVersion 2 of the format adds a checksum to every line.\n",
    "MeetingNotes": "= Meeting notes =\n == 2 June 2025 ==\nPresent: anna, bruno, chiara, greta. The focus mode moves to 1.3. The web export waits for 2.0.\n\n == 9 June 2025 ==\nPresent: anna, david, elif, hiro. Support had 14 letters about duplicate notes; bruno looks into it.\n",
    "SupportLetters": "= Support letters =\n|| '''Month''' || '''Letters''' || '''Most often about''' ||\n|| March || 41 || sync ||\n|| April || 57 || mobile ||\n|| May || 38 || export ||\n|| June || 22 || sync ||\n",
}
"""Name -> text."""
