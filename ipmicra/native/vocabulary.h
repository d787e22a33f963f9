/* Written by bin/make-vocabulary from ipmicra/model and ipmicra/parse/fields.py; do not edit. */
#ifndef IPMICRA_VOCABULARY_H
#define IPMICRA_VOCABULARY_H

#include <stdint.h>
#include <stdlib.h>

/* A name in lower case, and the number of what it stands for. `head` is its first eight bytes as a little-endian word,
 * folded; a text whose first word differs from it in a bit of `mask` does not start with the name. */
typedef struct {
    const char *name;
    size_t size;
    uint64_t head;
    uint64_t mask;
    uint8_t code;
} Name;

/* An attribute's key in two little-endian words, the field it fills, and what it makes of a paragraph that it starts. */
typedef struct {
    uint64_t low;
    uint64_t high;
    uint8_t field;
    uint8_t kind;
    uint8_t is_used;
} KeySlot;

enum { REASON_REVERSED = 1, REASON_HOST_BITS = 2, REASON_LEADING_ZERO = 3, REASON_SINGLE_ADDRESS = 4, REASON_BAD_COUNTRY = 5, REASON_BAD_DATE = 6, REASON_JUNK_LINE = 7, REASON_VALUE_CUT = 8, REASON_NO_RANGE = 9, REASON_BAD_RANGE = 10, REASON_OUT_OF_RANGE = 11, REASON_NO_HANDLE = 12, REASON_OTHER_CLASS = 13, REASON_ASN = 14, REASON_SUMMARY = 15, REASON_HEADER = 16, REASON_UNKNOWN_CLASS = 17, REASON_NO_ATTRIBUTE = 18, REASON_BAD_LINE = 19, REASON_DUPLICATE = 20, REASON_OVERLAP = 21, REASON_TOO_MANY_OVERLAPS = 22, REASON_COUNT = 22 };

enum { FATE_KEPT = 0, FATE_REPAIRED = 1, FATE_SKIPPED = 2, FATE_UNKNOWN = 3, FATE_COUNT = 4 };

enum { FIELD_NETNAME = 0, FIELD_DESCR = 1, FIELD_HANDLE = 2, FIELD_MAINTAINER = 3, FIELD_STATUS = 4, FIELD_GEOLOC = 5, FIELD_GEOFEED = 6, FIELD_RANGE = 7, FIELD_COUNTRY = 8, FIELD_MODIFIED = 9, FIELD_CHANGED = 10, FIELD_CREATED = 11, FIELD_SOURCE = 12, FIELD_NAME = 13, FIELD_OWNER = 14, FIELD_OWNERID = 15, FIELD_REMARK = 16, FIELD_ADDRESS = 17, FIELD_ORGID = 18, FIELD_NONE = 19, FIELD_COUNT = 20 };

enum { KIND_UNKNOWN = 0, KIND_REGISTRATION = 1, KIND_ORGANISATION = 2, KIND_OTHER = 3, KIND_COUNT = 4 };

enum { TEXT_NETNAME = 0, TEXT_HOLDER = 1, TEXT_STATUS = 2, TEXT_GEOLOC = 3, TEXT_GEOFEED = 4, TEXT_ADDRESS = 5, TEXT_COUNT = 6 };

enum { EVIDENCE_NONE = 0, EVIDENCE_ORG = 1, EVIDENCE_OWNERID = 2, EVIDENCE_ORGID = 3, EVIDENCE_OPAQUE = 4, EVIDENCE_MAINTAINER = 5, EVIDENCE_DESCRIPTION = 6, EVIDENCE_OWNER = 7, EVIDENCE_COUNT = 8 };

enum { REGISTRY_NONE = 0, REGISTRY_AFRINIC = 1, REGISTRY_APNIC = 2, REGISTRY_ARIN = 3, REGISTRY_LACNIC = 4, REGISTRY_RIPE = 5, REGISTRY_IANA = 6, REGISTRY_COUNT = 7 };

enum { STORED_TEXTS = 6, ORGANISATION_TEXTS = 3, FIRST_RARE = 3 };

