import pytest

from manifests.scalars import NotAValue, key_text, plain_value

CASES = {
    "a word is a text": ("fifo", "fifo"),
    "a quantity is a text": ("500m", "500m"),
    "nothing is null": ("", None),
    "a tilde is null": ("~", None),
    "yes is true": ("yes", True),
    "a single y is true": ("y", True),
    "off is false": ("Off", False),
    "mixed case is a text": ("tRue", "tRue"),
    "a date stays a text": ("2026-03-02", "2026-03-02"),
    "a moment stays a text": ("2026-03-02T09:30:00Z", "2026-03-02T09:30:00Z"),
    "base sixty is a text": ("1:30", "1:30"),
    "a number": ("12", 12),
    "a negative number": ("-12", -12),
    "underscores part digits": ("1_000", 1000),
    "a leading zero is octal": ("0755", 493),
    "octal by letter": ("0o17", 15),
    "hexadecimal": ("0xff", 255),
    "binary": ("-0b101", -5),
    "an eight cannot be octal": ("08", 8.0),
    "a decimal fraction": (".5", 0.5),
    "an exponent makes a number": ("1e3", 1000.0),
    "a version is a text": ("1.2.3", "1.2.3"),
    "a sign alone is a text": ("-", "-"),
    "a dot alone is a text": (".", "."),
    "the root queue's memory": ("7630840000Gi", "7630840000Gi"),
}


@pytest.mark.parametrize(("text", "want"), CASES.values(), ids=CASES.keys())
def test_a_plain_scalar_means_what_kubernetes_tools_read(text: str, want: object) -> None:
    value = plain_value(text)
    assert value == want
    assert type(value) is type(want)


@pytest.mark.parametrize("text", [".inf", "-.Inf", ".NaN", "1e999", "-1e400"])
def test_what_json_has_no_word_for_is_refused(text: str) -> None:
    with pytest.raises(NotAValue):
        plain_value(text)


def test_a_number_of_endless_digits_is_read_quickly_and_refused() -> None:
    with pytest.raises(NotAValue):
        plain_value("9" * 100_000)


@pytest.mark.parametrize(("value", "key"), [("a", "a"), (True, "true"), (3, "3"), (1000.0, "1000")])
def test_a_key_becomes_the_text_that_json_has_for_it(value: str | bool | int | float, key: str) -> None:
    assert key_text(value) == key
