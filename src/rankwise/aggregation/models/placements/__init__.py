"""Laws of the distances that add up over items: what it costs to put each item on its place."""