enum { SOURCE_COUNT = 12 };
static const Name SOURCES[] = {
    {"ripe", 4, 0x65706972u, 0xffffffffu, 5},
    {"apnic", 5, 0x63696e7061u, 0xffffffffffu, 2},
    {"afrinic", 7, 0x63696e69726661u, 0xffffffffffffffu, 1},
    {"lacnic", 6, 0x63696e63616cu, 0xffffffffffffu, 4},
    {"arin", 4, 0x6e697261u, 0xffffffffu, 3},
    {"jpnic", 5, 0x63696e706au, 0xffffffffffu, 2},
    {"krnic", 5, 0x63696e726bu, 0xffffffffffu, 2},
    {"twnic", 5, 0x63696e7774u, 0xffffffffffu, 2},
    {"cnnic", 5, 0x63696e6e63u, 0xffffffffffu, 2},
    {"idnic", 5, 0x63696e6469u, 0xffffffffffu, 2},
    {"vnnic", 5, 0x63696e6e76u, 0xffffffffffu, 2},
    {"irinn", 5, 0x6e6e697269u, 0xffffffffffu, 2},
};

enum { STATISTICS_NAME_COUNT = 6 };
static const Name STATISTICS_NAMES[] = {
    {"afrinic", 7, 0x63696e69726661u, 0xffffffffffffffu, 1},
    {"apnic", 5, 0x63696e7061u, 0xffffffffffu, 2},
    {"arin", 4, 0x6e697261u, 0xffffffffu, 3},
    {"lacnic", 6, 0x63696e63616cu, 0xffffffffffffu, 4},
    {"ripencc", 7, 0x63636e65706972u, 0xffffffffffffffu, 5},
    {"iana", 4, 0x616e6169u, 0xffffffffu, 6},
};

enum { MAINTAINER_COUNT = 14 };
static const Name MAINTAINERS[] = {
    {"afrinic-", 8, 0x2d63696e69726661u, 0xffffffffffffffffu, 0},
    {"apnic-", 6, 0x2d63696e7061u, 0xffffffffffffu, 0},
    {"lacnic-", 7, 0x2d63696e63616cu, 0xffffffffffffffu, 0},
    {"maint-apnic", 11, 0x70612d746e69616du, 0xffffffffffffffffu, 0},
    {"maint-cnnic", 11, 0x6e632d746e69616du, 0xffffffffffffffffu, 0},
    {"maint-in-irinn", 14, 0x6e692d746e69616du, 0xffffffffffffffffu, 0},
    {"maint-jpnic", 11, 0x706a2d746e69616du, 0xffffffffffffffffu, 0},
    {"maint-tw-twnic", 14, 0x77742d746e69616du, 0xffffffffffffffffu, 0},
    {"maint-vn-vnnic", 14, 0x6e762d746e69616du, 0xffffffffffffffffu, 0},
    {"mnt-apjii", 9, 0x696a70612d746e6du, 0xffffffffffffffffu, 0},
    {"mnt-apnic", 9, 0x696e70612d746e6du, 0xffffffffffffffffu, 0},
    {"mnt-krnic", 9, 0x696e726b2d746e6du, 0xffffffffffffffffu, 0},
    {"ripe-dbm-", 9, 0x6d62642d65706972u, 0xffffffffffffffffu, 0},
    {"ripe-ncc-", 9, 0x63636e2d65706972u, 0xffffffffffffffffu, 0},
};

