"""Names of columns that survey tools write, and that people give to ids, times, weights and those who rank.

`rankwise.data.formats.roles` looks names up here. They are bare: lower case, letters and digits only, as `bare` makes
them, so that "Response ID", "ResponseId" and "response_id" are one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping


def bare(name: str) -> str:
    """A name without capitals, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name.lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: ids that may repeat, as those of a table with several rows for each respondent do
CERTAIN_IDS = _words("id uuid guid caseid responseid respondentid participantid recordid submissionid instanceid")
#: ids, unless their values repeat
IDS = CERTAIN_IDS | _words(
    """token subjectid personid userid workerid prolificid prolificpid sessionid metainstanceid rootuuid index row rowid
    rownumber rownr lfdnr serial nr unnamed0 respid respnr panelid memberid studentid voterid ballotid externalid
    idnumber antwortid antwortnr participant respondent subject"""
)
#: names that end in a word for an id, as store_id and interviewToken do
ID_ENDING = re.compile(r"(?:^|[\W_]|(?<=[a-z])(?=[A-Z]))(?:id|ID|Id|uuid|UUID|guid|GUID|token|Token)$")

TIMES = _words(
    """timestamp zeitstempel horodateur marcatemporal informazionicronologiche tijdstempel carimbodedatahora
    startdate enddate recordeddate submitdate datesubmitted datestamp datelastaction startdateutc submitdateutc
    datecreated datemodified starttime endtime completiontime submissiontime createdat updatedat submittedat startedat
    completedat datestarted datecompleted lastdata interviewdate datumabgeschickt datumgestartet lastmodifiedtime"""
)

#: what tools write besides the answers
PARADATA = _words(
    """ipaddress ipaddr durationinseconds recipientlastname recipientfirstname recipientemail externalreference
    externaldatareference locationlatitude locationlongitude distributionchannel userlanguage qrecaptchascore
    qrelevantidduplicate qrelevantidduplicatescore qrelevantidfraudscore qrelevantidlaststartdate qduplicaterespondent
    qballotboxstuffing qtotalduration qlanguage lastpage letzteseite startlanguage startsprache refurl referrerurl
    interviewtime totaltime gesamtzeit deviceid simserial subscriberid validationstatus submittedby xformidstring
    collectorid networkid useragent questnnr qviewer maxpage missrel timersi degtime redcapeventname
    redcapsurveyidentifier redcaprepeatinstance redcaprepeatinstrument"""
)
#: the same by patterns of the names as they are: Kobo, the display order and page times of Qualtrics, LimeSurvey, SoSci
PARADATA_PATTERN = re.compile(
    r"_(?:submission_time|validation_status|notes|status|submitted_by|tags|attachments|geolocation|"
    r"parent_index|parent_table_name)|__version__|meta/.+|.*_timestamp|"
    r".*_DO(?:_\d+)?|.*_(?:First Click|Last Click|Page Submit|Click Count)|(?:group|question)time\w*|TIME\d{3}"
)

# Tool -> names that show that it wrote the file, of which there must be two, and its paradata whose names alone could
# mean anything.
_TOOLS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "Qualtrics": (
        _words("responseid recordeddate ipaddress distributionchannel userlanguage durationinseconds"),
        _words("status progress finished duration"),
    ),
    "LimeSurvey": (
        _words(
            "submitdate datesubmitted lastpage startlanguage datestamp seed datumabgeschickt letzteseite startsprache"
        ),
        _words("seed zufallsstartwert"),
    ),
    "KoboToolbox": (
        _words("version uuid submissiontime validationstatus submittedby deviceid xformidstring instanceid"),
        _words("start end today username audit"),
    ),
    "SurveyMonkey": (
        _words("respondentid collectorid datecreated datemodified ipaddress"),
        _words("emailaddress firstname lastname customdata1"),
    ),
    "Microsoft Forms": (_words("starttime completiontime lastmodifiedtime"), _words("email name")),
    "SoSci Survey": (
        _words("questnnr qviewer lastdata maxpage missrel timersi"),
        _words("mode ref started finished missing language case"),
    ),
}

#: what Qualtrics writes of trials of a survey, and the bare names of the columns where it does
PREVIEWS = frozenset(("survey preview", "survey test", "preview", "test"))
PREVIEW_COLUMNS = _words("status responsetype distributionchannel")

DURATION = re.compile(r"(?:q?total)?(?:duration|interviewtime|totaltime|gesamtzeit)(?:inseconds|seconds|sec|s)?")

#: words for those who rank, over a column of their names
RATERS = _words(
    """name names judge judges rater raters juror jurors jury expert experts reviewer reviewers voter voters taster
    tasters panelist evaluator assessor member person participant respondent student player who username fullname
    firstname jurymitglied jurorin gutachter prüfer bewerter richter teilnehmer juge jurado juez giudice nome
    nombre nom"""
)

#: names of survey weights besides those that `read_rankings` asks about
WEIGHT = re.compile(
    r"(?:.*[\W_\d])?(?:p|ps|psp|d|f|a)?(?:weights?|wgt|wght|wts?|gewicht|gew|poids|peso)(?:[\W_\d].*)?", re.IGNORECASE
)

#: names of open questions, the texts of Qualtrics among them; "note" is a grade in French and German
COMMENTS = re.compile(
    r"(?:.*[\W_])?(?:comments?|remarks?|kommentare?|bemerkung(?:en)?|anmerkung(?:en)?|commentaires?|remarques?|"
    r"comentarios?|comentários?|comment[oi]|osservazion[ei]|opmerking(?:en)?)\W*|Q\w*_TEXT",
    re.IGNORECASE,
)


def paradata_of_tools(names: Collection[str]) -> dict[str, str]:
    """Bare names that are paradata in this file, and the tool that wrote them."""
    found = set(map(bare, names))
    return {word: tool for tool, (marks, words) in _TOOLS.items() if len(marks & found) >= 2 for word in words}
