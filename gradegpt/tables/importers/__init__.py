"""Importers: other tools' files -> rows of this project."""
