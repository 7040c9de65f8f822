"""Word classes of English that the support checks rest on. Closed classes are whole, open ones hold the common members.

Verbs stand in their base form; `discorag.claims.words` reduces other forms to it.
"""

from __future__ import annotations

from functools import cache


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set(
    "a an the this that these those my your his her its our their each every some any no all both either "
    "neither several many most few such another other others same one whose what which half more less fewer "
    "enough own last next"
)
PRONOMINAL = _set("that some many others most few both all no such one")  # determiners that also stand alone
PREPOSITIONS = _set(
    "of in to for with on at from by about as into like through after over between out against during without "
    "before under around among within along across behind beyond above below near off since until till up down "
    "onto upon toward towards via per despite except inside outside beneath beside besides throughout than amid "
    "amongst past alongside concerning regarding unlike versus underneath following ahead"
)
PRONOUNS = _set(
    "i you he she it we they me him us them himself herself itself themselves oneself myself yourself ourselves "
    "who whom mine yours hers ours theirs someone somebody anyone anybody everyone everybody something anything "
    "everything there none nobody nothing ones here where when why how"
)
BE = _set("be is are was were been being am")
AUXILIARIES = BE | _set(
    "have has had having do does did doing done will would shall should can could may might must ought used get got"
)
BEFORE_A_BASE_FORM = AUXILIARIES - BE - {"have", "has", "had"} | {"to"}
ARTICLES = _set("the a an its their his her")
SUBORDINATORS = _set(
    "while whereas although though because unless if when whenever before after until till once who which whose "
    "where but so since against"
)
CONJUNCTIONS = _set(
    "and or but nor yet so if unless because although though while whereas whether that since when whenever "
    "once as until till before after however therefore thus hence"
)
ADVERBS = _set(
    "not n't never also too very just even still already again only ever then now soon often always usually "
    "sometimes almost nearly about roughly around approximately quite rather instead perhaps maybe possibly "
    "probably together away back else well much far long ago merely simply however therefore namely yet so "
    "meanwhile as according due because each"
)
FUNCTION = DETERMINERS | PREPOSITIONS | PRONOUNS | AUXILIARIES | CONJUNCTIONS | ADVERBS
LIGHT = FUNCTION | _set("make take go come give put way thing kind sort lot bit part such do have be see set")

# Past forms and participles -> base form.
_IRREGULAR = """arise arose arisen|awake awoke awoken|bear bore borne born|beat beaten|become became|begin began begun
bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought
build built|burn burnt|buy bought|catch caught|choose chose chosen|come came|creep crept|deal dealt|dig dug
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought
find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen
give gave given|go went gone|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
know knew known|lay laid|lead led|learn learnt|leave left|lend lent|light lit|lose lost|make made|mean meant|meet met
pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent
shake shook shaken|shine shone|shoot shot|show showed shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat
sleep slept|slide slid|speak spoke spoken|spend spent|spring sprang sprung|stand stood|steal stole stolen|stick stuck
strike struck stricken|swear swore sworn|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
tell told|think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn|win won
withdraw withdrew withdrawn|withhold withheld|wind wound|write wrote written|weave wove woven
overtake overtook overtaken
undergo underwent undergone|overthrow overthrew overthrown|retell retold|rebuild rebuilt|do did done|have had has
cut cuts|put puts|set sets|shut shuts|let lets|hit hits|hurt hurts|cost costs|spread spreads|burst bursts|quit quits
die dying dies died|lie lying lies|tie tying ties|man men|woman women|child children|person people persons|foot feet
tooth teeth|mouse mice|goose geese|life lives|wife wives|half halves|loaf loaves|leaf leaves|wolf wolves
good better best|bad worse worst
death dead|lose loss losses|grow growth|weigh weight|choose choice|arrive arrival|sell sale sales
live alive|die death deaths|fly flight flights|marry marriage|speak speech|sit seat|long length|wide width|high height
deep depth|strong strength|true truth|hot heat|young youth|prove proof|believe belief|save safe safety|give gift"""


@cache
def irregular() -> dict[str, str]:
    """Irregular forms -> base form."""
    rows = (row.split() for line in _IRREGULAR.splitlines() for row in line.split("|"))
    return {form: base for base, *forms in rows for form in forms}


