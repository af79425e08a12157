import pytest

from manifests.scalars import NotAValue, key_text, plain_value

CASES = {
    "a word is a string": ("fifo", "fifo"),
    "a quantity is a string": ("500m", "500m"),
    "empty is null": ("", None),
    "a tilde is null": ("~", None),
    "yes is true": ("yes", True),
    "a single y is true": ("y", True),
    "off is false": ("Off", False),
    "mixed case is a string": ("tRue", "tRue"),
    "a date stays a string": ("2026-03-02", "2026-03-02"),
    "a timestamp stays a string": ("2026-03-02T09:30:00Z", "2026-03-02T09:30:00Z"),
    "base sixty is a string": ("1:30", "1:30"),
    "a number": ("12", 12),
    "a negative number": ("-12", -12),
    "underscores separate digits": ("1_000", 1000),
    "a leading zero is octal": ("0755", 493),
    "octal by letter": ("0o17", 15),
    "hexadecimal": ("0xff", 255),
    "binary": ("-0b101", -5),
    "an eight cannot be octal": ("08", 8.0),
    "a decimal fraction": (".5", 0.5),
    "an exponent makes a number": ("1e3", 1000.0),
    "a version is a string": ("1.2.3", "1.2.3"),
    "a sign alone is a string": ("-", "-"),
    "a dot alone is a string": (".", "."),
    "the root queue's memory": ("7630840000Gi", "7630840000Gi"),
}


@pytest.mark.parametrize(("text", "want"), CASES.values(), ids=CASES.keys())
def test_a_plain_scalar_has_the_value_that_kubernetes_tools_read(text: str, want: object) -> None:
    value = plain_value(text)
    assert value == want
    assert type(value) is type(want)


@pytest.mark.parametrize("text", [".inf", "-.Inf", ".NaN", "1e999", "-1e400"])
def test_numbers_that_json_cannot_express_are_refused(text: str) -> None:
    with pytest.raises(NotAValue):
        plain_value(text)


def test_a_number_of_too_many_digits_is_refused_quickly() -> None:
    with pytest.raises(NotAValue):
        plain_value("9" * 100_000)


@pytest.mark.parametrize(("value", "key"), [("a", "a"), (True, "true"), (3, "3"), (1000.0, "1000")])
def test_a_key_becomes_its_json_string(value: str | bool | int | float, key: str) -> None:
    assert key_text(value) == key
