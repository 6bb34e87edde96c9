/** What people say for the things that clouds, code hosts, databases, browsers and work apps handle. Written from the tools' texts alone. `tool words: people's words`, see thesaurus.ts. */
export const platformHints = `
# Source control
repository: repo codebase project source_code
commit: save check_in snapshot revision change message
commit+changes: save check_in record
stage+add: index include next_commit track
push: upload publish send remote
pull: download update latest bring sync
fetch+remote: download update latest
branch: feature line version
checkout: switch change_branch go_to
merge+branch: combine join integrate
merge+conflict: clash collide overlapping
rebase: replay onto linear history
cherry+pick: backport single one
diff: changed difference changes what_changed compare modifications
log: history past commits timeline
blame: author who responsible introduced line
stash: set_aside put_aside shelve wip save unfinished
reset: unstage undo discard
clean: junk untracked leftover tidy
tag: version mark release
reflog: lost recover
worktree: parallel checkout directory
remote: origin upstream server
init: new start create begin
fork: personal own copy
pull+request: pr merge_request patch contribution proposed review
pull+request+files: changed modified touched diff
pull+request+status: checks passing green ready mergeable
pull+request+review: approve feedback reviewer request_changes
merge+request: mr pr patch contribution proposed review
merge+request+note+discussion: comment feedback reply remark thread
issue: bug ticket problem task report defect story
issue+note: comment remark
issue+link: related blocks dependency connection
award+emoji: reaction thumbs like
milestone: deadline goal target
label: tag category mark
protected+branch: lock guard restrict prevent
code+search: snippet usage where_used occurrences
file+contents: source code view read
pipeline: ci build run checks
pipeline+schedule: nightly cron recurring timer
pipeline+trigger: start kick_off webhook
pipeline+job: step task stage
job+artifact: output file result binary build_output
job+trace: log output console
ci+lint: yaml valid syntax check config
deployment: release rollout live shipped
environment: staging production live dev
namespace: group space owner
project+event: activity happened
todo: inbox notification pending
wiki+page: docs documentation article knowledge handbook
snippet: gist paste code
release: version changelog notes
webhook: callback hook notify
# Builds, tests, errors
build+failure: broken failed why red error
flaky+test: intermittent unreliable random sometimes inconsistent
test+result: pass fail failed passed outcome
coverage: tested percentage untested lines
resource+class: machine size oversized cpu ram waste
build+setting: compiler flag configuration
simulator: emulator virtual iphone phone device
scheme: target configuration
bundle+id: identifier package
crash: died closed exception
error+event: exception bug failure stack
release+error: version regression
dsn: key client endpoint sdk connect
replay: session recording watch user
root+cause: why reason explanation
profile: performance slow flamegraph cpu
issue+analyze: why root_cause explain fix
# Clouds
virtual+machine: vm server instance box computer host
droplet: vm server instance box computer host machine
droplet+create: launch spin_up new provision
droplet+resize: bigger upgrade memory cpu scale
droplet+power+cycle: restart hard_reset
droplet+kernel: os linux
rebuild+droplet: reinstall fresh wipe
image: snapshot template os
size: plan tier cpu memory pricing
reserved+ip: static permanent fixed floating address
byoip+prefix: own address range block
vpc+peering: connect link networks
vpc: private network isolated
private+network+net: internal lan
load+balancer+lb: traffic spread distribute
forwarding+rule+fwd: port traffic route
firewall: open block port inbound outbound security rule
certificate: ssl tls https secure
cdn+endpoint: cache edge content
domain+record: dns cname mx txt subdomain a_record
domain: website hostname url dns
app: website application service site
app+spec: yaml definition configuration
db+cluster+database: postgres mysql redis managed
db+cluster+config: setting tune parameter
replica: read_only copy standby
topic+kafka: stream message
connection+pool: pooling connections
maintenance+window: update time when upgrade
backup: copy snapshot restore safe
kubernetes+aks: k8s cluster containers
container+registry+acr: docker images
container+app: serverless docker
app+service: web website hosting
function: serverless lambda code
storage+blob: file object upload bucket
key+vault: secret password certificate key
cosmos: nosql document database
sql: database query table relational
redis: cache memory
service+bus+queue: message topic
event+hub: stream ingest telemetry
event+grid: event subscription topic
kusto: data_explorer kql analytics
monitor: metric log alert query
application+insights: telemetry tracing apm
grafana: dashboard visualise
workbook: dashboard report visual
signalr: realtime websocket
communication: sms email text phone send
app+configuration+appconfig: feature_flag setting key_value
confidential+ledger: tamper proof immutable blockchain
device+registry: iot sensor asset
lustre: hpc parallel file_system
virtual+desktop: remote session host vdi
file+share: smb nfs network drive
storage+sync: file server replicate
policy: compliance rule governance
role+assignment: rbac access permission who
quota: limit available region capacity vcpu
pricing: cost price how_much expensive rate retail
advisor: recommendation optimise save improve
migrate: move on_premises landing_zone
marketplace: product offer vendor
load+testing: stress performance users
architecture: design system diagram
best+practice: guideline recommended secure
terraform: infrastructure iac hcl
bicep: infrastructure iac template schema
cli+generate: command az line write
cli+install: command az tool
subscription: account billing azure
resource+group: container folder azure
foundry: model agent openai llm ai
speech: voice transcribe talk audio microphone synthesize
search+index: documents query full_text
service+fabric: cluster node microservice
resource+health: outage available down
compliance+quick+review: security posture assessment
# Edge and storage services
worker: serverless edge function script javascript
worker+deploy: publish upload ship
kv: key_value pair store cache
kv+put: save store write
r2+bucket: object storage file blob
r2+object: file blob upload download
d1: sqlite sql database
durable+object: state persistent
alarm: timer wake scheduled
queue: message job background async
queue+visibility: timeout hide processing
dispatch+namespace: platform tenant multi_tenant
custom+domain: own hostname
service+binding: connect worker call another
env+var: environment variable setting config
secret: password token credential sensitive api_key hidden
route: url pattern path traffic
cron+trigger: schedule timer every hourly nightly periodically
zone: domain site dns
version+rollback: previous earlier revert undo
analytics: traffic visitors requests statistics
text+generation: llm chatbot prompt answer
image+generation: draw picture ai
embedding: vector semantic
wrangler+config: settings toml
# Kubernetes and containers
pod: container instance workload
logs+pod: output stdout print crash
scale: more fewer replicas instances bigger
rollout: restart undo progress
helm+chart: package install release
node: machine host worker cordon drain
port+forward: localhost tunnel expose
exec+pod: shell command inside run
context: cluster switch environment
apply: manifest yaml create
api+resource: kinds types
# Data
database: db data store
collection: table documents
document: record row entry item
find+documents: query search lookup filter
aggregate: group sum average statistics pipeline total report
index: faster slow speed
create+index: speed_up faster slow
drop: delete remove destroy
schema: structure columns fields shape layout
storage+size: space disk large big
explain: plan slow why performance
db+stats: statistics size
connection+string: uri url connect credentials
connect: login attach link
access+list: whitelist ip allow
atlas+alert: warning notification problem
stream+processing: kafka realtime event
performance+advisor: slow suggestion
branch+database: copy isolated test
migration: schema alter change
transaction: several statements atomic
provision+auth: login sign_in users
indices: indexes
shard: partition distribution
mapping: fields schema types
upsert: insert save store add
vector+index: embeddings semantic similarity
rerank: relevance order best_match
cascading+search: across several combined
record: row entry item line
field: column attribute property
base: database workspace
table: sheet grid list
sample: demo example test
# API collections
collection: requests folder group endpoints
collection+run: test execute
collection+fork: copy own
mock: fake stub dummy simulate server
mock+server+response: fake reply
monitor: scheduled check uptime run
spec: openapi swagger definition contract schema
sdk: client library package generate
environment: variables staging configuration
global+variable: everywhere shared
workspace: space team area shared
workspace+role: permission access
private+network: internal api catalogue
folder: group directory section
request: call endpoint http
documentation+publish: public docs
secret+detected: leaked exposed credential
tag: label keyword
async+task: progress finished background
component: reusable building_block
partner: external guest outside
learning+center: tutorial how_to help
package: library script
# Work apps
board: kanban columns project
list+board: column lane stage
card: task ticket item
card+checklist: subtasks steps to_do
checklist+item: step subtask tick
acceptance+criteria: definition_done requirement
custom+field: extra property
channel: room group conversation
channel+history: messages conversation recent said
post+message: send write say tell announce
thread+reply: respond answer
user+profile: person contact title email
page: document article note wiki
block: paragraph text content section
data+source: database table
comment: feedback remark discuss
people: users members teammates
contact: customer person client supplier lead address_book
company: organisation account business
deal: sale opportunity
engagement: call note meeting task log
association: link relation connect between
object: contacts companies deals tickets record
property: field attribute custom
workflow: automation process flow sequence
feedback: complaint suggestion
invoice: bill charge customer owe due
bill: invoice supplier payable
quote: estimate offer proposal
credit+note: refund reduce
payment: paid pay settle received
item: product stock sku inventory
bank+transaction: spend received deposit money
manual+journal: adjustment accounting entry debit credit
trial+balance: accounts totals ledger
balance+sheet: assets liabilities financial position
profit+loss: income statement earnings expenses revenue performance
aged+receivables: owe owed late overdue customers outstanding
aged+payables: owe owed bills suppliers outstanding
tax+rate: vat gst sales
tracking+category: department region cost_centre
payroll+employee: staff worker hire
leave: vacation holiday time_off absence sick
leave+balance: remaining left days
leave+type: kinds vacation sick
timesheet: hours worked time
accounts: chart ledger codes
contact+group: segment category
organisation+detail: company about business
task: todo work job item
subtask: smaller step part
dependency: blocks blocked before prerequisite
complexity: difficult hard effort
expand: break_down split smaller
parse+prd: requirements spec tasks
next+task: begin pick focus
scope+down: simpler easier reduce
scope+up: harder deeper
request+planning: new plan
rules: guideline assistant
chat: conversation group message
chat+members: participants people who
permission+member: share collaborator grant
bitable: base table records
wiki+node: page article space
document+content: text body read
datatable: table rows store
credential: login api_key secret account
execution: run history result
template+workflow: ready_made example
node: step action integration
autofix: repair errors broken
validate+workflow: errors correct problems
# Browsers, devices, pages
navigate: go visit open url load site browse
go+back: previous return earlier
go+forward: next
click: press tap push button
double+click+tap: twice
long+press: hold
hover: mouse over tooltip
fill: enter type input text field
fill+form: enter type fields sign_up submit
type+text: keyboard enter write input
press+key: keyboard enter escape tab shortcut hit
press+button: home volume back hardware
select+option: dropdown choose pick menu
drag: move drop slide
upload+file: attach choose
scroll+swipe: slide flick down up
screenshot: picture capture image photo snap look_like screen
snapshot: accessibility tree structure elements content
pdf: print save document
console+message: log error warning javascript
network+request: api call traffic ajax http
evaluate: javascript script run code execute
dialog: alert popup confirm prompt
resize: window viewport bigger dimensions width
emulate: mobile offline throttle slow dark_mode geolocation
user+agent: browser identity pretend
visible+text: page words content
html: source markup dom
css+style: look colour font
tab+page: window
close+page+browser: quit exit shut
lighthouse+audit: quality accessibility seo score
performance+trace: slow load speed record timing
heap+snapshot: memory leak
screencast+recording: video film capture
codegen: record generate test script
iframe: embedded frame nested
cookie: session
app+launch: open start run
app+terminate: close kill quit
app+install: put add
device: phone tablet iphone android
orientation: rotate landscape portrait sideways
clipboard: copy paste
location: gps position fake
elements+screen: buttons ui visible
screen+size: resolution dimensions
device+logs: console output
session: browser instance
act: do perform action natural
observe: possible actions find elements
# Web research
search+web: online internet google look_up
scrape: get content page text website markdown
crawl: whole all_pages site follow
map: all_urls links list site
extract: structured data fields
parse: document pdf file read
monitor+page: watch change notify
research+paper: study scientific academic
related+paper: similar citing
news+search: headlines articles current
video+search: clips youtube
local+search+place: nearby business shop restaurant
library+documentation: docs how_to api reference latest
resolve+library: name id find
# Files, memory, thinking
read+file: open view show contents cat
read+media: image picture audio
read+multiple: several many
write+file: save create store
edit+file: change replace line modify
directory: folder path
create+directory: folder mkdir new
list+directory: folder files ls inside contents what
list+directory+sizes: big large space
directory+tree: structure nested recursive hierarchy layout
move+file: rename relocate mv
search+files: find locate name pattern matching
file+info: size modified date permissions metadata
allowed+directories: access permitted where
create+entities: remember save store fact person new
add+observations: remember note fact about learn
create+relations: connect link relationship
read+graph: everything known whole memory
search+nodes: recall find remember look
open+nodes: recall details specific
delete+entities: forget remove
delete+observations: forget fact remove
sequential+thinking: reason step_by_step think problem work_through
sum: add total plus numbers
echo: repeat back say
env: environment variables
long+running+operation: slow takes_time progress
sampling: model llm
# Charts and sheets
line+chart: trend time series
bar+chart: compare horizontal categories
column+chart: compare vertical categories
pie+chart: share percentage proportion split
area+chart: trend cumulative
scatter+chart: correlation two variables
histogram: distribution frequency spread
boxplot+violin: distribution outlier quartile spread
funnel: conversion stages drop_off
radar: multidimensional compare skills
sankey: flow from_to
treemap: hierarchy proportion nested
venn: overlap intersection
waterfall: increase decrease cumulative
dual+axes: two scales combine
liquid: percentage progress gauge
organization+chart: hierarchy reporting team
fishbone: cause effect root
flow+diagram: process steps flowchart decision
mind+map: brainstorm ideas topic
network+graph: relations connections nodes
word+cloud: frequency terms
pin+map: markers locations points
path+map: route trip
district+map: regions provinces administrative
spreadsheet: table excel rows pivot
sheet: tab page worksheet
copy+sheet: duplicate
format+range: colour bold border style cells
# Places
geocode: address coordinates latitude longitude where
reverse+geocode: coordinates address
directions: route way drive walk get
distance+matrix: far travel times several
isochrone: reachable within minutes
elevation: altitude height high
place+details: opening phone rating reviews hours
static+map: picture image
category+search: type kind nearby
listing: stay home apartment property
`;
