"""Hand-written hard cases of the sample dumps, one text a dump; all holders, persons and places are invented.

Each paragraph says in its netname or in a comment what is hard about it. `bin/make-sample` puts them between
the paragraphs it generates.
"""

from __future__ import annotations

LONG_TEXT = "A description that goes on and on. " * 32

RIPE_INETNUM = f"""
inetnum:        0.0.0.0 - 255.255.255.255
netname:        EXAMPLE-WHOLE-SPACE
descr:          The whole IPv4 address space
country:        EU # in fact all of the world
admin-c:        DUMY-RIPE
tech-c:         DUMY-RIPE
status:         ALLOCATED UNSPECIFIED
mnt-by:         RIPE-NCC-HM-MNT
created:        2002-06-25T14:19:09Z
last-modified:  2018-11-23T10:30:34Z
source:         RIPE

% The same range as IANA's 062/8: a duplicate across dumps.
inetnum:        62.0.0.0 - 62.255.255.255
netname:        EXAMPLE-EU-62
descr:          To be told apart from IANA's record of the same range
country:        EU
org:            ORG-ERG1-RIPE
status:         ALLOCATED UNSPECIFIED
mnt-by:         RIPE-NCC-HM-MNT
created:        2002-08-28T12:20:54Z
last-modified:  2009-08-03T09:33:46Z
source:         RIPE # Filtered

inetnum:        62.224.0.0 - 62.255.255.255
netname:        DEEP-1
descr:          A chain of subnets, each inside the one above
country:        DE
org:            ORG-DEEP1-RIPE
status:         ALLOCATED UNSPECIFIED
mnt-by:         RIPE-NCC-HM-MNT, EXAMPLE-DEEP-MNT
last-modified:  2011-01-01T00:00:00Z
source:         RIPE

inetnum:        62.240.0.0 - 62.243.255.255
netname:        DEEP-2
country:        DE
org:            ORG-DEEP1-RIPE
status:         ALLOCATED PA
mnt-by:         RIPE-NCC-HM-MNT
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-02T00:00:00Z
source:         RIPE

inetnum:        62.240.0.0 - 62.240.255.255
netname:        DEEP-3
country:        DE
status:         SUB-ALLOCATED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-03T00:00:00Z
source:         RIPE

inetnum:        62.240.16.0 - 62.240.31.255
netname:        DEEP-4
country:        DE
status:         LIR-PARTITIONED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-04T00:00:00Z
source:         RIPE

inetnum:        62.240.16.0 - 62.240.19.255
netname:        DEEP-5
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-05T00:00:00Z
source:         RIPE

inetnum:        62.240.18.0 - 62.240.18.255
netname:        DEEP-6
country:        AT
geoloc:         48.21 16.37
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-06T00:00:00Z
source:         RIPE

inetnum:        62.240.18.64 - 62.240.18.95
netname:        DEEP-7
country:        AT
geofeed:        https://geofeed.example.net/deep.csv # RFC 8805
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-07T00:00:00Z
source:         RIPE

inetnum:        62.240.18.72 - 62.240.18.75
netname:        DEEP-8
country:        AT
remarks:        Geofeed https://geofeed.example.net/remark.csv
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-08T00:00:00Z
source:         RIPE

inetnum:        62.240.18.73
netname:        DEEP-9-SINGLE-ADDRESS
country:        AT
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2011-01-09T00:00:00Z
source:         RIPE

inetnum:        62.241.0.0 - 62.241.2.127
netname:        NOT-A-PREFIX
descr:          640 addresses: a /23 and a /25
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2012-02-01T00:00:00Z
source:         RIPE

inetnum:        62.241.2.0 - 62.241.3.255
netname:        PARTIAL-OVERLAP
descr:          Shares its first half with half of NOT-A-PREFIX
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2012-02-02T00:00:00Z
source:         RIPE

inetnum:        62.241.4.0 - 62.241.4.255
netname:        TWICE-OLDER
descr:          The same range twice in one dump, the older one
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2003-03-03T00:00:00Z
source:         RIPE

inetnum:        62.241.4.0 - 62.241.4.255
netname:        TWICE-NEWER
descr:          The same range twice in one dump, the newer one
country:        DE
org:            ORG-DEEP1-RIPE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2013-03-03T00:00:00Z
source:         RIPE

inetnum:        62.241.5.255 - 62.241.5.0
netname:        REVERSED
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2013-03-04T00:00:00Z
source:         RIPE

inetnum:        062.241.006.0 - 62.241.6.255
netname:        LEADING-ZEROS
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2013-03-05T00:00:00Z
source:         RIPE

inetnum:        62.241.7.0 - 62.241.7.300
netname:        OCTET-TOO-LARGE
country:        DE
status:         ASSIGNED PA
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2013-03-06T00:00:00Z
source:         RIPE

inetnum:        62.241.8.0 to 62.241.8.255
netname:        WORDS-IN-THE-RANGE
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE

inetnum:
netname:        EMPTY-RANGE
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE

inetnum:        62.241.9.0 -
                62.241.9.255
netname:        CONTINUED
descr:          A text on three lines: this one,
                one that starts with blanks,
# a comment between them,
+               and one that starts with a plus
+
remarks:        the lone plus above stands for an empty line
country:        DE
mnt-by:         RIPE-NCC-END-MNT
+               EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-07T00:00:00Z
source:         RIPE

inetnum:        62.241.10.0 - 62.241.10.255
netname:        JUNK-INSIDE
this line has no attribute
    and so this one belongs to nothing
descr:          Beispielgesellschaft für Übungen, Größenstraße 1
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-08T00:00:00Z
source:         RIPE

inetnum:        62.241.11.0 - 62.241.11.255
netname:        COUNTRY-IN-FULL
country:        Exampleland
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-09T00:00:00Z
source:         RIPE

inetnum:        62.241.12.0 - 62.241.12.255
netname:        BAD-DATE
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-02-30T00:00:00Z
created:        2001-01-01T00:00:00Z
source:         RIPE

inetnum:        62.241.13.0 - 62.241.13.255
netname:        LONG-DESCRIPTION
descr:          {LONG_TEXT}
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-10T00:00:00Z
source:         RIPE

inetnum:        62.241.14.0 - 62.241.14.255
netname:        ORGANISATION-MISSING
country:        DE
org:            ORG-GONE1-RIPE # no such object in any dump
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-11T00:00:00Z
source:         RIPE

inetnum:        62.241.15.0 - 62.241.15.255
netname:        REGISTRY-MAINTAINER-ALONE
country:        DE
mnt-by:         RIPE-NCC-LEGACY-MNT
mnt-by:         RIPE-DBM-MNT
status:         LEGACY
last-modified:  2013-03-12T00:00:00Z
source:         RIPE

inetnum:        62.241.16.0 - 62.241.16.255
netname:        # only a comment
netname:        SECOND-NETNAME
descr:
descr:          Room #4, kept whole for it is free text
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
changed:        hostmaster@example.net 20070809
source:         RIPE

inetnum:        62.241.17.0 - 62.241.17.255
netname:        SOURCE-UNKNOWN
country:        DE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED PA
last-modified:  2013-03-13T00:00:00Z
source:         EXAMPLE
"""

