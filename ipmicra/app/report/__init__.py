"""The report: one HTML file that shows which crawler has which sites, why, and what that saves.

`data.py` is what a report is made from, `loaders/` reads it from files, `figures.py` counts, the plots draw
scenes, `page.py` joins them into a page and `write.py` writes files. All but loaders and `write.py` is pure.

Sources of what is drawn and counted:
[1] Exposto et al., the geographical partition of the Web: the equation of download time.
[2] Xu, Zhang, Zhang and Fang 2010: the parameters of a crawler on an ordinary line.
[3] Šavrič, Patterson and Jenny 2018: the Equal Earth projection.
[4] Okabe and Ito 2008; Machado, Oliveira and Fernandes 2009: colours that most people can distinguish.
"""
