# SPDX-License-Identifier: MPL-2.0
"""The pages of the reproduction, in the order of the index.

A page is a module with TITLE, PURPOSE, its first line, or AUTHORS, which says whose
experiments it repeats, seeds(quick), which most of its points are run with,
plan(quick), which names the runs that it needs (a dictionary of lab.Job),
and report(page, runs, quick), which is given their results under the same names
and fills the page.  NS3_ONLY pages are left alone where ns-3 is not there.
"""
from . import (calibration, geo, ns3, stfrc, tltcp, westwoodnew, yam,
               yam_fast)

PAGES = {
    "calibration": calibration,
    "ns3": ns3,
    "tltcp": tltcp,
    "yam": yam,
    "yam-fast": yam_fast,
    "westwoodnew": westwoodnew,
    "geo": geo,
    "stfrc": stfrc,
}