RIPE_INET6NUM = """
inet6num:       ::/0
netname:        EXAMPLE-WHOLE-SPACE-6
descr:          The whole IPv6 address space
country:        EU # in fact all of the world
mnt-by:         RIPE-NCC-HM-MNT
status:         ALLOCATED-BY-RIR
last-modified:  2020-09-10T12:37:18Z
source:         RIPE

inet6num:       2A00:0F00:0000:0000:0000:0000:0000:0000/32
netname:        WRITTEN-IN-FULL
country:        SE
org:            ORG-DEEP1-RIPE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ALLOCATED-BY-RIR
last-modified:  2014-01-01T00:00:00Z
source:         RIPE

inet6num:       2a00:f00:1::7/48
netname:        HOST-BITS
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED
last-modified:  2014-01-02T00:00:00Z
source:         RIPE

inet6num:       2a00:f00:2::/48
netname:        LEVEL-3
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ALLOCATED-BY-LIR
last-modified:  2014-01-03T00:00:00Z
source:         RIPE

inet6num:       2a00:f00:2:ff00::/56
netname:        LEVEL-4
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED
last-modified:  2014-01-04T00:00:00Z
source:         RIPE

inet6num:       2a00:f00:2:ff00::1
netname:        SINGLE-ADDRESS-6
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
status:         ASSIGNED
last-modified:  2014-01-05T00:00:00Z
source:         RIPE

inet6num:       2a00:f00::/129
netname:        LENGTH-TOO-LARGE
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE

inet6num:       2a00:f00::1::/64
netname:        TWO-GAPS
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE

inet6num:       ::ffff:62.241.0.0/112
netname:        DOTTED-QUAD-INSIDE
country:        SE
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE
"""

