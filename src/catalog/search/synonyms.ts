import { actionHints } from "./hints-actions.ts";
import { platformHints } from "./hints-platforms.ts";
import { fieldHints } from "./hints-fields.ts";
import { lifeHints } from "./hints-life.ts";
import { officeHints } from "./hints-office.ts";
import { serverHints } from "./hints-servers.ts";
import { serviceHints } from "./hints-services.ts";
import { softwareHints } from "./hints-software.ts";
import { foreignWords } from "./word-languages.ts";
import { wordForms } from "./word-forms.ts";
import type { ThesaurusSource } from "./thesaurus.ts";

/**
 * What else things are called in the vocabulary of tools. General words only: a phrase that somebody once typed helps nobody else.
 * How the three kinds count is in thesaurus.ts.
 */
export const synonyms: ThesaurusSource = {
  strong:
    wordForms +
    foreignWords +
    `
gh github
kube k8s kubernetes kubectl
pg psql postgresql postgres
mongo mongodb
feishu lark
xcode xcodebuild
npmjs npm
hn hackernews
yt youtube
ddg duckduckgo
vscode visual_studio_code
loadbalancer load_balancer lb
envvar environment_variable env_var
filename file_name
vulnerability vuln cve
admin administrator
login signin sign_in log_in
signup sign_up register
how_to howto tutorial
repo repository
folder directory dir
pr pull_request
mr merge_request
msg message
img image picture photo
pic picture image
doc document
docs documentation
db database
dbs databases
auth authentication
config configuration
env environment
k8s kubernetes
js javascript
ts typescript
py python
info information
stats statistics
perf performance
spec specification
param parameter
app application
org organization organisation
url link
webpage website web_page
ticket issue
bug issue
delete remove
create add
list enumerate
find search
fetch get retrieve
read get
modify update edit
run execute
email mail
screenshot screen_capture
spreadsheet sheet excel xlsx
workbook excel
xls xlsx excel
ppt powerpoint presentation
slides presentation slide
docx word
movie film
song track music
stock share equity
crypto cryptocurrency
fx exchange currency forex
tts text_to_speech speech
vm virtual_machine
colour color
summarise summarize summary
analyse analyze analysis
translate translation translator
calc calculate calculator
todo task
tweet twitter
ci pipeline build
deploy deployment
cron schedule
geocode geocoding coordinates
latitude coordinates lat
longitude coordinates lng lon
weather forecast
hotel accommodation lodging
flight airline airfare
restaurant dining
car vehicle automobile
job career vacancy
cv resume
price cost pricing
shop shopping store
recipe cook cooking dish
workout exercise fitness
article news
paper papers publication
lyrics song
quote quotes quotation
horoscope zodiac astrology
law legal
health medical
`,
  weak: `
create add new make insert register open generate
delete remove drop destroy erase purge clear discard uninstall
get fetch retrieve read show view lookup obtain load
list enumerate all browse show
update edit modify change alter patch set rename adjust
search find query lookup discover locate seek
send post message notify deliver dispatch
run execute invoke launch start trigger perform
stop kill terminate cancel abort halt end
upload import attach put
write save store put
small tiny little mini
large big huge
download export save dump
copy duplicate clone
move transfer relocate rename
convert transform translate
check verify validate test inspect
summarize summary digest overview summarise abstract
analyze analysis analyse analytics insight evaluate
calculate compute count calculator math arithmetic
compare diff difference versus comparison
schedule plan calendar event appointment meeting booking
book reserve reservation booking
buy purchase order checkout pay payment
invoice bill billing receipt
refund reimburse chargeback
customer client contact user
user account profile member person people
employee staff worker hr
issue bug ticket problem defect
task todo job card
pr pull merge
pull_request pr
repo repository project
branch ref
commit changeset revision
ci pipeline build workflow action
deploy deployment release publish rollout ship
log logs trace event
error exception crash failure bug
metric metrics monitoring stats statistics measure
alert alarm notification incident
db database sql
table sheet spreadsheet
row record entry item
column field attribute property
query sql select
collection table dataset
schema structure definition
index vector embedding
file document doc
folder directory dir path
content text body contents
image picture photo screenshot img
screenshot capture snapshot
video clip youtube movie film
film movie cinema
audio sound music song speech
song music track lyrics
speech voice tts narration
transcript caption subtitle transcription
pdf document
word docx document
excel spreadsheet xlsx worksheet workbook
powerpoint presentation slide slides ppt pptx deck
chart graph plot diagram visualization visualize
mindmap mind map
email mail gmail inbox
msg message chat
message chat dm comment reply
reply respond answer comment
channel room conversation thread
reaction emoji
website web page site webpage url
url link website
browser page tab
click press tap
type fill enter input
scrape crawl extract
navigate visit open go goto
scroll swipe
weather forecast temperature climate rain
map location place geocode address
address location coordinates
nearby near around close surrounding
direction route navigation path
distance far travel
restaurant food dining eat
recipe cooking meal dish cook food
hotel accommodation lodging stay airbnb listing
flight airline plane airport
train railway rail
trip travel itinerary vacation
car vehicle auto automobile
price cost quote pricing
stock share ticker equity
crypto cryptocurrency bitcoin token coin
currency exchange forex
money cash fund finance
loan mortgage
news headline article
paper article publication research study literature
arxiv paper
book novel library
game gaming player
team squad club
score result
job career vacancy employment position
resume cv
house property estate home apartment
health medical disease clinical
drug medicine medication
trial study
fitness workout exercise
diet nutrition calorie
language translate translation
dictionary definition meaning word
grammar spelling proofread
code source program script snippet
function method
library package dependency module
documentation docs doc manual guide
install setup
shell terminal command bash cli
process pid
config configuration settings setting preference
permission access role authorization
secret key credential token password
password credential
auth login authentication signin
team group organization workspace org
domain dns whois
ip address network
server host vm instance machine droplet
container docker
cluster kubernetes k8s
k8s kubernetes
pod container
namespace ns
storage bucket blob s3
bucket storage
cache redis
queue job message
memory knowledge graph
entity node
relation edge link
note memo page
time date clock timezone hour
date day
random dice number
qr barcode code
product item goods merchandise
shop store shopping ecommerce
coupon discount deal promo
ad advertisement ads campaign
seo keyword ranking
social twitter tweet post
tweet twitter
friend follower
survey form questionnaire poll
quiz question trivia
lesson course class education learn tutorial
student pupil learner
school university college
law legal
contract agreement
patent trademark
space nasa astronomy
mars rover
park parks
museum art artwork exhibit
horoscope zodiac tarot fortune
gift present
love romance dating relationship
pet dog cat animal
plant garden
wedding marriage
kid child baby
baby child
icon logo
color colour palette
font typography
ui component widget
design figma layout
draw sketch paint
resize crop scale
compress zip archive
unzip extract decompress
merge combine join concatenate
split divide separate
sort order rank
filter where
latest recent newest current
trending popular hot trend top
history past previous historical
future upcoming next
subscribe subscription
plan pricing tier
member membership
assign assignee owner
close resolve complete finish done
open active pending
archive hide
star favorite bookmark
label tag category
milestone sprint iteration
sprint iteration board
board kanban
review approve feedback
lint format
debug troubleshoot diagnose
performance speed lighthouse
memory heap
request http call
webhook callback
api endpoint
json data
csv data table
`,
  hints:
    fieldHints + actionHints + platformHints + softwareHints + officeHints + lifeHints + serverHints + serviceHints,
};
