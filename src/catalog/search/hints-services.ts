/** Well-known services: what each is for, and what people say to it. `tool words: people's words`, see thesaurus.ts. */
export const serviceHints = `
# Whole services, by what they are for
slack: teammates coworkers colleagues channel dm announce huddle
notion: wiki docs workspace knowledge_base page pages notes
airtable: base spreadsheet rows table
trello: board boards card cards kanban
jira: ticket tickets sprint epic backlog story bug bugs issue issues
hubspot: crm deals leads contacts pipeline sales customers companies
xero: accounting bookkeeping invoices bills ledger accountant finance payroll
sentry: crash crashes exception exceptions error errors stack_trace
circleci: ci build builds pipeline failing flaky
postman: api apis collection collections endpoint
figma: design designs mockup mockups prototype frame
digitalocean: droplets vps hosting cloud
cloudflare: workers edge cdn dns
elasticsearch: elastic index indices logs documents
pinecone: vector vectors embeddings semantic similarity
neon: serverless postgres branch
mongodb: nosql documents collection
kubernetes+kubectl: pods deployments cluster nodes namespace container
github: repo repos pull_request open_source issues commits code
gitlab: merge_request mr pipeline repo
google+maps: directions places address route
mapbox: map maps directions address
airbnb: vacation rental stay lodging
playwright+browser: webpage page website click automate e2e
chrome+devtools: page performance network console debug
mobile: phone iphone android app apps simulator emulator
xcodebuild: ios iphone swift simulator app
lark: feishu bitable
brave+tavily+exa: web internet online search google
firecrawl: scrape crawl website websites
context7: documentation docs library framework api
n8n: workflow automation automate
excel: spreadsheet worksheet xlsx cells
antv+chart: graph plot visualize visualise diagram
memory: remember recall facts
task: todo backlog prioritize
# Their finer points
leave: vacation holiday time_off sick pto absence
leave+balance: remaining days_off left
employee: staff worker team_member payroll
timesheet: hours worked log_hours
tax+rate: vat gst
organisation+details: company information
payment: paid settle receive_money
report+balance+sheet: assets liabilities financial_position
power+off: shut_down turn_off shutdown stop
power+on: turn_on start boot
enable+backup: protect
ipv6: address network
region: location datacenter where available
firewall+rule: allow open block port access ip
ssl+certificate: https secure tls
load+balancer+forwarding: traffic distribute
image+transfer: move region
kernel: linux version
reset+password: forgot lost credentials root
resize: upgrade ram cpu memory more bigger
database+user: account login access
database+backup: restore snapshot
topic: kafka stream
migration: move transfer import
object: file upload store download
alarm: timer schedule reminder
send+message+queue: enqueue push publish
inference+text+generation: llm model ai prompt
image+generation: ai draw picture
route: url path domain traffic
version+rollback: previous undo revert old
analytics: traffic visits requests statistics usage
insert: add create document record
delete+many: remove purge
update+many: modify bulk
create+index: slow faster speed_up
storage+size: disk space
performance+advisor: slow queries suggestions
access+list: whitelist allowlist ip
pause+cluster: stop
sample+dataset: test_data demo
rename: change_name
exec: run command shell inside container
cleanup: remove
describe: details events why
rollout: restart undo history deployment
node: drain cordon maintenance
uninstall: remove delete
merge+request+conflicts: conflicting cannot_merge
draft+note: pending unpublished comment
approval+state: approved approvals
resolve+thread: discussion close
branch+protect: lock prevent force_push
blame: author line
commit+status: ci check passed
todo: notifications pending_items
namespace: group owner
iteration: sprint
wiki+page: docs documentation article
ci+lint: validate yaml config
whoami: current_user logged_in me account
release: changelog version
artifact: files download
job+log: output trace
play+job: start manual trigger
cherry+pick: copy commit apply
reflog: lost recover history
clean: untracked remove
rebase: squash reorder
remote: origin upstream url
worktree: second checkout
changelog: release_notes changes
list+apps: installed
terminate: close kill quit force_quit
type+keys: enter text write
screen+size: resolution dimensions
open+url: website link browse
set+location: gps fake position
device+logs: debug console logcat
crash: crashed report
scheme: target configuration
boot: start launch
coverage: tested
expand+task: break_down subtasks split
complexity: difficulty hard estimate
dependency: depends blocked prerequisite order
set+status: mark done complete finish
next+task: priority
watch: follow subscribe notifications
checklist+item: tick check_off step
attach: add upload image link file
comment: write reply remark
member: person assign people
label: color tag
custom+field: property value
archive: close hide
copy: duplicate clone
association: link relate connect
engagement: note task call log
property: custom field
search+objects: find lookup contacts companies deals
block: paragraph content text section
append: add end
page+property: value
query+database: filter entries
markdown: export text
record: row entry
upload+attachment: file
chat+create: group conversation
members: participants
permission: share access collaborator
docs+search: find document
replay: user session
event+attachment: file
team: group members
dsn: client_key sdk
issue+resolve: fix close ignore
tag+values: distribution browser
analyze+issue: root_cause why fix
# Files, finance, games, data
stock+history: candles ohlc past chart
stock+fundamental: pe ratio eps valuation
income+statement: revenue profit earnings
cashflow: cash operating
dividend: payout yield
earning: quarterly report results
recommendation+analyst: rating upgrade
holders+institutional: owners owns fund ownership
insider+trades: executives selling buying
options: calls puts strike derivative
fear+greed: sentiment mood market
ticker+news: company headlines
ticker+info: company fundamentals overview sector stock_info
crypto+price: bitcoin btc eth ethereum coin
asset+price: gold silver metal oil
trending: hot popular ranking hottest leaderboard
bilibili: video chinese
douban: movie book ranking
weibo: social chinese
zhihu: question answer chinese
hackernews: hn y_combinator tech startup
story+comments: discussion thread opinions
train+ticket: railway high_speed bullet seat departure
station+code: city railway
chinese+calendar: lunar almanac zodiac auspicious
bazi: fortune birth fate four_pillars
recipe+category: dish cuisine
what+to+eat: menu meal dinner suggestion
artifact+object+museum: art antique painting collection
card: monster deck yugioh spell
esports: tournament match team
character: hero profile
problem: leetcode algorithm exercise coding_challenge
submissions: solved solutions
contest: competition ranking
variant: mutation gene snp
trial: clinical study nct
article: pubmed literature paper
dataset: open_data government csv
transcript: captions subtitles
audio: sound music
tempo: bpm speed rhythm
beat: rhythm
duration: length long
mfcc+chroma: features spectrum pitch
canvas: draw painting
rectangle: shape draw
mindmap: brainstorm outline
markdown: md
html: webpage
json: data api
diff: compare
splitter: split chunk separate
merger: merge combine join
formatter: beautify pretty indent
encoding: utf gbk
image+metadata: exif tags iptc
image+extract: view analyze look
note: memory knowledge obsidian
directory: folder
process: program command running
process+output: result stdout
config: settings
edit+block: replace change
commit: save
random: pick shuffle draw lottery
token: secure password
exchange+rate: convert currency
time+convert: timezone
maven: java dependency
npm: node javascript package
vulnerabilities: security audit cve
license: legal permission
bundle+size: heavy large
dependencies: requires
sitemap: pages
whois: owner registrar registered
docs: manual
wiki+repository: documentation
slide: page
placeholder: text_box
template: theme
heading: title section
paragraph: text body
footnote: citation reference
table: grid
protect: password lock
page+break: new_page
search+replace: substitute
picture: image photo insert
chart+presentation: graph
transition: animation
bullet: list points
`;