RIPE_ORGANISATION = f"""
organisation:   ORG-ERG1-RIPE
org-name:       Example Registry of the Region
org-type:       RIR
address:        1 Sample Square
address:        Musterstadt
country:        NL
mnt-ref:        RIPE-NCC-HM-MNT
mnt-by:         RIPE-NCC-HM-MNT
last-modified:  2019-05-06T07:08:09Z
source:         RIPE # Filtered

organisation:   ORG-DEEP1-RIPE
org-name:       Tiefe Netze Beispiel AG
org-type:       LIR
org:            ORG-ERG1-RIPE
address:        Übungsweg 12
address:
address:        Musterhausen #3. Stock
country:        DE
remarks:        its own "org:" is not its handle
mnt-by:         RIPE-NCC-HM-MNT
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2019-05-07T07:08:09Z
source:         RIPE

organisation:   # the handle was lost
org-name:       Nameless Holdings
address:        Nowhere
mnt-by:         EXAMPLE-DEEP-MNT
source:         RIPE

organisation:   ORG-LONG1-RIPE
org-name:       Long Address Trust
address:        {LONG_TEXT}
mnt-by:         EXAMPLE-DEEP-MNT
last-modified:  2019-05-08T07:08:09Z
source:         RIPE
"""

APNIC_INETNUM = """
inetnum:        1.0.0.0 - 1.255.255.255
netname:        EXAMPLE-AP
descr:          The registry's own block, the same range as IANA's 001/8
country:        AU
admin-c:        HM20-AP
tech-c:         HM20-AP
mnt-by:         APNIC-HM
mnt-lower:      APNIC-HM
status:         ALLOCATED PORTABLE
last-modified:  2011-04-11T21:59:43Z
source:         APNIC

inetnum:        1.64.0.0 - 1.65.31.255
netname:        COUNT-73728
descr:          73728 addresses, as also in the statistics
country:        KR
admin-c:        HM20-AP
tech-c:         HM20-AP
mnt-by:         MNT-KRNIC-AP
mnt-by:         MAINT-KR-EXAMPLE
status:         ALLOCATED PORTABLE
last-modified:  2015-01-11T21:59:43Z
source:         APNIC

inetnum:        1.64.0.0 - 1.64.255.255
netname:        EXAMPLE-KR-NIR
descr:          Παράδειγμα της Ασίας
descr:          Second line that does not count
country:        KR
admin-c:        HM20-AP
tech-c:         HM20-AP
mnt-by:         MNT-KRNIC-AP
status:         ALLOCATED NON-PORTABLE
changed:        hostmaster@example.org 20110811
source:         KRNIC

inetnum:        1.72.0.0 - 1.72.255.255
netname:        EXAMPLE-JP-NIR
descr:          見本通信株式会社
country:        JP
mnt-by:         MAINT-JPNIC
status:         ALLOCATED PORTABLE
last-modified:  2015-12-01T22:25:40Z
source:         JPNIC

inetnum:        43.225.112.0 - 43.225.115.255
netname:        STUB-43-225-112SLASH22
descr:          Moved to another region in this sample
country:        ZZ
admin-c:        STUB-AP
tech-c:         STUB-AP
mnt-by:         APNIC-STUB
status:         ALLOCATED PORTABLE
last-modified:  2018-12-04T08:40:00Z
source:         APNIC

inetnum:        62.240.0.0 - 62.243.255.255
netname:        ANOTHER-REGISTRYS-RANGE
descr:          The same range as in the dump of another registry
country:        AU
mnt-by:         MAINT-APNIC-AP
status:         UNSPECIFIED
last-modified:  2001-01-01T00:00:00Z
source:         APNIC

inetnum:        1.80.0.0-1.80.0.63
netname:        NO-BLANKS-AROUND-THE-DASH
descr:          Café Échantillon
country:        nz
geoloc:         -41.29 174.78
mnt-by:         MAINT-NZ-EXAMPLE
status:         ASSIGNED NON-PORTABLE
last-modified:  2016-06-06T06:06:06Z
source:         APNIC

inetnum:        1.80.0.0/16
netname:        PREFIX-FORM
descr:          The parent of the one above, written as a prefix
country:        NZ
mnt-by:         MAINT-NZ-EXAMPLE
status:         ALLOCATED PORTABLE
last-modified:  2016-06-05T06:06:06Z
source:         APNIC

inetnum:        1.81.3.4/22
netname:        PREFIX-WITH-HOST-BITS
country:        NZ
mnt-by:         MAINT-NZ-EXAMPLE
status:         ALLOCATED PORTABLE
last-modified:  2016-06-07T06:06:06Z
source:         APNIC
"""