IRREGULAR_PAST = _set(
    "beat cut hit let shut arose became began bent bound bit bled blew broke brought built burnt bought caught "
    "chose came crept dealt dug drew drank drove ate fell fed felt fought found fled flew forbade forgot froze "
    "gave went grew hung heard hid held kept knew laid led left lent lit lost made meant met paid rode rang "
    "rose ran said saw sought sold sent shook shone shot showed shrank sang sank sat slept slid spoke spent "
    "sprang stood stole stuck struck swore swam swung took taught tore told thought threw understood woke wore "
    "won withdrew withheld wove wrote overtook underwent rebuilt"
)

PARTICLE_VERBS = {
    ("turn", "down"): "reject", ("vote", "down"): "reject", ("call", "off"): "cancel", ("put", "off"): "delay",
    ("go", "up"): "rise", ("go", "down"): "fall", ("come", "down"): "fall", ("bring", "down"): "lower",
    ("give", "up"): "abandon", ("rule", "out"): "exclude", ("carry", "on"): "continue", ("go", "on"): "continue",
    ("turn", "up"): "arrive", ("set", "up"): "found", ("take", "on"): "hire", ("lay", "off"): "dismiss",
    ("hold", "back"): "withhold", ("shut", "down"): "close", ("close", "down"): "close", ("pull", "down"): "demolish",
}  # fmt: skip

# Negation. The first stand for "not" themselves, the second deny what depends on them.
NEGATORS = _set(
    "no not never nor neither without nobody none nothing nowhere cannot hardly scarcely barely little rarely "
    "seldom instead"
)
IMPLICIT_NEGATION = _set(
    "fail refuse lack deny prevent avoid decline forbid prohibit refrain neglect unable absence impossible "
    "unlikely reject omit exclude void"
)
QUANTIFIED_NEGATION = _set("little nobody none nothing neither nor nowhere")
HOLDING_BACK = _set("keep stop bar ban block discourage deter dissuade save")
AFFIRMED_OTHERWISE = _set(
    "until till before only unless too instead wait rather except less fewer least alone free away bar ban "
    "close shut stop lose miss exempt spare out remain stay cease same equal unchanged constant steady"
)
LASTING = _set("remain stay")
NOT_BEFORE = {"little": ("a", "the", "as"), "not": ("or", "if", "whether")}  # words that undo a negator behind them
LIMITS = _set("until till before after only once when")  # "not until then" is "only after that"
NOT_BOUNDS = _set("only more less fewer later earlier least doubt just merely sooner")

# Opposites: in each line every word on the left denies every word on the right.
_OPPOSITES = """rise increase grow climb gain soar jump expand raise boost surge swell mount - fall decrease drop decline shrink lower reduce cut slump plunge dwindle dip sink halve slip slide tumble ebb
improve better recover strengthen relieve ease alleviate soothe - worsen worse deteriorate weaken decay aggravate
accept approve back support endorse adopt welcome uphold ratify sign confirm favour - reject refuse oppose veto decline dismiss overturn quash condemn
win beat defeat triumph victory - lose loss
allow permit let authorise authorize free entitle - ban forbid prohibit bar prevent block outlaw illegal
open reopen - close shut
begin start launch resume restart commence - end stop finish cease halt suspend close
succeed manage - fail failure
keep retain - abandon scrap lose drop
include contain - exclude lack omit
add - remove subtract
arrive enter - depart leave exit
early earlier - late later
young - old elderly
large big great huge larger bigger - small tiny little smaller
high higher - low lower
long longer lengthen - short shorter shorten
fast quick rapid faster quicker accelerate - slow slower
hot warm heat - cold cool
wet - dry
strong stronger firm - weak weaker
cheap cheaper - expensive costly
heavy heavier - light lighter
safe - dangerous unsafe hazardous
easy easier simple - hard difficult harder
good better - bad worse poor
same equal alike identical - different differ vary
alone separate apart - together jointly
guilty convict - innocent acquit
confirm admit acknowledge - deny refute
praise - criticise criticize
present - absent missing
male males man men - female females woman women
north northern - south southern
east eastern - west western
upper top - lower bottom
following next subsequent - previous preceding same
more - less fewer
many majority most - few minority
always often frequent usually - never rarely seldom
build construct erect - demolish destroy dismantle
survive live - die perish
remember recall - forget
protect - harm damage endanger
true - false
full - empty
thick thicker - thin thinner
wide broad wider - narrow narrower
deep deeper - shallow
above - below
inside indoors - outside outdoors
profit surplus - loss deficit
import - export
delay postpone - advance hasten
extend lengthen - shorten curtail cut
employ hire appoint recruit - sack dismiss
rural - urban
public - private
first - last
next - last previous
old older oldest - new newer newest young younger youngest
encourage urge - discourage deter
attract - repel
trust - distrust
maximum - minimum
day daytime - night
morning - evening
summer - winter
spring - autumn
same equal unchanged alike - less more fewer differ different unequal
rich - poor
stop quit cease halt end suspend - continue persist proceed resume
pale paler light lighter bright brighter - dark darker dim dimmer
soft softer - hard harder
loud louder noisy - quiet quieter silent
sweet sweeter - sour bitter
clean cleaner - dirty dirtier
smooth smoother - rough rougher
healthy healthier - sick ill
friend ally - enemy rival opponent
upstream - downstream
inner - outer
senior - junior
ancient old - modern recent
major - minor
abroad - home domestic
optimistic confident - pessimistic doubtful
hide conceal - reveal disclose
publish print release - withhold suppress
pass - fail"""  # noqa: E501


