"""The studio: a local page where a survey or a jury becomes an answer; a face of `rankwise.analysis`.

``rankwise studio`` starts a server, which keeps files in a temporary folder. Children of its own turn them into blocks
of text, tables and pictures (`views`), and the page draws these.
"""
