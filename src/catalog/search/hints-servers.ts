/** Software, more closely: the things that developer tools, clouds and data servers handle. `tool words: people's words`, see thesaurus.ts. */
export const serverHints = `
# Software work, more of it
issue: defect regression problem crash_report feature_request
issue+search: bugs
pull+request+review: feedback comments approve reviewer
pull+request+files: touched changed modified
merge: land squash
merge+request: code_review mrs prs
commit: push sha head
commit+file+push: upload
file+contents: source text body
file+create: touch
directory+tree: structure recursively nested
repository+create: initialise init new_project
git+status: staged unstaged dirty uncommitted
git+log: history
git+diff: unstaged staged patch
git+checkout: switch
git+stash: shelve
worktree: parallel
tag: release version
pipeline: ci_cd run failing red jenkins
job: step stage artifact
artifact: output binary download
flaky: unreliable intermittent
variable: env setting constant
protected+branch: lock guard
wiki+page: documentation
milestone: goal deadline sprint
epic: initiative
webhook+hook: integration
snippet: gist paste
invite+member: add_user onboard
group: team organisation
environment: staging production prod
deploy: promote push_to_production
channel+message+post: announce broadcast
channel+history: conversation scrollback
user+profile: who_is email title
emoji+reaction: react thumbs
page: article wiki doc
block+children: paragraph content body
comment: feedback remark note
database+query: filter rows
data+source: database
board+list: column lane
card+move: drag
card+archive: hide remove
checklist: subtask steps
attachment: file picture document
label: tag colour
due+date: deadline
subtask: smaller break_down split steps child
dependency: blocks blocked prerequisite order
complexity: difficult hard effort
prd: requirements spec product
invoice: bill charge unpaid
contact: customer supplier vendor client
credit+note: refund
bank+transaction: spend receive
aged+receivables: overdue unpaid debtor outstanding late_payment
aged+payables: bills owed supplier
balance+sheet: assets liabilities equity
trial+balance: ledger
profit+loss: pnl net_income
manual+journal: adjusting entry
item: product stock inventory
tracking+category: department cost_centre
record: row entry
base: database
engagement: call meeting note logged activity
association: link relationship connected
property: field attribute
object: contacts companies deals tickets
search+objects: contacts companies deals customers find
pod+logs: output printing stdout
resource+describe: details inspect
apply: manifest yaml deploy
scale: replicas instances
rollout: restart undo status
node: drain cordon machine
context: cluster switch
helm: chart release
container: image docker process
compose: stack services
registry: images push
droplet: vm vps server machine instance
droplet+power: turn_on turn_off
droplet+snapshot: image backup
kernel: boot linux
load+balancer: distribute traffic
vpc+network: private subnet
floating+reserved+ip: static address
volume: disk block storage attach
database+cluster: managed postgres mysql redis
firewall+rule: open_port allow block inbound
ssh+key: public access
certificate: tls ssl https
cdn: cache edge
domain+record: dns cname txt mx
zone: domain dns
route: path url mapping
worker: script edge
worker+deploy: publish
kv: key_value
queue: messages consumer
durable+object: state
d1: sqlite sql
r2: s3 bucket
secret: api_key password
cron: schedule nightly daily
tail+logs: live realtime
account: subscription tenant
resource+group: everything
subscription: accounts billing
role+assignment: permission rbac access
key+vault: secret certificate
virtual+machine+compute: vm windows linux server scale_set
function+app: serverless
monitor: logs metrics alerts kusto
application+insights: telemetry tracing
resource+health: outage down available
pricing: cost estimate sku how_much
quota: limit capacity usage region
advisor: recommendation cost savings
load+test: stress performance traffic
diagnose: troubleshoot broken why root_cause
architecture: design well_architected blueprint
terraform+bicep: infrastructure iac template
event+hub+grid: stream publish topic
service+bus: queue topic message
cosmos: nosql document
redis: cache
storage+account: blob file share
speech: transcribe voice speech_to_text audio dictation recognize
best+practice: guideline advice standards
search+index: query retrieve
index+create: speed performance
index+drop: remove
collection+drop: wipe
aggregate: group_by pipeline average sum total
count: how_many number
find: query read documents rows
explain: query_plan slow
schema: structure columns layout
export: dump csv json
upsert: insert add save
semantic+search: similar meaning
shards: partitions nodes
mappings: schema fields
indices: indexes
workflow: scenario automation flow
workflow+validate: check errors
workflow+execution: runs history
template: example starter
node: step module
issue+events: occurrences errors stack
crash: segfault panic
release: version
dsn: client_key
seer: root_cause fix
replay: session recording
trace: slow latency
navigate: visit open load goto
navigate+back: previous return
snapshot+page: accessibility content elements
take+screenshot: capture picture
network+requests: traffic http calls
console+messages: javascript_errors logs
browser+tabs: switch
evaluate: javascript run_js
emulate: mobile dark_mode device throttle slow offline
hover: mouseover
drag+drop: move
press+key: keyboard enter escape
wait: until appear load
install+browser: missing
codegen+session: record test script
iframe: frame embedded
select: dropdown option
pdf+save: print
resize: viewport window dimensions
lighthouse: audit accessibility score
performance+trace: load_time slow
heap+memory: leak
simulator: emulator iphone
device+list: connected phones
tap: press touch
swipe: scroll
app+install: apk ipa
screen+record: video
element+list: ui widgets
orientation: rotate landscape portrait
build+run: launch
scheme: target
bundle+id: identifier
project+discover: xcodeproj workspace
coverage+report: tested untested
session+defaults: remember preset
library+docs: documentation package api usage framework
resolve+library: package name
component: ui element widget
component+example: demo usage sample
component+install: add
design+data: layout styles figma
image+download: assets export
animation: motion effect transition
background: pattern gradient
button: cta
icon: pictogram symbol
news+search: headlines latest articles
image+search: pictures photos
video+search: clips youtube
local+search: near nearby business
place+search: poi business nearby
summarizer: answer overview
crawl: spider whole_site
map: discover_urls all_urls
extract: structured data scrape
scrape: page content single
monitor: watch changes
research: investigate deep thorough
agent: autonomous
session+create: start new
observe: elements possible_actions
act: click type perform
entity: person fact thing
observation: fact detail
relation: link edge connection
nodes+open: recall known
thinking: reason step_by_step think problem
sum: add plus numbers
echo: repeat
environment+variables: env
long+running+operation: slow progress
geocode: address coordinates
reverse+geocode: coordinates address where
directions: route driving walking way
distance+matrix: travel_time eta
isochrone: reach within
static+map: picture image
elevation: altitude height
place+details: opening_hours phone reviews
listing+details: amenities reviews
chart: plot visual
spreadsheet: worksheet
range: cells
sheet+copy: duplicate
format: style bold color highlight
sheet+describe: tabs names
collection: requests folder
environment: variables
mock: fake stub
monitor: scheduled check
spec: openapi swagger definition
workspace: team space
fork: copy
collection+run: tests execute
documentation: docs publish
api+key: token
bitable: spreadsheet table
wiki+node: page
chat+members: people participants
message+list: conversation history
document+content: text body read
permission: share collaborator
`;