enum { KEY_SLOT_COUNT = 512 };
#define KEY_SLOT(low, high) (((low) * 0x9e3779b97f4a7c15u ^ (high) * 0xc2b2ae3d27d4eb4fu) >> 55)
static const KeySlot KEY_SLOTS[KEY_SLOT_COUNT] = {
    [6] = {0x736b72616d6572u, 0x0u, 16, 0, 1}, /* remarks */
    [11] = {0x737574617473u, 0x0u, 4, 0, 1}, /* status */
    [15] = {0x656c646e61687361u, 0x0u, 19, 3, 1}, /* ashandle */
    [18] = {0x6b636f6c622d7361u, 0x0u, 19, 3, 1}, /* as-block */
    [23] = {0x656c6f72u, 0x0u, 19, 3, 1}, /* role */
    [36] = {0x732d7265746c6966u, 0x7465u, 19, 3, 1}, /* filter-set */
    [37] = {0x7972746e756f63u, 0x0u, 8, 0, 1}, /* country */
    [39] = {0x65676e617274656eu, 0x0u, 7, 0, 1}, /* netrange */
    [44] = {0x646967726fu, 0x0u, 18, 2, 1}, /* orgid */
    [64] = {0x366574756f72u, 0x0u, 19, 3, 1}, /* route6 */
    [70] = {0x6c646e616874656eu, 0x65u, 19, 1, 1}, /* nethandle */
    [89] = {0x72702f6574617473u, 0x766fu, 17, 0, 1}, /* state/prov */
    [95] = {0x6e69616d6f64u, 0x0u, 19, 3, 1}, /* domain */
    [98] = {0x73736572646461u, 0x0u, 17, 0, 1}, /* address */
    [101] = {0x7465732d727472u, 0x0u, 19, 3, 1}, /* rtr-set */
    [106] = {0x6e616874656e3676u, 0x656c64u, 19, 1, 1}, /* v6nethandle */
    [142] = {0x6d656f70u, 0x0u, 19, 3, 1}, /* poem */
    [143] = {0x67726fu, 0x0u, 2, 0, 1}, /* org */
    [152] = {0x6f636c6174736f70u, 0x6564u, 17, 0, 1}, /* postalcode */
    [158] = {0x646565666f6567u, 0x0u, 6, 0, 1}, /* geofeed */
    [161] = {0x6d756e3674656e69u, 0x0u, 7, 1, 1}, /* inet6num */
    [181] = {0x2d6c64682d63696eu, 0x7262u, 19, 3, 1}, /* nic-hdl-br */
    [193] = {0x6d756e74656e69u, 0x0u, 7, 1, 1}, /* inetnum */
    [212] = {0x6574756f72u, 0x0u, 19, 3, 1}, /* route */
    [232] = {0x72656e746e6du, 0x0u, 19, 3, 1}, /* mntner */
    [241] = {0x2d676e6972656570u, 0x746573u, 19, 3, 1}, /* peering-set */
    [255] = {0x746e656d6d6f63u, 0x0u, 16, 0, 1}, /* comment */
    [261] = {0x6b636972656d696cu, 0x0u, 19, 3, 1}, /* limerick */
    [276] = {0x747265632d79656bu, 0x0u, 19, 3, 1}, /* key-cert */
    [287] = {0x72656e776fu, 0x0u, 14, 0, 1}, /* owner */
    [290] = {0x7465732d7361u, 0x0u, 19, 3, 1}, /* as-set */
    [292] = {0x6c64682d63696eu, 0x0u, 19, 3, 1}, /* nic-hdl */
    [293] = {0x746565727473u, 0x0u, 17, 0, 1}, /* street */
    [295] = {0x636f6c6f6567u, 0x0u, 5, 0, 1}, /* geoloc */
    [297] = {0x646972656e776fu, 0x0u, 15, 0, 1}, /* ownerid */
    [298] = {0x6c646e6168636f70u, 0x65u, 19, 3, 1}, /* pochandle */
    [318] = {0x6465676e616863u, 0x0u, 10, 0, 1}, /* changed */
    [323] = {0x656d616e74656eu, 0x0u, 0, 0, 1}, /* netname */
    [325] = {0x6d756e2d747561u, 0x0u, 19, 3, 1}, /* aut-num */
    [332] = {0x662d636974656f70u, 0x6d726fu, 19, 3, 1}, /* poetic-form */
    [342] = {0x646f6d2d7473616cu, 0x6465696669u, 9, 0, 1}, /* last-modified */
    [352] = {0x65732d6574756f72u, 0x74u, 19, 3, 1}, /* route-set */
    [365] = {0x65746164676572u, 0x0u, 11, 0, 1}, /* regdate */
    [375] = {0x64657461657263u, 0x0u, 11, 0, 1}, /* created */
    [386] = {0x747269u, 0x0u, 19, 3, 1}, /* irt */
    [395] = {0x79746963u, 0x0u, 17, 0, 1}, /* city */
    [402] = {0x6570797474656eu, 0x0u, 4, 0, 1}, /* nettype */
    [404] = {0x7263736564u, 0x0u, 1, 0, 1}, /* descr */
    [424] = {0x6173696e6167726fu, 0x6e6f6974u, 19, 2, 1}, /* organisation */
    [429] = {0x6e6f73726570u, 0x0u, 19, 3, 1}, /* person */
    [453] = {0x656d616e67726fu, 0x0u, 13, 0, 1}, /* orgname */
    [461] = {0x79622d746e6du, 0x0u, 3, 0, 1}, /* mnt-by */
    [472] = {0x656d616e2d67726fu, 0x0u, 13, 0, 1}, /* org-name */
    [475] = {0x7274722d74656e69u, 0x0u, 19, 3, 1}, /* inet-rtr */
    [486] = {0x64657461647075u, 0x0u, 10, 0, 1}, /* updated */
    [499] = {0x656372756f73u, 0x0u, 12, 0, 1}, /* source */
};

#endif
