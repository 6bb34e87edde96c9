/**
 * Forms of one word that the stemmer keeps apart: irregular verbs, nouns made of verbs, spellings of two countries, abbreviations,
 * units. One group per line, all equivalent.
 */
export const wordForms = `
# Irregular verbs
buy bought
sell sold sale
send sent
write wrote written
make made
find found
get got gotten
give gave given
take took taken
choose chose chosen choice
speak spoke spoken
break broke broken
drive drove driven
fly flew flown flight
draw drew drawn drawing
hide hid hidden
lose lost loss
pay paid payment
spend spent spending
keep kept
teach taught
learn learnt
run ran
begin began begun
win won winner
hear heard
grow grew grown growth
cook cooked
eat ate eaten
freeze froze frozen
throw threw thrown
bring brought
rise rose risen
fall fell fallen
shoot shot
lend lent
bind bound
withdraw withdrew withdrawn withdrawal
undo undone undid
rebuild rebuilt
resend resent
# Nouns and their verbs or adjectives
conversion convert
comparison compare comparative
subscription subscribe subscriber
description describe
transcription transcribe transcript
prescription prescribe
recognition recognize recognise
decision decide
division divide
submission submit
permission permit
admission admit
transmission transmit
extension extend
expansion expand
inclusion include
exclusion exclude
conclusion conclude
reduction reduce
solution solve
classification classify classifier
verification verify
notification notify
modification modify
authentication authenticate
diagnosis diagnose diagnostic
synthesis synthesize synthesise
hypothesis hypotheses
analysis analyses analyze analyse analyzer
index indices indexes
vertex vertices
matrix matrices
criterion criteria
shipment ship shipping
height tall
length long
width wide
depth deep
weight weigh
speech speak
proof prove proofread
advice advise
attendance attend attendee
insurance insure insured
currency currencies
maximum max maximize maximise maximal
minimum min minimize minimise minimal
average avg mean
percentage percent pct
probability probable likelihood likely odds chance
derivative differentiate differentiation derive
multiplication multiply multiplied product_of
subtraction subtract minus
mathematics math maths mathematical
musical music
medical medicine
chemical chemistry chemist
physical physics
biological biology
geographic geography geographical geo
astronomical astronomy
agricultural agriculture farming farm
industrial industry
electrical electric electricity
psychological psychology
philosophical philosophy
religious religion
architectural architecture architect
nutritional nutrition nutrient nutritious
environmental environment
legal legally
photo photograph photography photographer
dentist dental
vet veterinary veterinarian
therapy therapist
consult consultation consultant
collaborate collaboration collaborator
recruit recruitment recruiter
assess assessment
deploy deployment
enrich enrichment
install installation installer
allocate allocation
vaccinate vaccination vaccine
donate donation donor
animate animation
illustrate illustration
renew renewal
# Spellings
colour color
favourite favorite
centre center
theatre theater
catalogue catalog
licence license
metre meter
litre liter
grey gray
travelling traveling
organise organize organisation organization
optimiser optimizer
visualise visualize visualisation visualization
customise customize customisation customization
normalise normalize
initialise initialize init initialization
synchronise synchronize sync synchronization
authorise authorize authorisation authorization
categorise categorize categorisation categorization
prioritise prioritize prioritization priority
finalise finalize
utilise utilize utilization utilisation
programme program
jewellery jewelry
aeroplane airplane plane
neighbour neighbor neighbourhood neighborhood
behaviour behavior
labour labor
defence defense
enrol enroll enrolment enrollment
cheque check
tyre tire
fulfil fulfill
# Abbreviations
approx approximate
appt appointment
addr address
acct account
amt amount
attr attribute
cert certificate
cmd command
coords coordinate coordinates
dept department
dest destination
desc description
dist distance
dup duplicate
env environment
err error
exec execute
func function
gov government
govt government
hr human_resources
lang language
lib library
max_value maximum
mgmt management
mgr manager
misc miscellaneous
pkg package
prev previous
prod production
pwd password
qty quantity
sched schedule
sig signature
temp temperature
tel telephone phone
tx transaction
txn transaction
univ university
ver version
vol volume
ad advert advertisement advertising
ac air_conditioner air_conditioning
aqi air_quality
asap urgent
bmi body_mass_index
ceo chief_executive
cpu processor
crm customer_relationship
dob birthday birthdate date_of_birth
dns domain_name
eta arrival
ev electric_vehicle
faq frequently_asked
fx foreign_exchange
gcd greatest_common_divisor hcf
gdp gross_domestic_product
gpu graphics_card
iam identity
iss space_station
lcm least_common_multiple
llm language_model
ml machine_learning
mom mother
nlp natural_language
ocr optical_character_recognition
os operating_system
otp one_time_password
pl profit_loss
pnl profit_loss
poi point_interest
pos point_sale
pto leave
rca root_cause
regex regular_expression
roi return_investment
npv net_present_value
irr internal_rate
rsvp invitation
saas software_service
sdk development_kit
sla service_level
sms text_message
sso single_sign_on
tls ssl
tv television
ui interface
ux user_experience
vat value_added_tax
vpn private_network
wifi wireless
zip zipcode postal postcode
# Units
celsius centigrade
fahrenheit degrees
kilometer km kilometre
mile mi miles
kilogram kg kilo
ounce oz
gram grams
liter litre
gallon gal
kilobyte kb
megabyte mb
gigabyte gb
minute min minutes
hour hr hours
usd dollar
eur euro
gbp pound_sterling
jpy yen
inr rupee
cny yuan renminbi
`;
