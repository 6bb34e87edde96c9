/** Offices: people, plans, messages, books and money of a business, advertising. `tool words: people's words`, see thesaurus.ts. */
export const officeHints = `
# Work
task todo: chore to_do reminder action_item assignment backlog job checklist errand
reminder: remind remember forget alarm due
planning plan: break_down breakdown steps decompose roadmap organize organise
calendar event: meeting appointment schedule availability free_slot invite busy slot agenda
meeting call: zoom webex teams conversation transcript recording discussed standup session
project: workspace initiative milestone board
card: task ticket item
board: kanban column
issue: bug ticket problem defect report crash
issue comment: reply discussion thread
label tag: categorize classify mark
assign assignee: responsible owner delegate
complete done status: finish finished close mark accomplished
approve approval: accept lgtm review consent
status: state progress health green red passing failing
user member: people person teammate colleague who staff employee someone
contact customer: client lead prospect person people phone
crm: customer lead deal prospect pipeline sales
deal: sale opportunity pipeline
email mail: inbox gmail outlook message send newsletter letter mailbox
email outreach: reach_out recruiter
message chat slack: tell notify say dm ping announce inform text post
channel: room chat conversation group
reply thread: respond answer
reaction: emoji thumbs_up like thumbsup
sms message: text phone texting
notification alert: notify warn ping remind
survey form: questionnaire feedback poll quiz signup respondents
resume job: cv career curriculum vitae hire hired employer applicant
job: work career position vacancy hiring employment recruiter salary interview developer role opening internship
invoice bill: billing charge owe customer billed
payment: pay paid card charge transfer bank checkout
receivable aged: owe owes overdue unpaid outstanding debtor late debt
payable aged: owe suppliers creditors
profit loss: income earnings revenue statement margin
balance trial: ledger books accounts
account accounts: ledger bookkeeping accounting
tax: vat gst irs deduction sales_tax duty
timesheet: hours worked timesheets
payroll: wages salary employees
quote: estimate proposal offer
bank transaction: spending statement transfer withdrawal deposit
company organization: business firm startup corporation enterprise competitor brand
company data: revenue employees headquarters founded ceo
decision: choice choose decide
habit: routine consistent discipline streak daily
memory: remember recall earlier previously past forgot know conversation remembered
flashcard memory: memorize study vocabulary spaced
conversation export: chat history download
mind map: brainstorm ideas
# People and organisations
company corporate: enterprise firm business corporation subsidiary conglomerate manufacturer vendor supplier startup industry sector ceo founder headquarters
company revenue: turnover profits sales earnings income
funding startup investor: venture vc seed raise capital backing accelerator incubator grants scholarship subsidy
nonprofit charity: ngo foundation donor donating fundraiser humanitarian philanthropy cause volunteering relief
agency marketing design: consultancy advertising studio firm
writer human: copyeditor ghostwriter editor author
lead sales prospect customer: revenue pipeline client outreach b2b buyer acquisition
meeting transcript call: recap minutes notes discussed webinar interview
email: correspondence inbox unread mailing recipient subject draft forward spam
personal note: journal thought idea diary reflection
workspace notion: wiki page team knowledge_base docs
reminder task list: groceries shopping_list deadlines due to_dos appointments appointment alarm agenda schedule
project management: deadline sprint kanban milestone gantt deliverable backlog assign progress
erp application: inventory enterprise accounting hr
form survey: rsvp registration feedback respondents intake contact_form application_form
expert coach: mentor advice guidance
agent multiple: autonomous goals
census population data: demographics income race county household
product feedback: user_research roadmap feature_request
product development: roadmap feature discovery product_manager pm
# Advertising and search engines
seo: organic backlinks meta_tags indexing crawlability google_ranking serp visibility optimisation optimization optimize competitor
keyword seo: search_volume cpc difficulty long_tail trending hashtags
ad ppc: adwords campaigns impressions clicks bidding cpc sponsored promotion conversion advertiser advertisements banner creatives
competitor ad: rival rivals competition competing
affiliate tracking monetize: commission referral earn
trend google: popularity interest buzz rising
page content copy: landing_page headline conversion persuasive
website performance: load slow core_web_vitals accessibility pwa mobile_friendly optimise
website traffic: bandwidth outage attacks ddos visitors
website: webpage homepage blog landing_page portfolio online_store ecommerce domain hosting
domain registration: available
brand asset: identity guideline palette typography
marketing visual template: poster banner flyer brochure instagram_post thumbnail card cover
photo filter edit: enhance saturation brightness contrast crop background blur vintage effect retouch
image describe: caption explain visual see inside scene
text image extract: ocr handwritten receipt
image unsplash: illustration stock photo cover background wallpaper visuals
video create: footage promo clip editor advert animation avatar
video avatar: spokesperson presenter talking
poem: rhyme verse poetry sonnet haiku
ascii font: art lettering
export pdf: printable print save
cloud word: frequency visualize
diagram: mindmap mermaid er_diagram sequence schematic visual tree
3d asset: unity unreal blender mesh avatar vr
website app deploy: host launch hosting
code repo github: open_source programming library algorithm implementation bug debugging
webhook http: endpoint trigger listener
scratch program: kids block
database sql: tables rows join postgres
ssh server: linux ubuntu cpu disk uptime nginx command
server cloud: aws gcp azure ec2 instance
`;
