"""The version of the product, shown by package, pages, API and client."""

VERSION = "0.1.0"