APNIC_INET6NUM = """
inet6num:       2400::/12
netname:        EXAMPLE-AP6
descr:          The registry's own block, the same range as IANA's
country:        AU
mnt-by:         APNIC-HM
status:         ALLOCATED PORTABLE
last-modified:  2015-12-09T05:30:27Z
source:         APNIC

inet6num:       2400:1000:: - 2400:1002:ffff:ffff:ffff:ffff:ffff:ffff
netname:        RANGE-6-NOT-A-PREFIX
descr:          Three prefixes of 32 bits in a row
country:        VN
mnt-by:         MAINT-VN-VNNIC
mnt-by:         MAINT-VN-EXAMPLE
status:         ALLOCATED PORTABLE
last-modified:  2016-01-28T07:33:29Z
source:         VNNIC
"""

AFRINIC = """
as-block:       AS36864 - AS37887
descr:          An AS block says nothing about subnets
mnt-by:         AFRINIC-HM-MNT
source:         AFRINIC

aut-num:        AS64496
as-name:        EXAMPLE-AS
descr:          Example Backbone
mnt-by:         EXAMPLE-ZA-MNT
source:         AFRINIC

inetnum:        41.0.0.0 - 41.255.255.255
netname:        EXAMPLE-AF-41
descr:          The registry's own block
country:        MU
org:            ORG-EAR1-AFRINIC
status:         ALLOCATED UNSPECIFIED
mnt-by:         AFRINIC-HM-MNT
changed:        hostmaster@example.org 20050101
source:         AFRINIC

inetnum:        41.200.0.0 - 41.201.255.255
netname:        DATE-IN-THE-CHANGED-LINE
descr:          Réseau Témoin de l'Océan
country:        DZ
org:            ORG-RTO1-AFRINIC
status:         ALLOCATED PA
mnt-by:         AFRINIC-HM-MNT
mnt-lower:      EXAMPLE-DZ-MNT
changed:        hostmaster@example.org 20080229
changed:        hostmaster@example.org 20120101
remarks:        data has been transferred from another registry
source:         AFRINIC

inet6num:       2c0f:f000::/32
netname:        EXAMPLE-AF-6
descr:          Réseau Témoin de l'Océan
country:        DZ
org:            ORG-RTO1-AFRINIC
status:         ALLOCATED-BY-RIR
mnt-by:         AFRINIC-HM-MNT
changed:        ***@example.org 20101112
source:         AFRINIC

organisation:   ORG-EAR1-AFRINIC
org-name:       Example African Registry
org-type:       RIR
country:        MU
address:        11 Lagoon Road
address:        Sampleville
mnt-by:         AFRINIC-HM-MNT
changed:        hostmaster@example.org 20041231
source:         AFRINIC

organisation:   ORG-RTO1-AFRINIC
org-name:       Réseau Témoin de l'Océan
org-type:       LIR
country:        DZ
address:        Rue de l'Échantillon
mnt-by:         AFRINIC-HM-MNT
changed:        hostmaster@example.org 20080229
source:         AFRINIC

person:         Amina Example
address:        Sampleville
phone:          +230-5550100
nic-hdl:        AE1-AFRINIC
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

role:           Example Operations
address:        Sampleville
nic-hdl:        EO1-AFRINIC
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

mntner:         EXAMPLE-DZ-MNT
descr:          Maintainer of the example
admin-c:        AE1-AFRINIC
auth:           none-in-this-sample
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

route:          41.200.0.0/15
descr:          A route is not a registration
origin:         AS64496
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

route6:         2c0f:f000::/32
origin:         AS64496
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

domain:         200.41.in-addr.arpa
nserver:        ns1.example.net
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

irt:            IRT-EXAMPLE-AF
address:        Sampleville
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

poem:           POEM-EXAMPLE-SAMPLE
text:           A subnet lay within a net,
text:           as deep as subnets ever get.
mnt-by:         EXAMPLE-DZ-MNT
source:         AFRINIC

gardening:      a class that nobody knows
source:         AFRINIC

Here begins a paragraph that does not start with an attribute
inetnum:        41.202.0.0 - 41.202.255.255
source:         AFRINIC

 inetnum:       41.203.0.0 - 41.203.255.255
netname:        FIRST-LINE-IS-A-CONTINUATION
source:         AFRINIC
"""

