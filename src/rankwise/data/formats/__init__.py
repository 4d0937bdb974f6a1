"""Readers and writers of ranking files."""
