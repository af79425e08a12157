"""Which version of the product is this? The package, pages, API and client show it."""

VERSION = "0.1.0"
