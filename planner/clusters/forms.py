"""The form that imports a cluster."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from planner.web.forms import TypedForm
from planning.importing import MAX_TEXT_BYTES, OpenFiles

PASTED = "pasted text"
LONGEST_NAME = 253


class FilesInput(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the uploaded files."""
        sent: Sequence[UploadedFile[Any]] = data or []
        return [super(FilesField, self).clean(file, initial) for file in sent]


class ClusterForm(TypedForm):
    """A cluster as files, text or both."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    name.widget.attrs["placeholder"] = "production, before the change"
    files = FilesField(required=False, allow_empty_file=True)  # type: ignore[assignment]  # Form.files is another attribute
    files.widget.attrs["accept"] = ".yaml,.yml,.json,.gz,application/json,application/yaml,application/gzip"
    documents = forms.CharField(label="Or paste the text", required=False, strip=False, widget=forms.Textarea)
    documents.widget.attrs |= {
        "class": "code",
        "rows": "16",
        "spellcheck": "false",
        "autocapitalize": "none",
        "wrap": "off",
        "placeholder": "apiVersion: v1\nkind: List\nitems:\n- kind: Queue …",
    }

    def clean(self) -> dict[str, Any]:
        """Validate files and text together."""
        typed = {"files": [], "documents": "", **self.cleaned_data}
        if sum(file.size or 0 for file in typed["files"]) + len(typed["documents"]) > MAX_TEXT_BYTES:
            self.add_error(
                "files",
                f"The upload is larger than {MAX_TEXT_BYTES // 10**6} MB. Compress it with gzip, or leave "
                "out objects that Volcano does not schedule.",
            )
        elif not self.sent():
            self.add_error("files", "No file and no text. Choose files or paste a text.")
        return typed

    def sent(self) -> OpenFiles:
        """Return the files with their names, the text as one of them."""
        files: list[tuple[str, Any]] = [
            (file.name or "file", file) for file in self.cleaned_data.get("files", ())
        ]
        if (text := self.cleaned_data.get("documents", "")).strip():
            # Browsers send line ends as CR LF: normalize them so that YAML texts are unchanged.
            files.append((PASTED, BytesIO(text.replace("\r\n", "\n").encode())))
        return files
