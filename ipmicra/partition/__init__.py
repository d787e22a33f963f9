"""Partitioning a whole list of sites, one part per crawler, and what each partition costs.

Papers, numbered once for this layer:

1. Exposto, Macedo, Pina, Alves & Rufino 2005, *Geographical partition for distributed web crawling*: the
   graph of distances and links, partitioning by several objectives, the three time equations.
2. Design of a distributed crawler with a control node and crawl nodes (two-level mapping of host names,
   sub-sites of one big site, URLs exchanged in batches).
3. Boldi, Codenotti, Santini & Vigna 2004, *UbiCrawler*: consistent hashing of host names.
4. Singh, Srivatsa, Liu & Miller 2003, *Apoidea*: host names on a Chord ring.
5. Cambazoglu et al. 2006, *SE4SEE*: a crawler of the site's own country.
6. Cho & Garcia-Molina 2002, *Parallel crawlers*: firewall, cross-over and exchange; ten links per page.
7. Karypis & Kumar 1998, METIS; Schloegel, Karypis & Kumar 1999 for several objectives.
"""