LACNIC = """
inetnum:     200/8
status:      allocated
owner:       Registro Exemplar da América
ownerid:     UY-REAM-LACNIC
responsible: Equipe de Exemplo
address:     Rambla Exemplo, 1,
address:     Vila Amostra
country:     UY
owner-c:     EEX
created:     19931201
changed:     20100301

inetnum:     200.128/9
status:      allocated
owner:       Comitê Exemplo do Sul
ownerid:     BR-CESU-LACNIC
responsible: João Exemplo
address:     Avenida da Amostra, 1000,
address:     01000-000 - São Modelo - SP
country:     BR
phone:       +55 11 5550100
owner-c:     JOE
tech-c:      JOE
inetrev:     200.128/9
nserver:     NS1.EXAMPLE.NET
created:     20010101
changed:     20190505

inetnum:     200.128.16/20
status:      reallocated
owner:       Provedor Ação Ltda
ownerid:     000.111.222/0001-33
responsible: Conceição Modelo
country:     BR
owner-c:     COM
created:     20070607
changed:     20180908
inetnum-up:  200.128/9

inetnum:     200.128.17.129/24
status:      reassigned
owner:       Padaria Modelo ME # free text keeps this
ownerid:     000.111.333/0001-44 # structured text does not
country:     BR
owner-c:     COM
created:     20080910
changed:     20081332
inetnum-up:  200.128.16/20

inetnum:     2800:f000::/32
status:      allocated
owner:       Ejemplo del Río S.A.
ownerid:     AR-ERSA-LACNIC
responsible: Martín Muestra
address:     Calle Ñandú, 55,
address:     1000 - Ciudad Modelo -
country:     AR
owner-c:     MAM
created:     20110203
changed:     20110203

inetnum:     2800:f000:8000::/34
status:      reassigned
owner:       Ejemplo del Río S.A.
ownerid:     AR-ERSA-LACNIC
country:     AR
created:     20120203
changed:     20120203
inetnum-up:  2800:f000::/32

inetnum:     200.129/16
status:      allocated
city:        São Modelo
country:     BR
created:     2012-02-03
changed:     2013-02-03
source:      LACNIC

aut-num:     AS64500
owner:       Provedor Ação Ltda
ownerid:     000.111.222/0001-33
country:     BR
created:     20070607
changed:     20180908

nic-hdl:     COM
person:      Conceição Modelo
e-mail:      com@example.org
country:     BR
created:     20070607
changed:     20180908
"""

ARIN_NETS = """
NetHandle:      NET-23-0-0-0-0
OrgID:          EXREG
Parent:
NetName:        EXAMPLE-NET23
NetRange:       23.0.0.0 - 23.255.255.255
NetType:        allocation
Comment:        The same range as IANA's 023/8
RegDate:        2010-11-30
Updated:        2010-12-01
Source:         ARIN

NetHandle:      NET-23-128-0-0-1
OrgID:          FIC-1
Parent:         NET-23-0-0-0-0
NetName:        FICTIVE-BLK
NetRange:       23.128.0.0 - 23.129.31.255
NetType:        allocation
OriginAS:       64511
Comment:        73728 addresses. Geofeed https://geofeed.example.com/not-at-the-start.csv
Comment:        GEOFEED: https://geofeed.example.com/fictive.csv
RegDate:        2013-05-06
Updated:        2021-12-14
TechHandle:     NOC1-EX
Source:         ARIN

NetHandle:      NET-23-128-16-0-1
OrgID:          FIC-2
Parent:         NET-23-128-0-0-1
NetName:        FICTIVE-CUST-16
NetRange:       23.128.16.0 - 23.128.16.255
NetType:        reassignment
RegDate:        2014-05-06
Updated:        2014-05-06
Source:         ARIN

NetHandle:      NET-23-128-16-128-1
OrgID:
Parent:         NET-23-128-16-0-1
NetName:        CUSTOMER-WITHOUT-ORGANISATION
NetRange:       23.128.16.128 - 23.128.16.135
NetType:        reassignment
RegDate:        2015-05-06
Source:         ARIN

NetHandle:      NET-LOST
OrgID:          FIC-2
NetName:        RANGE-LOST
NetType:        reassignment
RegDate:        2015-05-07
Source:         ARIN

ASHandle:       AS64511
OrgID:          FIC-1
ASName:         FICTIVE
ASNumber:       64511
RegDate:        2013-05-06
Updated:        2013-05-06
Source:         ARIN

POCHandle:      NOC1-EX
IsRole:         Y
LastName:       Example Operations
Street:         100 Sample Ave
City:           Sampleton
Country:        US
Source:         ARIN
"""