@cache
def opposites() -> dict[str, frozenset[tuple[int, bool]]]:
    """Base form -> the pairs of opposites that it belongs to, each with its side."""
    found: dict[str, set[tuple[int, bool]]] = {}
    for n, line in enumerate(_OPPOSITES.splitlines()):
        for side, words in zip((False, True), line.split(" - "), strict=True):
            for word in words.split():
                found.setdefault(word, set()).add((n, side))
    return {word: frozenset(places) for word, places in found.items()}


BOTH = _set("both neither either pair couple twin twins two")

# Who says or thinks it. Verbs of finding and showing are not here: what somebody found is a fact to the reader.
SPEECH = _set(
    "say claim argue believe allege contend insist accuse deny expect suspect think estimate warn predict hope "
    "fear suggest propose assert maintain complain promise blame assume guess speculate doubt recommend urge "
    "advise report announce state declare describe call consider regard tell credit attribute ascribe reckon "
    "hint boast testify swear acknowledge admit concede confess want plan intend forecast dispute reject "
    "question explain add note feel praise criticise criticize worry calculate fancy imply confident convinced "
    "optimistic sceptical skeptical adamant unsure dismiss remember recall anticipate"
)
ASSERTION = SPEECH - _set(
    "want plan intend call consider regard put feel praise criticise criticize reject describe explain add note "
    "report announce state declare tell question remember recall calculate dismiss acknowledge admit concede "
    "confess promise urge advise recommend"
)
HEARSAY = _set(
    "legend myth rumour rumor gossip tradition allegedly reportedly supposedly apparently purportedly "
    "ostensibly hearsay legends myths rumours rumors anecdote folklore superstition alleged supposed purported "
    "reputed reputedly"
)
OPINION = _set("view opinion eyes account belief words judgement judgment estimate accusation allegation claim version")

SPEECH_WITH_THAT = _set("hold feel view charge note find calculate")  # "hold that"
ANYBODY = _set("expert official source author observer people report study researcher scientist one other article")

