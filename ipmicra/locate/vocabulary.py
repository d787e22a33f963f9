"""Words of host names: what operators call places, and what is no place although it looks like one.

Written by hand from the naming habits of operators; nothing here is derived from the test sets.

A code may be in several lists (`tokens.py` weighs it). HUBS raises its points. NEVER_CODES lowers them, and
then the country must agree. SOFT_CODES lowers them less. A word in none of the lists is judged by the airport
it names and by whether it is an English word.
"""

from __future__ import annotations

HUBS = frozenset(
    """
    aar abj abq abv acc add adl agp akl ala alc alg ams anc ank arn asu ath atl auh aus bah bcn bdl
    beg ber bey bfs bgi bgo bgy bhm bhx bio bjs bkk bll blq blr bna bne bod bog boi bom bos bre bru
    bsb bts bud bue buf bur bwi cai can cbr ccs ccu cdg cgk cgn cgy chc chi chs cle clt cmb cmh cmn
    cnf cph cpt cta ctu cun cvg cwb cwl dac dal dar dbv dca del den dfw dkr dme doh dps drs dsm dtm
    dtw dub dur dus dxb ebb edi ein elp esb ewr eze fco fih fll fln for fra fuk gdl gdn gig gla got
    gru gsp gua gum gva gyd gye haj ham han hba hel hgh hkg hkt hnd hnl hou hyd iad iah icn ict iev
    ind isb ist itm jax jed jfk jib jkt jnb kbp kef khh khi kin kix kja klu krk ktm ktw kul kun kwi
    kwl lad las lax lba lca led lej lga lgw lhe lhr lil lim lin lis lju lon los lpl ltn lun lux lys
    maa mad man mar mci mco mct mde mdw mel mem mex mfm mga mia mil mkc mke mla mle mnl mow mpm mrs
    msp mst msy mty muc mvd mxp nag nap nbo nce ncl ngo nqz nrt nte nue nuq nyc oak okc oma ont opo
    ord orf ork ory osa osl otp oul par pdx pek per phl phx pit pmo pnq poa pos poz prg ptp pty pvd
    pvg qro rdu ric rix roc rom ruh sac san sao sat scl sdf sdq sea sel sfo sgn sha shv sin sjc sjj
    sjo sju skg skp slc smf snn sof ssa stl stn sto str svg svo svq svx syd szx tgd tia tlh tll tls
    tlv tmp tnr tpa tpe trd trn tul tun tus tyo uio vce vgo vie vix vlc vno vvi was waw wdh wlg wro
    xna yeg yhz yow yqb yqr yul yvr ywg yxe yyc yyj yyz zag zaz zrh
    """.split()
)
"""Codes that operators write often: airports and cities where networks meet."""

NEVER_CODES = frozenset(
    """
    abo abs acc acl adm ads aes aks all alt and ant any api apk app aps arc are arm arp art asa ask asn
    asp asr ate aux aws bad bak bar bas bat bbs bck bed beo bet bgp bid big bin bit biz bkp bng bot box
    bsd bsr btc btn bts bus but buy bye cab cal cam cap car cas cat ccc ccr ccs ccu cdn cdr cer cfg cgi
    cgn cmd cms cnc cns col com con cor cpe cpu crl crm cse csr css csv ctl cto cup cur cvs cyc dam dat
    day dba dbs dev dhp dig dim dir dis dmz dna dns doc dog dom dot dsl dvb dvr dyn ear eat ebs ecn ecs
    edg edu eks elb elk elt emc emu end eng erp esp ess est eta etc eth evo ext eye fan faq far fax fed
    fee few fin fit fix fly fms fnc foo fox fpt ftp fun fwd gap gas gen geo get gis git gke glb gmt gov
    gpu gsm gui gum guy had has hat hdd her hey him his hit hop hot how hpc hub hud ice icu ide idp ids
    iis ios iot ipc ipm ips ipt ira irc ire isa isp ita its jar jet jim job joe jpg jsp kan key kid kit
    kvm lab lac lag lan law lbs led leg let lib lid lin lip lit lns lob log lot low lte lxc lxd mac maf
    map max mba mdm med meo met mgm mib mid min mix mms mob mod mon mos mpl mpr mse msg mta mtb mtu mud
    mux nac nas nat net new nfs nis nix nms noc nod non nor not now npm ntp nvr obs oca oct odd odf off
    oid oil old olt ong ons ont ops opt ora orb org osp oss ota our out own pac pad pal pan pap pas pay
    pbx pcs pda pdf pdu peg pen pet pgp php pic pid pin pip pki plc plm pln pls pmo pms pod pop pos pot
    ppp prd pre pro psn psw pub put pxe qos raw rcr rds red rem rep req res ria rip rms rnd rob rom row
    rpc rpm rsa rss rsv rtt rtu run saa san sas sat saw sbb sbc scp sdk sdn see seo ser set sfp sha she
    shv sim sip sit sla sms sns soa soc sow spa spf spy sql src ssd ssh ssl sso stb std stg stp stu sub
    sum sun sup svc svn swa swi swt sym sys tab tac tag tap tar tbs tcp tea tec tee tel tft the tie tip
    tls tmp tom ton too top tor toy tpl try tst tty tun two uat udp upc ups url usa usb use usr utm vas
    vdi ver vid vip vlb vlt vmi vmm vms vod voi von vox vpc vpn vps vrf wap war was wax way wcs web wet
    who why wic wif win wms won wow wsp www xdr xen xml xxx yes yet you zip zoo
    """.split()
) - frozenset("acc ccs ccu sat was".split())
# Accra, Caracas, Kolkata, San Antonio and Washington stay hubs, whatever else their letters may mean.
"""Three letters that mean something else in host names; with the country's agreement some may still count."""

