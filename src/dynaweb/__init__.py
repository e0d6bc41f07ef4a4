"""Train web agents by letting them dream: page -> trajectory -> world model -> dream -> GSPO -> agent."""

__version__ = "0.1.0"
