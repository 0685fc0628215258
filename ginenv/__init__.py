"""Gin rummy for bots: rules, environments and a fast native engine."""
