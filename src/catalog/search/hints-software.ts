/** Software: files, code, services, browsers, charts; and the verbs of requests. `tool words: people's words`, see thesaurus.ts. */
export const softwareHints = `
# Files and text
file+filesystem: disk disc path attachment txt md log locally
directory+folder: subfolder path tree contents ls mkdir
read+contents+get: open view cat look display print
write+save+create: store put output jot persist dump note
write+file: save
move+rename: relocate
list+directory: files folders inside ls
search+find: grep locate lookup look hunt seek discover
edit+replace: substitute change fix correct tweak
diff+compare: changes changed differ differences between versus vs
metadata+info+stat: size modified owner permissions exif
encode+decode: base64 hex
compress+zip+archive: gzip tar pack shrink
extract: pull grab parse scan get obtain
convert: turn transform change export into format
merge+combine: join concatenate append together
translate+translation+language: spanish french german chinese japanese korean italian portuguese russian arabic english hindi foreign
summarize+summary: tldr recap condense gist overview digest shorten brief key_points boil
grammar+polish+rewrite: proofread paraphrase reword rephrase improve wording tone
writing+copywriting: essay article blog draft author compose slogan tagline catchy copy paragraph cover_letter
ocr+extract+text: scanned handwriting handwritten scan recognize recognise
pdf+document: paper ebook brochure whitepaper manual scanned
document+word: report letter memo paragraph heading contract essay thesis
spreadsheet+excel+sheet: cell cells column columns rows xls xlsx csv workbook table pivot
presentation+slide+powerpoint: deck pitch keynote ppt pptx talk
note+notes: jot memo write_down journal diary notebook reminder
notebook: jupyter pandas dataframe
qr: qrcode barcode scannable
word+count: words characters length
file+upload: attach
# Code and services
repository+repo: codebase project source
pull_request+merge_request+pull+merge: pr mr
pull+request: merge_request mr pr
merge+request: pull_request pr mr
diff+changes+files: patch modified lines
commit: changes history changeset pushed revision
commit+history+log: past
blame: who wrote changed line author
branch: feature line fork
fork: copy
clone: copy download checkout
stash: shelve
revert+reset: undo roll_back discard
rollback: undo revert previous_version roll_back
status+checks: ci green passing build failing
pipeline+build+ci: job workflow run broke broken green red
pipeline+job+retry: rerun again
build: compile make compilation compiled xcode
test+tests: unit spec flaky suite failing coverage
coverage: covered tested
simulator+sim: iphone ios ipad emulator swift app
device: phone iphone android tablet mobile ipad
app+launch: open start
release: version tag publish changelog
deploy+deployment: ship push_live publish release rollout go_live production host launch
rerun+retry: again repeat restart
restart+reboot: power_cycle reset turn_off turn_on bounce
reboot: restart
stop+terminate: kill shutdown shut_down turn_off quit power_off
start+launch: boot turn_on power_on spin_up
scale+replicas: bigger larger more capacity instances
resize: bigger larger smaller upgrade dimensions
droplet+server: vm machine instance virtual_machine host box
server: machine host box vps
snapshot+backup: back_up copy image restore
backup: back_up save safe
restore: recover bring_back undelete
kubernetes+kubectl: k8s cluster pod deployment namespace helm node
pod: container
helm+chart: install upgrade package
port+forward: expose localhost tunnel local reach
logs+log: output stdout error crash trace tail console
exec+command: shell run terminal bash inside
command+shell+terminal+process: bash cmd script powershell sh execute cli wget curl
ssh+server: remote login machine
docker+container: image compose
secret: credential password key token env hidden
variable+environment: env config setting
permission+access: role allow rights grant share forbid
permission+member: share collaborator invite access
token+key: credential apikey auth
firewall: block port ip traffic rule inbound
dns+record+domain: hostname nameserver cname subdomain
domain+whois: registered registrar available website owner url
certificate+ssl: https tls expire cert
ip+address: geolocation lookup
worker: serverless function edge script
function+serverless: lambda faas
cron+schedule+trigger: every nightly hourly recurring periodic weekly daily timer
queue: message job backlog
cache+purge: clear stale flush invalidate
bucket+storage+object: s3 r2 blob file upload store
key+value+kv: store lookup cache
database: db sql postgres mysql sqlite mongo table records data
sql+query: database select rows table records db postgres mysql orders customers statement join
query+find+aggregate: records documents filter count group
aggregate: group average total sum statistics per
insert: add new record row
collection: table documents
schema+describe: columns fields structure types table definition
index: search fast slow lookup vector
explain: slow plan performance
migration: schema alter upgrade
connection+string: connect url credentials
vector+index: embedding semantic similarity rag
rerank: relevance order sort
record+records: row entry item table
field+column: property attribute
workflow: automation automate flow zap integration
automation: automate connect apps
template: boilerplate starter example
webhook: callback notify event
mock+server: fake stub simulate
api+request: endpoint rest http call
http+request+network: calls fetch ajax xhr made
api+documentation+docs: reference how_to guide manual usage
documentation+docs+library: manual guide reference usage how_to sdk package framework example
library: package framework module sdk
package+npm: dependency library module version node
dependency: package requires depends vulnerable
component: button dialog card widget ui input dropdown
design+figma: layout mockup wireframe ui sketch prototype
icon: symbol glyph pictogram
error+issue+event: crash exception bug stack stacktrace failure broke incident failing
crash: exception error
replay: session recording
profile+performance: slow flamegraph bottleneck cpu
performance+trace: slow speed load fast lag
performance+audit+lighthouse: accessibility speed seo score page
monitor: watch track uptime changes alert
metrics+analytics: traffic visitors statistics usage numbers visits stats kpi
dashboard: overview panel
cost+billing+usage: spend bill price expensive
security+threat: vulnerability hack attack malware suspicious scan
vulnerability+scan: security threat hacked exploit audit
breach+credential: leaked hacked exposed compromised password
password: login credential
code: programming program script developer snippet software function algorithm coding
code+search: source usage reference
app+builder: build develop create make mobile android ios
website+builder+deploy: webpage site landing create publish build
wordpress+post: blog
sql: query database
math+calculate+calculator: add multiply divide subtract sum percentage percent equation formula compute arithmetic solve bmi square_root
calculator: calculate compute percentage bitwise shift
random+dice: roll coin flip toss
time+timezone: clock now hour date today zone
# Web
search+web: google internet online look_up browse bing duckduckgo lookup sources find
web+search: internet online google question answer
web: internet online
scrape+extract+web: crawl content page website grab text
crawl: whole_site entire pages all_pages spider
map+sitemap: urls links pages site
fetch+url: link download webpage page http html content
webpage+page: website site url link
browser: page tab site chrome firefox website
navigate: open go visit url browse
screenshot: capture picture image snapshot screen photo
console: javascript errors messages log warnings
evaluate+script: javascript js run execute
fill+form: type enter input text field
click: press tap button push
hover: mouse pointer over
select+option: dropdown choose pick
dialog: popup alert confirm
upload: attach send
tab: window page
scroll: swipe down
cookie+storage: session login
research: report in_depth deep investigate thorough sources study
research+report: in_depth comprehensive
seo: ranking google traffic visibility keyword serp backlink optimize rank search_engine
keyword: search_term phrase hashtag
traffic: visitors visits
website+performance: slow speed traffic
web+archive: old version past wayback
ad+advertising: campaign promote advertisement facebook banner adwords ppc advert
marketing: promote campaign brand outreach leads audience banner flyer promotional
marketing+visual+design: banner poster flyer graphic social
logo+brand: company colors fonts
social: twitter tweet instagram facebook post follower hashtag tiktok reddit influencer
tweet: twitter x
post: publish share submit
trending+trend: popular hot viral top
video: youtube clip film movie watch mp4 footage vlog
video+summarize: youtube
video+generate: create make
transcript: subtitle caption words said spoken speech
podcast: episode listen audio show host
image: picture photo png jpg jpeg photograph illustration pic drawing painting portrait visual
image+generate: draw paint create art
image+edit: filter crop background resize enhance retouch
image+search: photos pictures stock_photo
gif: animated reaction
meme: funny joke humor
audio+speech+tts: voice read_aloud spoken speak narration sound listen pronounce
audio: sound mp3 wav recording
3d+asset: model mesh texture
# Charts
chart: graph plot visualize visualise draw diagram trend figure
line+chart: trend over_time growth
pie+chart: share proportion percentage breakdown
bar+chart+column: compare ranking
scatter: correlation relationship
histogram: distribution frequency
flow+diagram: process steps flowchart
network+graph: relationship connections nodes
organization+chart: hierarchy reporting org_chart team
fishbone: cause root causes
sankey: flow
radar: skills dimensions
word+cloud: frequent words text
map+pin: locations places markers
diagram: flowchart architecture uml draw
# Verbs and shapes of requests
create: make new set_up setup build start generate compose
generate: make produce create build
add: put include attach append insert
delete+remove: drop erase get_rid clear trash wipe destroy kill cancel
update: change modify edit set adjust fix alter mark
list: show all see browse enumerate
get: fetch show read see view retrieve check
get+details: info about more
search: find look lookup
describe: details explain show
count: how_many number total
download: save fetch export
enable: turn_on activate
disable: turn_off deactivate
rename: name title change
copy+duplicate: clone
share: give send invite
connect: link join attach
subscribe: follow watch
archive: hide close
`;