SOFT_CODES = frozenset(
    """
    ada ade ala alc alg amy ana anc ann asa ash aus ava bah bai bel ben bey bio bob bom bre bud bur
    can cap cha cle clt cta cwb dac dal dan dar dax del den der die dkr doh dps dsm dub dur edi esb
    eva eve for gal gig ham han hel ian ict ida ind isa ist ivy jan jay jib jim joe jon jos kai kay
    ken kim kin kun lad lea lee leo les lev lia lil lim liz los lou lun lux mad mae man mar max may
    mdw mel mem mia mil min msp mst nag nan nap ned ngo nia oak ord pam par pat per pit ptp pty ray
    ria ric rob roc rom ron roy sac sal sam sao sat sea sel sia sid sin sky smf sof stn str sue svg
    ted tia tim tmp trn uma una van via vie vlc was win zoe
    """.split()
)
"""Codes of hubs that are also words or abbreviations: they need one more reason."""

GENERIC_COUNTRY_DOMAINS = frozenset(
    """
    ac ad ag ai am as bz cc cd co cx dj eu fm ga gg gl gq im io is la ly me ml ms mu nu pw sc sh so
    st su tk to tv vc vg ws
    """.split()
)
"""Top-level domains of countries that the whole world registers under: they indicate no country."""

ALIASES = {"uk": "GB", "en": "GB"}
"""Letters for a country other than ISO 3166's."""

COUNTRY_WORDS = {"usa": "US", "deu": "DE", "gbr": "GB", "nsw": "AU", "qld": "AU", "vic": "AU", "tas": "AU"}
"""Three letters that indicate a country when they stand alone in a label."""

NO_COUNTRY_NAMES = frozenset(
    "chad cuba georgia guam iran iraq jersey jordan korea mali niger oman peru togo".split()
)
"""Names of countries that are also other words, or parts of them, in the names of companies."""

CYRILLIC_COUNTRIES = frozenset("BG BY KG KZ MK RS RU TJ UA UZ".split())
"""Countries whose cities are written in Latin letters in several ways."""

CLLI_COUNTRIES = {
    "en": "GB",
    "ge": "DE",
    "si": "SG",
    "sw": "SE",
    "sz": "CH",
    "dn": "DK",
    "sp": "ES",
    "au": "AU",
    "ko": "KR",
}
"""Last two letters of six-letter codes in the manner of CLLI that differ from ISO 3166."""

INTERFACES = frozenset(
    """
    ae be bundle bvi channel dsl ent et eth ether fa fastethernet fe ge gi gig gigabitethernet hu
    hundredgige ien irb lag lo loopback oc pe po port pos se so te ten tengig tengige tge ve vl vlan vrf
    xe xge
    """.split()
)
"""What interfaces of routers are called."""

