"""How the documentation is made of what the repository holds already."""
