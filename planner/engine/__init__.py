"""The only room that speaks to the core and to the reader of manifests: translation and execution."""