ARIN_DB = """
OrgID:          EXREG
OrgName:        Example Registry of the North
CanAllocate:    Y
Street:         1 Registry Row
City:           Sampleton
State/Prov:     VA
Country:        US
PostalCode:     00001
RegDate:        1997-12-22
Updated:        2020-01-02
Source:         ARIN

OrgID:          FIC-1
OrgName:        Fictive Networks, Inc.
CanAllocate:    Y
Street:         PO Box 555
Street:         Suite #7
City:           Exampleville
State/Prov:     ON
Country:        CA
PostalCode:     A1A 1A1
RegDate:        2005-03-04
Updated:        2019-02-28
OrgTechHandle:  NOC1-EX
Source:         ARIN

OrgID:          FIC-2
OrgName:        Bakery of the Sample
Street:         Private Residence
City:           Exampleville
Country:        CA
RegDate:        2014-05-06
Updated:        2014-05-06
Source:         ARIN

V6NetHandle:    NET6-2600-F000-1
OrgID:          FIC-1
Parent:
NetName:        FICTIVE-V6
NetRange:       2600:F000:: - 2600:F000:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF
NetType:        allocation
RegDate:        2013-05-07
Updated:        2013-05-08
Source:         ARIN

V6NetHandle:    NET6-2600-F000-2
OrgID:          FIC-2
Parent:         NET6-2600-F000-1
NetName:        FICTIVE-CUST-V6
NetRange:       2600:F000:10:: - 2600:F000:10:FFFF:FFFF:FFFF:FFFF:FFFF
NetType:        reassignment
RegDate:        2014-05-07
Source:         ARIN
"""

STATISTICS = {
    "afrinic": """
afrinic|ZZ|ipv4|41.255.0.0|65536||reserved|
afrinic|DZ|ipv4|41.200.0.0|131072|20080229|allocated|F00000001
afrinic|DZ|ipv6|2c0f:f000::|32|20101112|allocated|F00000001
afrinic|MU|ipv4|41.254.000.0|256|20110101|assigned|F00000002
""",
    "apnic": """
apnic|KR|ipv4|1.64.0.0|73728|20150111|allocated|A90000001|e-stats
apnic|JP|ipv4|1.72.0.0|65536|20151201|allocated|A90000002|e-stats
apnic|AU|ipv6|2400::|12|20061003|allocated|A90000003|e-stats
apnic||ipv4|1.255.255.0|512||available|
apnic||ipv4|1.82.0.0|0||reserved|
apnic|AUS|ipv4|1.83.0.0|768|20151332|assigned|A90000004|e-stats
""",
    "arin": """
arin|CA|ipv4|23.128.0.0|73728|20130506|allocated|00f1c00000000000000000000000f1c1
arin|CA|ipv6|2600:f000::|32|20130507|allocated|00f1c00000000000000000000000f1c1
arin||ipv4|23.255.252.0|768||reserved|
arin|US|ipv4|223.255.255.0|1024000000|19900101|assigned|00f1c00000000000000000000000f1c2
arin|US|ipv4|23.256.0.0|256|19900101|assigned|00f1c00000000000000000000000f1c2
iana|ZZ|ipv4|10.0.0.0|16777216|19900101|reserved
""",
    "lacnic": """
lacnic|BR|ipv4|200.128.0.0|8388608|20010101|allocated|201
lacnic|AR|ipv6|2800:f000::|32|20110203|allocated|202
lacnic|AR|ipv6|2800:f000::1|48|20110204|assigned|202
lacnic|AR|ipv6|2800:f000::|129|20110205|assigned|202
lacnic||ipv6|2800:f800::|29||available
""",
    "ripencc": """
ripencc|DE|ipv4|62.240.0.0|262144|20110102|allocated|00000000-0000-4000-8000-000000000001
ripencc|SE|ipv6|2a00:f00::|32|20140101|allocated|00000000-0000-4000-8000-000000000001
ripencc||ipv4|62.255.248.0|2048||available
ripencc|DE|ipv4|62.241.0.0|640|20120201|assigned|00000000-0000-4000-8000-000000000001
interNIC|DE|ipv4|62.241.64.0|256|20120201|assigned|x
ripencc|DE|ipv9|62.241.65.0|256|20120201|assigned|x
ripencc|DE|ipv4|62.241.66.0
""",
}
"""Lines of delegated-extended statistics, by the registry's name in them."""

