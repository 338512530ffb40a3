"""Advice as configuration of meshes. What exists is never overwritten: it is merged with, or stays and is named."""
