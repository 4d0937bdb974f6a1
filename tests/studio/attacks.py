"""A file whose names were made to harm whoever shows them."""

from __future__ import annotations

import csv
import io

HOSTILE = (
    '=HYPERLINK("http://evil.example")',
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202etxt.exe",
    "+1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "-2+3",
    "{{7*7}}",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
)


def hostile_csv() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["who", *HOSTILE])
    for row in range(6):
        order = list(range(1, len(HOSTILE) + 1))
        writer.writerow([f"=P{row}", *(order[row:] + order[:row])])
    return text.getvalue().encode()
