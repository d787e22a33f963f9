"""Readers of single values: addresses, ranges, dates, countries."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.finding import Reason
from ipmicra.parse.kernels.bytescan import is_blank, trim

BAD_RANGE = int(Reason.BAD_RANGE)
OUT_OF_RANGE = int(Reason.OUT_OF_RANGE)
NO_RANGE = int(Reason.NO_RANGE)

REVERSED = 1 << int(Reason.REVERSED)
HOST_BITS = 1 << int(Reason.HOST_BITS)
LEADING_ZERO = 1 << int(Reason.LEADING_ZERO)
SINGLE_ADDRESS = 1 << int(Reason.SINGLE_ADDRESS)

DASH, DOT, SLASH, ZERO, COLON = 45, 46, 47, 48, 58
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@numba.njit(nogil=True, cache=True)
def read_number(buffer, start, end, longest):
    """Read decimal digits; give (value, position behind), value -1 if there are none or too many."""
    value = np.int64(0)
    position = start
    while position < end:
        digit = np.int64(buffer[position]) - ZERO
        if digit < 0 or digit > 9:
            break
        if position - start == longest:
            return np.int64(-1), position
        value = value * 10 + digit
        position += 1
    if position == start:
        return np.int64(-1), position
    return value, position


@numba.njit(nogil=True, cache=True)
def read_ipv4(buffer, start, end):
    """Read one to four octets; give (value, octets, is_too_large, has_leading_zero, position behind).

    `190.190/15` gives value 190 << 24 | 190 << 16 and 2 octets; no octets mean that the text is none.
    """
    value = np.int64(0)
    octets = 0
    is_too_large = False
    has_zero = False
    position = start
    while True:
        octet, behind = read_number(buffer, position, end, 3)
        if octet < 0:
            return np.int64(0), 0, False, False, behind
        has_zero |= behind - position > 1 and buffer[position] == ZERO
        is_too_large |= octet > 255
        value |= (octet & 255) << (24 - 8 * octets)
        octets += 1
        position = behind
        if octets == 4 or position >= end or buffer[position] != DOT:
            return value, octets, is_too_large, has_zero, position
        position += 1


@numba.njit(nogil=True, cache=True)
def _hex_digit(byte):
    """Give the value of a hexadecimal digit, -1 for anything else."""
    if 48 <= byte <= 57:
        return np.int64(byte) - 48
    lower = np.int64(byte) | 32
    if 97 <= lower <= 102:
        return lower - 87
    return np.int64(-1)


@numba.njit(nogil=True, cache=True)
def _read_group(buffer, start, end):
    """Read one to four hexadecimal digits; give (value, position behind), -1 if there are none or more."""
    value = np.int64(0)
    position = start
    while position < end:
        digit = _hex_digit(buffer[position])
        if digit < 0:
            break
        if position - start == 4:
            return np.int64(-1), position
        value = value << 4 | digit
        position += 1
    if position == start:
        return np.int64(-1), position
    return value, position


@numba.njit(nogil=True, cache=True)
def read_ipv6(buffer, start, end):
    """Read an IPv6 address; give (is_read, high word, low word, position behind)."""
    groups = np.zeros(8, np.uint64)
    count = 0
    gap = -1
    position = start
    if position + 1 < end and buffer[position] == COLON and buffer[position + 1] == COLON:
        gap = 0
        position += 2
    while position < end and _hex_digit(buffer[position]) >= 0:
        value, position = _read_group(buffer, position, end)
        if value < 0 or count == 8:
            return False, np.uint64(0), np.uint64(0), position
        groups[count] = np.uint64(value)
        count += 1
        if position >= end or buffer[position] != COLON:
            break
        position += 1
        if position < end and buffer[position] == COLON:
            if gap >= 0:
                return False, np.uint64(0), np.uint64(0), position
            gap = count
            position += 1
        elif position >= end or _hex_digit(buffer[position]) < 0:
            return False, np.uint64(0), np.uint64(0), position
    if (gap < 0 and count != 8) or (gap >= 0 and count > 7):
        return False, np.uint64(0), np.uint64(0), position
    high, low = _join_groups(groups, count, gap)
    return True, high, low, position


@numba.njit(nogil=True, cache=True)
def _join_groups(groups, count, gap):
    """Put the groups behind the `::` at the end and pack all eight into two words."""
    words = np.zeros(8, np.uint64)
    before = count if gap < 0 else gap
    for i in range(before):
        words[i] = groups[i]
    for i in range(count - before):
        words[7 - i] = groups[count - 1 - i]
    high = np.uint64(0)
    low = np.uint64(0)
    for i in range(4):
        high = high << np.uint64(16) | words[i]
        low = low << np.uint64(16) | words[4 + i]
    return high, low


@numba.njit(nogil=True, cache=True)
def _skip_dash(buffer, position, end):
    """Step over blanks, a dash and blanks; -1 where there is no dash."""
    while position < end and is_blank(buffer[position]):
        position += 1
    if position >= end or buffer[position] != DASH:
        return -1
    position += 1
    while position < end and is_blank(buffer[position]):
        position += 1
    return position


@numba.njit(nogil=True, cache=True)
def read_range4(buffer, start, end):
    """Read an IPv4 range; give (reason to skip or 0, repairs, first, last)."""
    first, octets, is_large, has_zero, position = read_ipv4(buffer, start, end)
    repairs = LEADING_ZERO if has_zero else 0
    if octets == 0:
        return BAD_RANGE, 0, first, first
    if position == end:
        if octets < 4:
            return BAD_RANGE, 0, first, first
        return (OUT_OF_RANGE if is_large else 0), repairs | SINGLE_ADDRESS, first, first
    if buffer[position] == SLASH:
        length, position = read_number(buffer, position + 1, end, 3)
        if length < 0 or position != end:
            return BAD_RANGE, 0, first, first
        if is_large or length > 32:
            return OUT_OF_RANGE, 0, first, first
        host = (np.int64(1) << (32 - length)) - 1
        if first & host:
            repairs |= HOST_BITS
        return 0, repairs, first & ~host, first | host
    position = _skip_dash(buffer, position, end)
    if octets < 4 or position < 0:
        return BAD_RANGE, 0, first, first
    last, octets, is_last_large, has_zero, position = read_ipv4(buffer, position, end)
    if octets < 4 or position != end:
        return BAD_RANGE, 0, first, first
    if is_large or is_last_large:
        return OUT_OF_RANGE, 0, first, first
    if has_zero:
        repairs |= LEADING_ZERO
    if last < first:
        return 0, repairs | REVERSED, last, first
    return 0, repairs, first, last


@numba.njit(nogil=True, cache=True)
def read_length6(buffer, start, end, high, low, wide):
    """Read a prefix length and write first and last into wide; give (reason, repairs)."""
    length, position = read_number(buffer, start, end, 3)
    if length < 0 or position != end:
        return BAD_RANGE, 0
    if length > 128:
        return OUT_OF_RANGE, 0
    host_high = np.uint64(0) if length >= 64 else ALL_ONES >> np.uint64(length)
    host_low = np.uint64(0)
    if length <= 64:
        host_low = ALL_ONES
    elif length < 128:
        host_low = ALL_ONES >> np.uint64(length - 64)
    repairs = HOST_BITS if (high & host_high) | (low & host_low) else 0
    wide[0] = high & ~host_high
    wide[1] = low & ~host_low
    wide[2] = high | host_high
    wide[3] = low | host_low
    return 0, repairs


@numba.njit(nogil=True, cache=True)
def read_range6(buffer, start, end, wide):
    """Read an IPv6 range into wide (first high, low, last high, low); give (reason, repairs)."""
    is_read, high, low, position = read_ipv6(buffer, start, end)
    if not is_read:
        return BAD_RANGE, 0
    wide[0] = wide[2] = high
    wide[1] = wide[3] = low
    if position == end:
        return 0, SINGLE_ADDRESS
    if buffer[position] == SLASH:
        return read_length6(buffer, position + 1, end, high, low, wide)
    position = _skip_dash(buffer, position, end)
    if position < 0:
        return BAD_RANGE, 0
    is_read, last_high, last_low, position = read_ipv6(buffer, position, end)
    if not is_read or position != end:
        return BAD_RANGE, 0
    wide[2] = last_high
    wide[3] = last_low
    if last_high < high or (last_high == high and last_low < low):
        wide[0], wide[1], wide[2], wide[3] = last_high, last_low, high, low
        return 0, REVERSED
    return 0, 0


@numba.njit(nogil=True, cache=True)
def _days(year, month, day):
    """Count the days since 1969-12-31; 0 for a date that does not exist or fit.

    1970-01-01 is 1. Years are shifted to start in March, so that leap days come last.
    """
    if year < 1970 or year > 2148 or month < 1 or month > 12 or day < 1:
        return 0
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    longest = 31
    if month == 4 or month == 6 or month == 9 or month == 11:
        longest = 30
    elif month == 2:
        longest = 29 if is_leap else 28
    if day > longest:
        return 0
    shifted = year - 1 if month <= 2 else year
    in_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + in_year - 719468 + 1


@numba.njit(nogil=True, cache=True)
def _digits(buffer, start, count):
    """Read exactly so many decimal digits; -1 where one is none."""
    value = 0
    for i in range(start, start + count):
        digit = np.int64(buffer[i]) - ZERO
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@numba.njit(nogil=True, cache=True)
def read_date(buffer, start, end):
    """Read `YYYY-MM-DD…` or a last word `YYYYMMDD` as days since 1969-12-31; 0 if it is neither."""
    if end - start >= 10 and buffer[start + 4] == DASH and buffer[start + 7] == DASH:
        year, month = _digits(buffer, start, 4), _digits(buffer, start + 5, 2)
        days = _days(year, month, _digits(buffer, start + 8, 2))
        if days != 0:
            return days
    word = end
    while word > start and not is_blank(buffer[word - 1]):
        word -= 1
    if end - word != 8:
        return 0
    year, month = _digits(buffer, word, 4), _digits(buffer, word + 4, 2)
    return _days(year, month, _digits(buffer, word + 6, 2))


@numba.njit(nogil=True, cache=True)
def read_country(buffer, start, end):
    """Pack two letters, upper-cased, as first << 8 | second; 0 if it is anything else."""
    if end - start != 2:
        return 0
    first, second = np.int64(buffer[start]) & ~32, np.int64(buffer[start + 1]) & ~32
    if 65 <= first <= 90 and 65 <= second <= 90:
        return first << 8 | second
    return 0


@numba.njit(nogil=True, cache=True)
def starts_with_folded(buffer, start, end, word):
    """Tell whether a span starts with a lower-case word, whatever the case of its own letters."""
    if end - start < word.size:
        return False
    for i in range(word.size):
        byte = buffer[start + i]
        if 65 <= byte <= 90:
            byte |= 32
        if byte != word[i]:
            return False
    return True


@numba.njit(nogil=True, cache=True)
def geofeed_word(buffer, start, end, word):
    """Give the span of the first word behind `geofeed`; an empty span if the value does not start so."""
    if not starts_with_folded(buffer, start, end, word):
        return start, start
    position = start + word.size
    if position < end and not is_blank(buffer[position]) and buffer[position] != COLON:
        return start, start
    position, end = trim(buffer, position, end)
    if position < end and buffer[position] == COLON:
        position, end = trim(buffer, position + 1, end)
    behind = position
    while behind < end and not is_blank(buffer[behind]):
        behind += 1
    return position, behind