ROLES = frozenset(
    """
    a acc access ag agg agr ar asbr asr b backbone bar bb bbone bbr bcr bdr bear bng border bpe br bras
    bsr c car ccr ce cisco colo cor core cr crs cs csr csw ctr d dc distr dr ds ear ebr ecr ed edge er
    gateway gr gw hcore ibone ibr icr igw ip ipcore ir jnr juniper lns lsr mar mcore mpr mr msr mx nod
    ntwk p pe peer peering pni ppr psw r rar rc rcr rdr router rs rsw rt rtr rtsw sar sbb sbr sr sw switch
    tbone tcore tr transit ukcore v wr xcr
    """.split()
)
"""What routers and switches are called."""

ACCESS = frozenset(
    """
    abo access adsl anchor bb bras broadband business cable cache catv client clients cpe cust customer
    customers dhcp dial dialup dsl dyn dynamic fiber fibre fios ftth gpon hfc host hosts hsd hsi iperf isp
    lightspeed link lte mirror mlab mobile ndt node nodes oca ookla perfsonar ping pool pools pop ppp pppoe
    probe res residential spd spdtest speed speedtest spt srv static test user users vdsl vpn wifi wireless
    xdsl
    """.split()
)
"""What lines of customers and servers in many places are called."""

NUMBERED_ROLES = frozenset("fs lb lg mail ns ookla sp st ts vm vps web ws www".split())
"""What servers are called if a number follows: `st1`, `ns2`."""

GLUED_ROLES = (
    "speedtest", "speedtst", "spdtest", "testspeed", "speedo", "speed", "ookla", "iperf", "server", "cache",
    "proxy", "bras", "core", "edge", "node", "host", "test", "mlab", "anchor", "rtr", "srv", "cdn", "vps",
    "vpn", "pop", "spd", "spt", "bb", "gw", "cr", "br", "ix", "dc", "sw", "pe", "fw", "st", "sp", "ns", "lg",
)  # fmt: skip
"""Roles that are glued to a code or city without a hyphen, the longest first: `corefra1`, `stbarcelona`."""

ABBREVIATIONS = {
    short: city
    for line in """
    ahmedabad IN: ahm; albuquerque US: albq; amsterdam NL: amst asd; ashburn US: asb asbn ash
    atlanta US: atla atln; baltimore US: balt; bandung ID: bdg; bangalore IN: bglr; barcelona ES: bcl
    beauharnois CA: bhs; belgrade RS: blg; belohorizonte BR: bhz; berlin DE: bln; boston US: bost
    brasilia BR: bsa; brisbane AU: bris; brussels BE: brs bxl; bucharest RO: buh; budapest HU: buda
    buenosaires AR: bsas; calgary CA: clgr; capetown ZA: ctn; cebucity PH: cbu; chennai IN: chen chn
    chicago US: cgcil chcg chgo; cincinnati US: cinc; cleveland US: clev; cologne DE: kln
    columbus US: clmb; copenhagen DK: kbn; curitiba BR: ctba; dallas US: dall dlls dls; delhi IN: ndl
    denpasar ID: bali; denver US: denv dnvr; detroit US: dtrt; dnipro UA: dnp; dubai AE: dbx dbxuae
    dublin IE: dbln dln; durban ZA: dbn; dusseldorf DE: ddf dssd; edmonton CA: edtn; elpaso US: elpa
    falkenstein DE: fsn; fortaleza BR: fla; frankfurt DE: ffm fft fkt frnkge; fremont US: fmt
    gdansk PL: gda; geneva CH: gnv gnva; gothenburg SE: gbg; halifax CA: hlfx; hamburg DE: hbg
    helsinki FI: hls hsk; hochiminhcity VN: hcm; hongkong HK: hgk hkngcn hnk newt newthk
    houston US: hous; indianapolis US: ipls; jacksonville US: jcvl; johannesburg ZA: jhb joh
    kansascity US: kscy; katowice PL: kat; kazan RU: kzn; kharkiv UA: khr; kolkata IN: kol
    krasnoyarsk RU: krsk; kualalumpur MY: kslrml; lasvegas US: lsvg; lisbon PT: lsb; lodz PL: ldz
    london GB: ldn lond londen thn; losangeles US: losa lsan; madrid ES: madr mdr; malmo SE: mmo
    manchester GB: manc mchr; melbourne AU: melb; mexicocity MX: cdmx mxc; miami US: miam
    milan IT: mlan; milwaukee US: milw; montreal CA: mtl mtrl mtrlpq; moscow RU: msk mskw
    mumbai IN: mum mumb; munich DE: mnc mnch muen; nashville US: nsvl; newark US: nwrk
    newyork US: manh newy nwyknynyw nwyrny nycm nycmny nyk; nizhniynovgorod RU: nnov
    novosibirsk RU: nsk; nuremberg DE: nbg; odesa UA: ods; omaha US: omah; orlando US: orld
    osaka JP: osak osk; oslo NO: oso; ottawa CA: ottw; paloalto US: paix pao plalca; paris FR: prs
    philadelphia US: phil phla; phnompenh KH: pnh; phoenix US: phnx; pittsburgh US: pitb; portland US: ptld
    poznan PL: pzn; prague CZ: pra prag; riodejaneiro BR: rdj rjo; rostovondon RU: rnd
    roubaix FR: rbx; sacramento US: sacr; saintpetersburg RU: spb; saltlakecity US: slkc
    samara RU: smr; sanantonio US: snan; sandiego US: sndg; sanfrancisco US: sfba; sanjose US: snjs
    santaclara US: sntcca; santiago CL: stgo; saopaulo BR: saop spl spo; seattle US: sttl
    seoul KR: seou slseou; singapore SG: sgp sng sngp sngpsi; slough GB: slou; stlouis US: stls
    stockholm SE: sthm stk; strasbourg FR: sbg; sunnyvale US: snv sunn svl; surabaya ID: sby
    sydney AU: sydn; taipei TW: taip tpi; tampa US: tampabay; tokyo JP: tky tok toky
    toronto CA: tor toro toroon trt; ulyanovsk RU: ulsk; vancouver CA: vanc vancbc; vienna AT: wien
    vilnius LT: vil; warsaw PL: wrs wsw; washington US: washdc; winnipeg CA: wpg; wroclaw PL: wrc
    yekaterinburg RU: ekat ekb; zurich CH: zur zuri
    """.replace("\n", ";").split(";")
    for city, _, shorts in [line.strip().partition(": ")]
    for short in shorts.split()
}
"""What operators write for a city: spelling in the table of cities, and country."""

