"""What is known of a paragraph while its lines are read."""

from __future__ import annotations

from ipmicra.parse.fields import Field, Holder, Kind

KIND, HOLDER, JUNK, LINE, HEAD, HEAD_END, ADDRESSES, HAS_RANGE, SCRATCH = range(9)
"""Places in the array of whole numbers that is the state; `SCRATCH` is where joined values go next."""
STATE_SIZE = 9
SPANS = len(Field)
"""Rows of the array with the start and end of each field's value; an end of 0 means that there is none."""
MOST_ADDRESSES = 400
"""Address lines remembered: more than fit into the longest text, as each takes three bytes of it."""

NETNAME, DESCR, HANDLE, MAINTAINER, STATUS = (int(Field(i)) for i in range(5))
GEOLOC, GEOFEED, RANGE, COUNTRY = (int(Field(i)) for i in range(5, 9))
MODIFIED, CHANGED, CREATED, SOURCE, NAME, OWNER, OWNERID, REMARK, ADDRESS, ORGID, NONE = (
    int(Field(i)) for i in range(9, 20)
)
REGISTRATION, ORGANISATION, OTHER = int(Kind.REGISTRATION), int(Kind.ORGANISATION), int(Kind.OTHER)
BY_ORG, BY_OWNERID, BY_ORGID = int(Holder.ORG), int(Holder.OWNERID), int(Holder.ORGID)