IANA_IPV4 = """Prefix,Designation,Date,WHOIS,RDAP,Status [1],Note
000/8,IANA - Local Identification,1981-09,,,RESERVED,[2][3]
001/8,APNIC,2010-01,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
010/8,IANA - Private Use,1995-06,,,RESERVED,[4]
023/8,ARIN,2010-11,whois.arin.net,"https://rdap.arin.net/registry
http://rdap.arin.net/registry",ALLOCATED,
041/8,AFRINIC,2005-04,whois.afrinic.net,https://rdap.afrinic.net/rdap/,ALLOCATED,
043/8,Administered by APNIC,1991-01,whois.apnic.net,https://rdap.apnic.net/,LEGACY,
056/8,"Fictive Post, Telegraph and Sample Office",1994-06,,,LEGACY,
060/8,APNIC,2003-04,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
062/8,RIPE NCC,1997-04,whois.ripe.net,https://rdap.db.ripe.net/,ALLOCATED,
063/8,ARIN,1997-04,whois.arin.net,https://rdap.arin.net/registry,ALLOCATED,
080/8,RIPE NCC,2001-04,whois.ripe.net,https://rdap.db.ripe.net/,ALLOCATED,
105/8,AFRINIC,2010-11,whois.afrinic.net,https://rdap.afrinic.net/rdap/,ALLOCATED,
127/8,IANA - Loopback,1981-09,,,RESERVED,[5]
190/8,LACNIC,2005-06,whois.lacnic.net,https://rdap.lacnic.net/rdap/,ALLOCATED,
193/8,RIPE NCC,1993-05,whois.ripe.net,https://rdap.db.ripe.net/,ALLOCATED,
200/8,LACNIC,2002-11,whois.lacnic.net,https://rdap.lacnic.net/rdap/,ALLOCATED,
202/8,APNIC,1993-05,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
223/8,APNIC,2010-04,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
224/8,Multicast,1981-09,,,RESERVED,[6]
240/8,Future use,1981-09,,,RESERVED,[7]
"""

IANA_IPV6 = """Prefix,Designation,Date,WHOIS,RDAP,Status,Note
2001:0000::/23,IANA,1999-07-01,whois.iana.org,,ALLOCATED,"2001:0000::/23 is kept for protocols.
2001:0000::/32 is one of them, and this note has two lines."
2001:0200::/23,APNIC,1999-07-01,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
2001:0db8::/32,Documentation,2004-07-01,,,ALLOCATED,
2400:0000::/12,APNIC,2006-10-03,whois.apnic.net,https://rdap.apnic.net/,ALLOCATED,
2600:0000::/12,ARIN,2006-10-03,whois.arin.net,https://rdap.arin.net/registry,ALLOCATED,
2800:0000::/12,LACNIC,2006-10-03,whois.lacnic.net,https://rdap.lacnic.net/rdap/,ALLOCATED,
2a00:0000::/12,RIPE NCC,2006-10-03,whois.ripe.net,https://rdap.db.ripe.net/,ALLOCATED,
2c00:0000::/12,AFRINIC,2006-10-03,whois.afrinic.net,https://rdap.afrinic.net/rdap/,ALLOCATED,
2d00:0000::/8,IANA,1999-07-01,,,RESERVED,
"""

IANA_IPV6_SPACE = """IPv6 Prefix,Allocation,Reference,Notes
0000::/8,Reserved by IETF,[RFC3513][RFC4291],[1]
2000::/3,Global Unicast,[RFC3513][RFC4291],"All that is handed out lies here, so far."
fc00::/7,Unique Local Unicast,[RFC4193],
fe80::/10,Link-Scoped Unicast,[RFC3513][RFC4291],
ff00::/8,Multicast,[RFC3513][RFC4291],
"""