LISTED_PEOPLE = 1_000_000
"""What a city counts for, at least, that operators have an abbreviation for, however small it is."""

HARD_CITY_WORDS = frozenset(
    """
    aurora bath bend best beta central college columbia commerce concord delta download enterprise federal
    florida general gold imperial independence index internet java liberty live lucky media mercury metro
    mission mobile model modern nice normal office opera orange orion page patra phoenix plaza premium
    price puma reading regular royal sand santa search security server shop sol split spring star static
    station store summit sun surprise temple test time tours union universal university update upload
    victoria video vision wall web wells work world young
    """.split()
)
"""Names of cities that host names use as words."""

SOFT_CITY_WORDS = frozenset(
    """
    adelaide alexandria allen anderson andes antonio apollo arlington athena aurora austin avila barry
    bergen boss bradford brandon brooklyn bryan cairo carmen carol carson chandler charlotte chester
    clinton columbus cordoba dakota dallas david dayton delphi diana douglas elizabeth essen eugene
    florence franklin fulda garland gary georgia grace halle hamilton harvey helena henderson houston
    hudson irving ithaca jackson jaipur jasmine jordan joseph kent lancaster laurel lawrence lena leon
    lincoln lindsay logan lorain louise lucia luna lund lyon madison mandela marina mario marshall
    mason medina mercedes milton minerva miranda monroe montana morgan nancy naples nelson newton
    norman odessa olympia omaha orlando oscar oxford parker patna petra raleigh regina richmond ripley
    rita rochester rosario roswell sacramento salem sandy santiago santos savannah selma sidney sierra
    sofia sparta stanley stella sterling taylor toledo troy tyler valencia vega venus vera verona
    vesta victor vienna virginia vista warren wayne wellington
    """.split()
)
"""Names of cities that are also names of persons, gods and machines: they need one more reason."""

INSTITUTION_WORDS = frozenset(
    "city fh hs ph stadt th tu uni univ universitaet universite university ville gemeente comune".split()
)
"""Words beside a city in a registered name that make the city the owner's seat: `uni-hamburg`."""

NETWORK_WORDS = (
    "telecommunications", "speedtest", "testdebit", "datacenter", "datacentre", "broadband",
    "internet", "wireless", "hosting", "conecta", "connect", "conect", "telecom", "telekom", "online",
    "cable", "cyber", "fiber", "fibra", "fibre", "inter", "link", "tele", "wifi", "isp", "net", "tel",
    "web",
)  # fmt: skip
"""Words in a registered name that make its holder a network, the longest first: `amarillowireless`."""
