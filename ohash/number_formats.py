"""Numbers as they stand in a sentence, a tooltip or a tick label."""

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NONE = "–"


def share(value: float) -> str:
    """A number from 0 to 1 with two decimals; never rounded up to 1.

    >>> share(0.664), share(1.0), share(0.9967), share(0.99999), share(-0.02)
    ('.66', '1.00', '.997', '> .999', '-.02')
    """
    if not math.isfinite(value):
        return NONE
    if 0.995 <= value < 1:
        return "> .999" if value > 0.9994 else f"{value:.3f}"[1:]
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def change(value: float) -> str:
    """The change of a share, with its sign.

    >>> change(0.07), change(-0.125), change(0.0)
    ('+.07', '-.12', '+.00')
    """
    return f"{value:+.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:+.2f}"


def percent(part: float) -> str:
    """A share in per cent.

    >>> percent(0.17), percent(0.004), percent(0.0), percent(0.0001), percent(0.998), percent(1)
    ('17 %', '0.4 %', '0 %', 'under 0.1 %', '99.8 %', '100 %')
    """
    if not math.isfinite(part):
        return NONE
    if 0 < part < 0.001:
        return "under 0.1 %"
    fine = 0 < part < 0.0095 or 0.9905 < part < 1
    return f"{min(99.9, 100 * part) if part < 1 else 100 * part:.{1 if fine else 0}f} %"


def fine_percent(part: float) -> str:
    """A share in per cent with three digits, for one that may be small.

    >>> fine_percent(0.0996), fine_percent(1 / 3), fine_percent(0.00012345), fine_percent(1)
    ('9.96 %', '33.3 %', '0.0123 %', '100 %')
    """
    return f"{100 * part:.3g} %"


def count(value: float) -> str:
    """A whole number with thousands apart.

    >>> count(20000)
    '20,000'
    """
    return f"{round(value):,}" if math.isfinite(value) else NONE


def approximate(value: float) -> str:
    """A number that need not be exact.

    >>> [approximate(value) for value in (3_664_000, 374_561, 14_123, 61, 0.2345, 2.5e9)]
    ['3.7 million', '375,000', '14,100', '61', '0.23', '2.5 billion']
    """
    if not math.isfinite(value):
        return NONE
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if abs(value) >= unit:
            return f"{value / unit:.1f} {word}"
    if abs(value) >= 10_000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:,.0f}" if abs(value) >= 10 else number(value, 2)


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without exponent unless it is tiny or huge.

    >>> number(0.0142925), number(0.1), number(48.0), number(1.8e-8, 2), number(0.00002, 2), number(123456.0)
    ('0.0143', '0.1', '48', '1.8·10⁻⁸', '2·10⁻⁵', '123,456')
    """
    if not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    if abs(value) < 1e-4 or abs(value) >= 1e9:
        return power(value, digits)
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def power(value: float, digits: int = 2) -> str:
    """A number as a power of ten.

    >>> power(1.82e-8), power(1e-15), power(1e3)
    ('1.8·10⁻⁸', '10⁻¹⁵', '10³')
    """
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    ten = "10" + str(int(exponent)).translate(_RAISED)
    return ten if mantissa == "1" else f"{mantissa}·{ten}"


def trend(start: float, end: float, error: float = 0.0) -> str:
    """How a share went; a change within its error is neither a rise nor a fall.

    >>> trend(0.664, 0.935), trend(0.46, 0.33), trend(0.6635, 0.663), trend(0.5, float("nan"))
    ('rises from .66 to .94', 'falls from .46 to .33', 'stays at .66', 'is –')
    >>> trend(0.24, 0.25, error=0.03)
    'goes from .24 to .25, within error,'
    """
    if not (math.isfinite(start) and math.isfinite(end)):
        return f"is {share(end)}"
    if share(start) == share(end):  # as they are read
        return f"stays at {share(end)}"
    if math.isfinite(error) and abs(end - start) <= error:
        return f"goes from {share(start)} to {share(end)}, within error,"
    return f"{'rises' if end > start else 'falls'} from {share(start)} to {share(end)}"
