"""What of a turn's exchange stays in the window: detection, cut, plan, digest."""