# Strength of a claim.
HEDGES = _set(
    "may might could perhaps possibly probably maybe likely appear appears appeared seem seems seemed seemingly "
    "suggest suggests suggested apparently arguably presumably potentially conceivably usually sometimes often "
    "generally typically mostly mainly partly largely occasionally tends tend tended suspected expected planned "
    "proposed believed thought possible probable potential tentative preliminary almost nearly"
)
INTENTION = _set(
    "intend plan aim hope want propose seek try attempt consider threaten offer promise wish prepare talk bid "
    "proposal effort"
)
SOFTENED = HEDGES | _set(
    "can able allow permit entitle free let would should suspect think believe expect plan propose consider "
    "hope aim intend want estimate some many most normal common commonly frequently main chief primarily "
    "regularly occasional will seek try attempt wish prepare due offer threaten negotiate discuss talk rarely "
    "seldom reckon indicate hint promise"
)
PARTIAL = _set("some few several certain many most selected part half majority minority number various handful lot")
PARTIAL_KEPT = PARTIAL | _set("among these those one two three majority minority mostly partly often sometimes")
SOME = _set("some few several most many certain")
DEGREES = _set("more less how as so too")
FUTURE = _set("will would shall to should")
PAST = IRREGULAR_PAST | _set("was were had did")
UNCHANGED_PAST = _set("cut hit let shut beat")
AT_ALL_TIMES = _set("always invariably")
AT_ALL_TIMES_LICENCE = _set("never every all each no")
ALL = _set("all every each everyone everybody everything always whole entire entirely both invariably universally")
ALL_LICENCE = ALL | _set(
    "any full fully no none never neither nobody complete completely throughout total nothing nowhere"
)
RESTRICTIVE = _set("if unless provided providing except only")
RESTRICTED = RESTRICTIVE | _set(
    "when whenever once where whose with without must need require otherwise depend subject limited limit until "
    "while whether before after those condition long case who which that having during given under else alone "
    "exclusively solely just barring apart save needs confined restricted not unable but"
)
UNCONDITIONAL = _set("regardless irrespective whatever anyway")
IFS = _set("if unless provided providing once when whenever where long")
NARROWING = _set("that who with without over under above below aged")
DEFINITE = _set("the these those its their his her whose")
BEFORE_A_GROUP = _set("in among for at with under on within outside without")
PEOPLE = _set(
    "child adult patient person woman man mouse rat infant baby smoker volunteer participant pupil student "
    "employee worker firm company animal dog cat cow calf boy girl teenager household customer member resident "
    "voter driver plant sample cell dose trial test case condition temperature area region country city field "
    "school"
)

TRANSFER = _set(
    "buy purchase lease rent borrow receive inherit get obtain acquire order import learn hear steal take hire accept"
)
LEADING = _set("lead contribute amount")  # with "to": to cause

COMPARING = _set("more less fewer later earlier higher lower longer shorter older younger than")

