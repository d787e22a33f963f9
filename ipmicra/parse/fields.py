"""The key table of the paragraph dialects: what each attribute means."""

from __future__ import annotations

from enum import IntEnum


class Field(IntEnum):
    """What an attribute's value is used for."""

    NETNAME = 0
    DESCR = 1
    HANDLE = 2
    MAINTAINER = 3
    STATUS = 4
    GEOLOC = 5
    GEOFEED = 6
    RANGE = 7
    COUNTRY = 8
    MODIFIED = 9
    CHANGED = 10
    CREATED = 11
    SOURCE = 12
    NAME = 13
    OWNER = 14
    OWNERID = 15
    REMARK = 16
    ADDRESS = 17
    ORGID = 18
    NONE = 19
    """Meaningful only as the first attribute, such as `NetHandle`."""


class Text(IntEnum):
    """Texts kept with a registration: those that a hierarchy shows."""

    NETNAME = 0
    HOLDER = 1
    """What names the holder best: a handle, else its name, else a maintainer, else the description."""
    STATUS = 2
    GEOLOC = 3
    GEOFEED = 4
    ADDRESS = 5
    """Postal address of the registration itself, in one line."""


FIRST_RARE = Text.GEOLOC
"""From this kind on few registrations have a text; those columns are empty until one has."""

ORGANISATION_TEXTS = 3
"""Texts kept with an organisation: handle, name, address."""
ORGANISATION_ADDRESS = 2
"""The last of them."""


class Kind(IntEnum):
    """What a paragraph becomes, by its first attribute."""

    UNKNOWN = 0
    REGISTRATION = 1
    ORGANISATION = 2
    OTHER = 3


KEYS: dict[str, tuple[Field, Kind]] = {
    "inetnum": (Field.RANGE, Kind.REGISTRATION),
    "inet6num": (Field.RANGE, Kind.REGISTRATION),
    "nethandle": (Field.NONE, Kind.REGISTRATION),
    "v6nethandle": (Field.NONE, Kind.REGISTRATION),
    "netrange": (Field.RANGE, Kind.UNKNOWN),
    "organisation": (Field.NONE, Kind.ORGANISATION),
    "orgid": (Field.ORGID, Kind.ORGANISATION),
    "netname": (Field.NETNAME, Kind.UNKNOWN),
    "descr": (Field.DESCR, Kind.UNKNOWN),
    "org": (Field.HANDLE, Kind.UNKNOWN),
    "ownerid": (Field.OWNERID, Kind.UNKNOWN),
    "owner": (Field.OWNER, Kind.UNKNOWN),
    "org-name": (Field.NAME, Kind.UNKNOWN),
    "orgname": (Field.NAME, Kind.UNKNOWN),
    "mnt-by": (Field.MAINTAINER, Kind.UNKNOWN),
    "status": (Field.STATUS, Kind.UNKNOWN),
    "nettype": (Field.STATUS, Kind.UNKNOWN),
    "country": (Field.COUNTRY, Kind.UNKNOWN),
    "last-modified": (Field.MODIFIED, Kind.UNKNOWN),
    "changed": (Field.CHANGED, Kind.UNKNOWN),
    "updated": (Field.CHANGED, Kind.UNKNOWN),
    "created": (Field.CREATED, Kind.UNKNOWN),
    "regdate": (Field.CREATED, Kind.UNKNOWN),
    "geoloc": (Field.GEOLOC, Kind.UNKNOWN),
    "geofeed": (Field.GEOFEED, Kind.UNKNOWN),
    "remarks": (Field.REMARK, Kind.UNKNOWN),
    "comment": (Field.REMARK, Kind.UNKNOWN),
    "source": (Field.SOURCE, Kind.UNKNOWN),
    "address": (Field.ADDRESS, Kind.UNKNOWN),
    "street": (Field.ADDRESS, Kind.UNKNOWN),
    "city": (Field.ADDRESS, Kind.UNKNOWN),
    "state/prov": (Field.ADDRESS, Kind.UNKNOWN),
    "postalcode": (Field.ADDRESS, Kind.UNKNOWN),
}
"""Lower-case key → the field it fills, and the kind of a paragraph that starts with it."""

OTHER_CLASSES = (
    "as-block as-set ashandle aut-num domain filter-set inet-rtr irt key-cert limerick mntner nic-hdl "
    "nic-hdl-br peering-set person pochandle poem poetic-form role route route6 route-set rtr-set"
).split()
"""Known classes that say nothing about subnets."""

KEYS.update(dict.fromkeys(OTHER_CLASSES, (Field.NONE, Kind.OTHER)))

LONGEST_KEY = 16
"""Bytes of the longest key that the compiled table (`bin/make-vocabulary`) can hold."""
