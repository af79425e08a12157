"""Everything that an installation keeps, in one verified file."""