# Order in time.
BEFORE = _set("before until till prior")
AFTER = _set("after once following since")
BOUNDS = _set("before after until till since")
LATER = _set("later afterwards afterward then subsequently next thereafter eventually")
TIME_SIDE = {
    "before": "before", "until": "until", "till": "until", "since": "after", "after": "after", "by": "before",
    "from": "after", "on": "at", "in": "at", "at": "at", "during": "at", "following": "after",
}  # fmt: skip
DAYS = _set("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = _set("january february march april may june july august september october november december")
SEASONS = _set("spring summer autumn winter easter christmas")

TITLES = _set("mr mrs ms dr sir saint st professor prof lord lady president minister queen king judge captain")

ENDINGS = _set(
    "until till before by end stop cease close finish last abolish withdraw shut die resign leave replace "
    "repeal lift to through demolish destroy burn"
)

# Numbers.
_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_UP_TO_TWENTIETH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
CARDINALS = {w: n for n, w in enumerate(_UP_TO_NINETEEN.split())} | {
    w: 10 * n for n, w in enumerate(_TENS.split(), start=2)
}
SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
ORDINALS = {w: n for n, w in enumerate(_UP_TO_TWENTIETH.split(), start=1)}
_TENTHS = dict(thirtieth=30, fortieth=40, fiftieth=50, sixtieth=60, hundredth=100, thousandth=1000)
FRACTIONS: dict[str, int] = (
    {"half": 2, "third": 3, "quarter": 4} | {w: n for w, n in ORDINALS.items() if n > 3} | _TENTHS
)
NO_FRACTION = {  # what stands behind "half" and "quarter" that are no fractions
    "half": ("time", "year", "way", "century", "and", "a", "an"), "quarter": ("century", "finals"),
}  # fmt: skip
HALF_OF_A_MATCH = _set("first second other last the per -")
MULTIPLES: dict[str, float] = {
    "once": 1, "twice": 2, "thrice": 3, "double": 2, "doubled": 2, "doubles": 2, "doubling": 2, "twofold": 2,
    "treble": 3, "trebled": 3, "triple": 3, "tripled": 3, "threefold": 3, "quadruple": 4, "quadrupled": 4,
    "fourfold": 4, "tenfold": 10, "halved": 0.5, "halve": 0.5, "halves": 0.5, "halving": 0.5,
}  # fmt: skip
# Unit -> dimension and size in the dimension's base unit.
UNITS: dict[str, tuple[str, float]] = {
    "second": ("time", 1 / 86400), "minute": ("time", 1 / 1440), "hour": ("time", 1 / 24), "day": ("time", 1),
    "week": ("time", 7), "fortnight": ("time", 14), "month": ("time", 30.4375), "year": ("time", 365.25),
    "decade": ("time", 3652.5), "century": ("time", 36525), "millennium": ("time", 365250),
    "microgram": ("mass", 1e-6), "milligram": ("mass", 1e-3), "gram": ("mass", 1), "kilogram": ("mass", 1e3),
    "kilo": ("mass", 1e3), "tonne": ("mass", 1e6), "ton": ("mass", 1e6), "mg": ("mass", 1e-3), "kg": ("mass", 1e3),
    "µg": ("mass", 1e-6), "mcg": ("mass", 1e-6), "ounce": ("mass", 28.35),
    "nanometre": ("length", 1e-9), "micrometre": ("length", 1e-6), "millimetre": ("length", 1e-3),
    "centimetre": ("length", 1e-2), "metre": ("length", 1), "kilometre": ("length", 1e3), "mile": ("length", 1609.34),
    "inch": ("length", 0.0254), "foot": ("length", 0.3048), "yard": ("length", 0.9144), "km": ("length", 1e3),
    "cm": ("length", 1e-2), "mm": ("length", 1e-3), "nm": ("length", 1e-9), "league": ("length", 4828),
    "millilitre": ("volume", 1e-3), "litre": ("volume", 1), "ml": ("volume", 1e-3), "gallon": ("volume", 4.546),
    "hectare": ("area", 1e4), "acre": ("area", 4046.86),
    "byte": ("data", 1), "kilobyte": ("data", 1e3), "megabyte": ("data", 1e6), "gigabyte": ("data", 1e9),
    "terabyte": ("data", 1e12), "mb": ("data", 1e6), "gb": ("data", 1e9), "tb": ("data", 1e12),
    "watt": ("power", 1), "kilowatt": ("power", 1e3), "megawatt": ("power", 1e6), "gigawatt": ("power", 1e9),
    "kw": ("power", 1e3), "mw": ("power", 1e6), "gw": ("power", 1e9),
    "volt": ("tension", 1), "millivolt": ("tension", 1e-3), "kilovolt": ("tension", 1e3),
    "hertz": ("frequency", 1), "kilohertz": ("frequency", 1e3), "megahertz": ("frequency", 1e6),
    "dollar": ("dollar", 1), "euro": ("euro", 1), "pound": ("pound", 1), "crown": ("crown", 1), "franc": ("franc", 1),
    "cent": ("dollar", 0.01), "penny": ("pound", 0.01),
    "degree": ("degree", 1), "°": ("degree", 1), "percent": ("share", 0.01), "%": ("share", 0.01),
    "point": ("points", 1), "times": ("times", 1), "time": ("times", 1), "fold": ("times", 1),
}  # fmt: skip
FREQUENCIES = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year",
               "annually": "year", "annual": "year", "nightly": "day", "fortnightly": "fortnight"}  # fmt: skip
AT_MOST = ("up to", "at most", "less than", "fewer than", "under", "below", "no more than", "not more than", "maximum",
           "as long as", "as much as", "as many as", "no longer than", "younger than", "not exceed", "no later than",
           "just under", "almost", "nearly", "within")  # fmt: skip
AT_LEAST = ("at least", "more than", "above", "over", "no fewer than", "no less than", "not less than", "minimum",
            "exceeds", "exceeded", "older than", "longer than", "just over", "beyond", "upwards of")  # fmt: skip
NOT_LESS = ("no fewer than", "no less than", "not less than", "not fewer than")
OR_LESS = frozenset({"or less", "or fewer", "or younger", "or earlier", "or shorter", "at most"})
OR_MORE = frozenset({"or more", "or older", "or later", "or longer", "or above", "or over", "at least"})
