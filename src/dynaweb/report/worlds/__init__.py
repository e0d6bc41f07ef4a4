"""What a person reads of world models measured side by side."""
