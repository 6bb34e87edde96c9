/** Fields of knowledge and trades: what people say on one side, what tools call it on the other. Written from the tools' texts alone. `tool words: people's words`, see thesaurus.ts. */
export const fieldHints = `
# Numbers
calculate: compute work_out how_much evaluate
equation: solve roots unknown x polynomial
quadratic: parabola roots ax2
factorial: permutation arrange
combination+permutation: ways choose arrange
prime: divisible factor
greatest_common_divisor: common_factor hcf gcd highest
fraction: numerator denominator ratio
sequence: series terms pattern fibonacci
derivative: slope rate_of_change tangent calculus
integral: area_under_curve calculus antiderivative
area: surface square_feet size size_of big
perimeter+circumference: around border
volume: capacity cubic
triangle: hypotenuse sides angle pythagoras
circle: radius diameter round
angle: degrees rotation
distance: far apart between length
matrix: determinant inverse rows linear_algebra
vector: dot_product direction magnitude
median+mode+mean: average middle typical central
standard+deviation+variance: spread dispersion
correlation: relationship related association
regression: fit trend_line predict dependent
hypothesis+test: significant p_value statistically
confidence+interval: margin_of_error
probability: chance odds likelihood likely coin dice cards
binomial: trials successes heads flips
normal+distribution: bell_curve z_score
sample: subset survey
random+number: lottery pick
sort+array: ascending descending order numbers
list+array: numbers items elements
string+text: word characters sentence
round: nearest decimal
unit+convert: miles kilometers pounds kilograms inches feet celsius fahrenheit ounces cups
clustering+classification: group segments
machine+learning+model: train predict accuracy neural
sentiment: positive negative mood tone opinion
# Physics and chemistry
velocity+speed: fast moving mph accelerate
acceleration: speed_up
displacement: travelled moved
projectile: thrown launched ball kicked trajectory
force: push newton pull
gravity+gravitational: falling dropped weight pull
energy: joules kinetic potential power
momentum: collision impact
pressure: pascal gas atmosphere
temperature: heat hot cold warm degrees thermometer
heat: thermal warm specific
density: mass volume heavy
electric+field: charge coulomb
magnetic+field: magnet wire current
current: amps circuit
resistance: ohm circuit
voltage: volts battery
circuit: resistor wire capacitor
capacitance: capacitor plates
frequency: wave hertz oscillation
wavelength: light wave colour
light: optics lens beam
sound: noise loud decibel
entropy: thermodynamic disorder
boiling+melting+point: boil melt evaporate freeze
molecule: compound atoms chemical formula
molecular+weight: molar mass grams
reaction: reactants products chemical
ph: acid base acidity
element: periodic_table atomic atom
isotope+decay: radioactive half_life
# Life sciences
cell: biology organelle mitochondria membrane
protein: amino_acid sequence structure
dna+gene: genetic sequence mutation genome nucleotide
genotype: allele inherited trait heredity
species: animal plant wildlife organism bird
population: people inhabitants how_many number
ecosystem+ecology: habitat biodiversity wildlife environment
photosynthesis: plants sunlight
bacteria+virus: infection microbe germ
evolution: ancestor adaptation
brain+neuron: neural cognitive
blood: pressure cells donation
heart: cardiac pulse bpm
anatomy: body organ muscle bone
patient: sick ill hospital clinic record
diagnosis: symptoms sick disease condition
symptom: feel sick fever cough headache pain
medication: drug pill prescription dose medicine painkiller antibiotic
dosage: how_much dose
appointment: doctor dentist visit checkup book consultation
hospital+clinic: doctor emergency medical care er
doctor: physician specialist gp
nurse: care patient
dental: teeth tooth cavity
vaccine: shot jab immunization
allergy: allergic pollen
mental+health: anxiety depression stress therapy counselling
pharmacy: medicine prescription drugstore
surgery: operation
veterinary: pet dog cat animal vet sick
calorie: food eat diet burn
hydration: water drink
sleep: rest night tired insomnia
# Earth and space
planet: orbit solar_system mars jupiter
star: galaxy constellation astronomy
moon: lunar phase
satellite: orbit
rocket+launch: spacex mission
mountain: peak summit tallest highest climb
river+lake: water fishing
ocean+sea: marine tide water fish coral
forest: trees wood timber logging
soil: crop fertiliser ground
crop: harvest farm plant yield wheat corn
farm: livestock crops agriculture cattle
climate: warming carbon weather
carbon+footprint+emission: co2 greenhouse environmental impact pollution
recycling+waste: trash garbage rubbish
air+quality: pollution smog breathe pm25
volcano+earthquake: eruption seismic
mineral+rock: geology stone gem
renewable+energy: solar wind panel green
solar+panel: sun electricity roof
electricity: power consumption bill kwh
# Society
law: legal illegal court rights statute
lawyer+attorney: legal representation sue advocate solicitor
court+case: lawsuit trial judge verdict ruling plaintiff defendant sued
criminal+record: arrest felony conviction background
crime: theft murder police offence robbery
police: arrest officer emergency report
patent: invention inventor intellectual_property
copyright+trademark: brand protection intellectual_property
contract: agreement clause sign
immigration+visa: passport travel citizenship embassy
tax: irs deduction income owe filing
government: state ministry official public agency
election: vote candidate ballot campaign
president: leader office elected
parliament+congress: senator mp bill
policy: regulation rule government
war+battle: army fought soldier conflict military
treaty: agreement peace signed
king+queen+monarch: ruler reign throne emperor
history: happened century ancient era past empire civilization
invention+discovery: invented discovered scientist who_discovered
religion: faith church god holy belief christianity islam buddhism hindu
holy+book: bible quran scripture verse
philosophy: ethics moral thinker
culture: tradition custom heritage
language: vocabulary grammar word dialect
psychology: behaviour mind personality emotion
personality: traits introvert extrovert temperament
survey: poll respondents questionnaire opinion
charity: donate donation volunteer fundraising
volunteer: help community
social+service: welfare benefits assistance
# Business
company: firm business corporation employer
revenue: sales income earnings turnover
profit: margin earnings gain
budget: spending expenses allocate costs
expense: spending cost receipt
inventory: stock warehouse items quantity units
supplier: vendor procurement sourcing
supply+chain: logistics procurement shipping
shipment: package parcel delivery courier freight
delivery: package parcel ship arrive courier
tracking+number+shipment: package parcel where
order: purchase bought buy
order+status: where package arrive
return+refund: money_back exchange
warehouse: storage inventory
manufacturing: factory production assembly plant
machine: equipment maintenance breakdown
quality+control: defect inspection
construction: build contractor site building
building: structure tower floors house
architect+architecture: blueprint house plan design
interior+design: room decor furniture decorate
renovation: remodel repair kitchen
paint: wall colour room
property: house apartment real_estate home
rent: apartment lease tenant monthly
mortgage: home_loan interest monthly payment
insurance+claim: accident damage coverage
insurance: policy premium cover
bank+account: balance savings deposit withdraw
balance: money account left
transfer: send money wire
credit: score loan card
loan: borrow lend interest repay
interest: rate savings compound bank
investment: stock return portfolio mutual_fund grow
future+value: worth years grow savings
retirement: pension savings 401k
exchange+rate: currency convert dollars
dividend: payout shareholder
marketing+campaign: promote advertise audience
advertising: ad promote banner commercial
social+media: instagram facebook twitter post followers likes
press+release: announce media journalist
public+relations: reputation media press
customer+service: support complaint ticket help
customer: client buyer shopper
employee: staff worker personnel team
salary: pay wage earn compensation income
hiring: recruit candidate interview job
training: course workshop onboarding
performance+review: appraisal evaluation employee
event: party conference wedding gathering
venue: location hall place hold
meeting+room: book conference reserve
agenda: schedule topics meeting
contract+negotiation: deal terms
consulting: advice expert
strategy: plan approach
competitor: rival competition
market+research: trends consumer demand
# Technology
software: program app application
bug: error defect crash
server: host machine
cloud: aws azure gcp hosting
database: sql records query tables
network: wifi internet connection router ip
internet+speed: broadband bandwidth
phone: call mobile number
sim+plan: mobile data carrier roaming
cybersecurity: hack attack threat malware breach
vulnerability: exploit weakness cve hack
firewall: block traffic
password: login strong secure
encryption: encrypt secure cipher decrypt
blockchain: crypto token ledger smart_contract
smart+contract: ethereum solidity
robot: automation arm
sensor: temperature humidity iot reading
smart+home: thermostat lights alexa appliance
air+conditioner: ac cooling temperature room
light: lamp bulb turn_on brightness dim
volume: louder quieter sound mute
alarm: wake ring clock
timer: countdown minutes remind
device: gadget phone computer
drone: uav aerial fly
virtual+reality: vr headset immersive
# Leisure
movie: film cinema watch showtime
movie+ticket: cinema show seats theatre
actor: cast star actress celebrity
tv+show: series episode season watch
song: track sing tune lyrics melody
album: record band artist
artist: singer band painter musician
concert: live gig tour band show
instrument: guitar piano violin drums
melody: tune compose notes
chord: guitar progression
dance: ballet choreography salsa
festival: celebration music
theatre: play stage drama performance
painting: canvas art artwork
sculpture: statue carve bronze marble
museum: exhibit gallery art visit
exhibition: display show gallery
photo: picture camera shot
fashion: clothes outfit dress style wear
book: novel author read title
library: borrow book
author: writer wrote novelist
poem: poetry verse
game: play level score player
player: stats athlete scored
player+stats: goals points assists career
team: club squad players
match+game+result: score won winner
ranking: standings table position top
league: season standings division
tournament: championship cup bracket
athlete: player sport runner
olympics: medal gold
race: marathon run driver
chess: move opening grandmaster
poker+cards: hand bet deck straight flush
board+game: monopoly scrabble dice
toy: kids child play
gym+fitness: workout exercise train class
swimming+pool: swim
hiking+trail: walk trek nature
park: playground green outdoor
zoo+aquarium: animals visit
ski: snow slope resort
beach: sea sand coast
camping: tent outdoors
fishing: fish boat
# Food
restaurant: eat dinner lunch cuisine table italian chinese mexican sushi
order+food: hungry deliver pizza burger takeaway takeout meal
menu: dishes food drink
recipe: cook make dish ingredients prepare bake
ingredient: need cook
meal+plan: diet week eat
nutrition: calories protein healthy fat carbs
grocery: supermarket milk eggs bread vegetables fruits shop
drink: coffee tea latte beverage juice
wine: bottle red white vineyard
cooking+time: oven minutes bake
tip: gratuity waiter bill split
vegan+vegetarian: plant_based meat_free
# Getting around
flight: fly plane depart airport airline
flight+status: delayed landed on_time
train: railway station rail
bus: coach station route
taxi+ride: uber lyft cab pickup
car+rental: rent hire vehicle
car: drive vehicle auto engine
traffic: congestion jam road
parking: park car spot
route: directions way fastest shortest drive
hotel: stay room night check_in lodging
booking+reservation: reserve book
cancel+booking: change refund
airport: flight terminal gate
baggage: luggage suitcase
passport: travel document
itinerary: trip plan days
attraction: sightseeing visit tourist see landmark
tour: guide visit trip
cruise: ship sail
ship+vessel: boat port sea
aircraft: airplane plane jet
vehicle: car truck motorcycle
fuel: gas petrol mileage diesel
electric+vehicle: ev charging tesla
repair: fix broken mechanic
public+transport: bus metro subway train
# School
course: class lecture study enroll
student: pupil learner enrolled
teacher: instructor professor tutor
grade: score marks gpa
exam: test quiz
homework: assignment
university: college campus degree
scholarship: financial_aid grant tuition
library+science: catalogue book
research: study paper scientific experiment
lesson: teach curriculum
# At home and around
appliance: microwave oven fridge washer dishwasher washing_machine air_conditioner fan heater
air+conditioner: ac cool aircon climate
oven: bake preheat roast
thermostat: heating warmer cooler
brightness: dim brighter screen
music+player: song play spotify listen
volume: loud quiet mute louder
housekeeping+cleaning: maid cleaner laundry chores vacuum
service+provider+professional: plumber electrician hairdresser massage tutor handyman technician
appointment: schedule book visit slot
ride: taxi uber cab lift pickup drive_me
food+order: hungry delivery burger pizza meal takeaway
change+food: instead without swap topping
drink: coffee tea latte beverage sugar ice
human+agent: person representative operator someone real support speak
greeting+greet: hello hi welcome introduce
introduce: meet greeting
question+answer: ask why what reply
help: guidance assist manual support
chat+completion: llm gpt ask assistant prompt
chat: talk conversation speak
transaction: purchase payment spending debit credit
bank+statement: transactions account deposits withdrawals
credit+loan: monthly payment borrow instalment
address: street city home shipping
profile: update personal information details account
authenticate+user: login credentials verify sign_in password
password+generate: strong random secure
memory+append+insert: remember note store
memory+search: recall remember past said
http+request: url api get post call
command+execute: run terminal windows shell os
promotion: offer deal discount
meeting+room: book reserve available conference
team: group members department
ldap: directory users groups corporate
identity+provider: sso saml oidc login
vulnerability: cve security flaw affected
policy: rule compliance
badge: status svg shield
license: spdx open_source terms
component: library package dependency
bom: sbom bill_of_materials inventory
alert+config: notify threshold monitoring rule
event+specification: monitoring rule custom
synthetic+test: uptime monitoring check
maintenance: downtime window
website: web page site domain
release: version deploy
pet: dog cat animal owner vet
position+location+current: where am_i gps coordinates
coordinates: latitude longitude city
snow: ski powder resort
caption+image: describe picture photo
image: picture photo logo drawing illustration paint
image+question: picture see what_is_in
text+speech: voice read aloud audio say
video: youtube clip watch
rating: stars likes popular
phishing: fake domain scam
scan: security ports vulnerability
subdomain: dns domain
order+status: package arrive where shipped
product: item goods buy price
inventory: stock available items sold_out restock
sales: revenue sold
interviewer: interview hiring skill
mandate: authorisation payment
complaint: issue problem report unhappy
dictionary+key+value: map default
list+filter: select subset
string+concatenate: join combine text
reverse: opposite invert backwards
minimum+maximum: smallest largest lowest highest biggest
convert+temperature: fahrenheit celsius kelvin
prime+minister: leader head_of_government country
flight+search: roundtrip one_way fly depart return
roundtrip: return both_ways
rental+car: rent hire pickup
house+place: apartment vacation stay rental
theater+event: concert game show tickets
therapist: counselling psychologist mental
stylist: haircut salon hair
bus+train+ticket: travel seat journey
media: movie play watch stream
shared+money: split send pay friend
`;
