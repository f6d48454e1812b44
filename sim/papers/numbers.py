# SPDX-License-Identifier: MPL-2.0
"""The metrics of the papers, and how sure a mean is."""
import math

# Student's t for 95 %, by degrees of freedom.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086)


def mean(values):
    return sum(values) / len(values) if values else 0.0


def deviation(values):
    """Standard deviation of a whole population."""
    m = mean(values)
    return math.sqrt(mean([(v - m) ** 2 for v in values]))


def half_width(values):
    """Half the 95 % confidence interval of the mean; 0 for a single value."""
    n = len(values)
    if n < 2:
        return 0.0
    t = _T95[n - 2] if n - 2 < len(_T95) else 1.96
    return t * deviation(values) * math.sqrt(n / (n - 1)) / math.sqrt(n)


def show(values, digits=3):
    """mean ± half width [least, most] of several runs."""
    values = list(values)
    if not values:
        return "-"
    text = f"{mean(values):.{digits}f}"
    if len(values) > 1:
        text += (f" ± {half_width(values):.{digits}f} "
                 f"[{min(values):.{digits}f}, {max(values):.{digits}f}]")
    return text


def brief(values, digits=3):
    """mean ± half width, where several stand in one line."""
    values = list(values)
    text = f"{mean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {half_width(values):.{digits}f}"


def jain(values):
    square = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * square) if square else 0.0


def variation(values):
    """Coefficient of variation."""
    m = mean(values)
    return deviation(values) / m if m else 0.0


def ratio(a, b):
    return a / b if b else math.inf


def upper_over_lower(values):
    """F_worst of the TLTCP paper: mean of the upper half over the lower's."""
    v = sorted(values)
    half = len(v) // 2
    return ratio(mean(v[half:]), mean(v[:half]))


def every_other(values):
    """F_best of the TLTCP paper: the flows dealt to two hands by size."""
    v = sorted(values)
    a, b = mean(v[0::2]), mean(v[1::2])
    return ratio(max(a, b), min(a, b))


def spread(values):
    """S of the TLTCP paper: the largest over the smallest."""
    return ratio(max(values), min(values))
