"""Scripted experts for MiniWoB++ tasks, one file for each family of pages."""
