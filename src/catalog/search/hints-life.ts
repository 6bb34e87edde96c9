/** Life: money, buying, travel, places, health, learning, leisure. `tool words: people's words`, see thesaurus.ts. */
export const lifeHints = `
# Knowledge
knowledge graph: memory entities facts
relation: connect link associate between relationship connection
entity: concept thing person node
paper research: study article publication journal academic scholarly scientific literature scholar doi arxiv science preprint systematic_review
academic paper search: scholarly studies journal peer_reviewed
wikipedia: encyclopedia biography history article facts
article: story post wikipedia
definition dictionary: meaning define word synonym
history: ancient war century past treaty
news: headline headlines happening events latest breaking press current_events journalist outlet story political
book: novel read author reading fiction literature bestseller
course learn: study class lesson teach tutorial education university training skill certificate degree online_course
education learning: student school homework children kids
language tutor: learn practice speak vocabulary pronunciation
exam prep: test ielts toefl practice
law legal: rights court lawyer sue landlord contract regulation attorney lawsuit tenant statute illegal attorney
politics political: election government parliament minister congress vote senator policy president
census data: population demographic household
statistics: numbers figures data
dataset data: open_data government
# Money
finance financial: stock bitcoin invest investment crypto ethereum market portfolio share equity etf bond dividend ticker trading price nasdaq cryptocurrency nft earnings
stock: share ticker equity nasdaq shares company investor
stock price: share ticker
stocks cryptocurrencies: bitcoin crypto eth btc ethereum coin ripple litecoin dogecoin token stock
cryptocurrency crypto: bitcoin ethereum btc eth coin blockchain token nft defi wallet
portfolio investing: invest investment asset allocation retirement diversify wealth risk
market: stock prices index
historical prices: past performance year
currency exchange: dollar euro usd eur yen pound rate convert money forex rupee gbp
loan mortgage calculator: interest repay borrow debt payoff installment principal
interest: compound savings
insurance: premium policy coverage claim
# Buying
product search: buy purchase shop shoes dress phone laptop camera headphones clothes clothing furniture brand gadget jacket item mattress shoes bag watch toy buying
product: item goods gadget
product comparison compare: versus difference better
price: cost cheap expensive cheapest much fee fare rate
discount coupon: promo deal sale cheaper save offer bargain voucher
review: rating opinion feedback stars pros cons
gift: present birthday anniversary valentine christmas
cart order shopping: checkout buy basket
order: purchase buy delivery
fashion: outfit wear dress style clothes clothing
beauty: makeup skincare cosmetics lipstick skin cream
apparel: shirt tshirt hoodie t_shirt clothing printed sock
car: vehicle sedan suv automobile truck dealer used drive ev
dealer car: buy vehicle suv
charging ev: supercharger tesla electric station charger
petrol fuel: gas gasoline price diesel
# Places
weather: rain sunny temperature forecast umbrella snow cold hot wind humidity storm climate celsius cloudy degrees hiking picnic outdoors
forecast weather: tomorrow weekend rain
temperature: hot cold warm degrees celsius fahrenheit
air quality: pollution smog aqi breathe
earthquake: quake seismic magnitude tremor
surf: wave beach
map: location navigation geography
directions route: drive walk walking driving navigate way commute travel cycling
distance matrix: far long travel_time
isochrone: reachable within minutes
elevation: altitude height high
geocode coordinates: address latitude longitude lat lng
reverse geocode: coordinates address
place places poi search: nearby near restaurant cafe hotel museum shop around closest local store
local: nearby near restaurant shop cafe service repair salon
restaurant booking: dinner table reservation dine lunch eat cuisine brunch
food: eat meal dish pizza burger hungry lunch dinner
recipe: cook cooking dish ingredient bake dinner meal cuisine breakfast chicken pasta vegan
diet: calorie nutrition healthy weight eat protein food meal keto vegan
hotel accommodation: stay room lodging resort check_in vacation apartment airbnb rental
airbnb listing: stay lodging vacation rental
travel trip: vacation flight holiday hotel visit tour itinerary sightseeing tourist attractions destination getaway abroad flights
tourism attraction: sightseeing visit must_see landmark tourist
flight: fly plane airline airport ticket airfare
aviation: pilot flight metar taf airport
train railway: ticket station rail
train ticket: travel seat
subway: metro station train line
bus: transit stop public_transport
ticket: concert show match event seat game
event: concert festival show exhibition party
parking carpark: park car garage lot
theme park: disneyland ride queue rollercoaster disney
speed camera: radar police road
house purchase: buy property home real_estate mortgage apartment condo realtor
house rent: renting apartment flat tenant landlord lease rental
home: house property
museum art: painting artwork sculpture exhibit gallery artist
space nasa: planet mars moon astronomy star galaxy rocket apollo telescope hubble universe
# Health, sport, leisure
health: doctor symptom disease illness covid flu vaccine medical pain hospital medicine patient
clinical trial: treatment study drug patient cancer eligibility therapy
drug: medicine medication prescription
gene variant: mutation dna genetic
workout fitness: exercise gym muscle training strength cardio
meditation: mindful stress relax calm
sport sports: game team player league match football basketball soccer nba nfl baseball tennis hockey score standings
football soccer: match league goal premier team
score: result points game
fantasy league: fpl midfielder transfer
music: song playlist artist album band listen tune singer genre track concert
music notation: midi sheet score
chord: guitar piano ukulele
lyrics: song words sing
movie movies: film cinema watch actor director thriller comedy netflix
movies shows: film series watch tv streaming netflix thriller comedy drama actor marvel
streaming watch: netflix hulu tv show series
show theater: broadway musical play
game: play player puzzle gaming video_game multiplayer steam xbox
chess: checkmate opening grandmaster
puzzle: crossword sudoku riddle
word game: guess riddle clue hangman
quiz: trivia question
story: tale fairy bedtime fiction
joke: funny laugh humor
horoscope astrology: zodiac star_sign aries libra leo scorpio gemini pisces virgo birth_chart
tarot: card reading fortune future
personality: mbti introvert character
dating: relationship love girlfriend boyfriend
religion: god pray islam muslim bible quran prophet
plant: garden flower grow houseplant soil leaves
pet: dog cat animal vet puppy kitten
animal: pet dog cat horse
cocktail drink: bar alcohol wine beer
sake: japanese alcohol
baby children: child kid toddler parent
charity nonprofit: donate donation volunteer fundraising
funding grant: fund startup investor
# Money
finance stock: nasdaq dow sp500 shareholder brokerage bull bear trader trading bonds commodities gold silver valuation earnings quarterly dividends
finance crypto cryptocurrency: btc bitcoin eth ethereum altcoin binance coinbase blockchain nft defi token solana dogecoin market_cap wallet
portfolio investment investing: retire retirement savings assets allocation diversification risk returns hedge 401k ira wealth funds
wealth portfolio: fund assets manager
insider congress trading: senators lobbying representatives stocks contracts legislation
financial calculator loan: mortgage repayment interest_rate amortization debt credit_card payoff emi installments monthly_payment
tax sales: vat rate purchase address
currency: exchange_rate conversion dollars euros pounds yen rupees peso francs yuan won bucks cny krw gbp
exchange price: eth btc usd
price product: deal cheapest affordable budget inexpensive
discount coupon: promo_code promotional sale clearance bargain save cashback offers black_friday
product search shop: sneakers couch chair desk monitor headset earbuds blender vacuum television tv tablet smartphone iphone backpack jewelry necklace perfume shirt jeans jacket coat socks toys bicycle bike appliance
product comparison: versus alternatives pros cons differences
product review: pros cons opinions worth complaints
clothing fashion style: outfits dress suit wardrobe weather wearing attire occasion
gift: birthdays presents surprise holiday wedding
house purchase home: mortgage realtor zillow bedroom neighborhood sell listing homes properties townhouse villa backyard square_feet
house rent: landlord apartments rentals studio roommate lease monthly furnished bedroom
car dealer: vehicles sedan suvs pickup toyota honda ford bmw tesla mileage used secondhand commute reliable minivan truck hybrid
vehicle: motorcycle truck van
charger vehicle: supercharging ev charging electric station tesla
petrol fuel price: gas gasoline diesel refuel cheapest station
# Going places
travel trip planning: vacation vacations honeymoon backpacking itinerary destinations cruise sightsee explore abroad getaway explore visiting visit tour guide
tourism accommodation activities: attractions things_to_do must_see sights landmarks hidden_gems nightlife beaches culture
hotel booking: hotels motel hostel resort suite inn bed_and_breakfast overnight rooms expedia
travel flight: airline airfare layover departures airports fly flying plane ticket airplane
restaurant booking: table reservation reserve dine dining dinner michelin
restaurant: bistro diner steakhouse sushi pizzeria eatery brunch cuisine vegetarian seafood cafe bar pub bakery
map: directions navigate route location landmark locate aerial satellite
subway metro: transfer station train line
ticket sport concert: seats seat festival show game match stadium admission
event: meetup conference webinar gala festival workshop fair happening
theme park: rides roller_coaster disneyland waits universal_studios
parking: lots carpark spaces garage vacancy
traffic road: roadwork accident congestion speeding camera
weather forecast: raining sunshine thunderstorm hurricane drizzle heatwave freezing chilly jacket clouds uv sunrise sunset precipitation humid windy foggy
air quality: pollutant pollution smoke wildfire allergy breathing asthma pm2.5 outdoor outdoors
surf: waves swell tide beach
earthquake: quakes seismic aftershock magnitude richter tremors tsunami epicenter
space nasa image: astronaut astronauts galaxy galaxies nebula rover curiosity perseverance comet asteroid saturn jupiter iss planets apollo cosmos telescope
space station: iss astronauts orbit
# Body and life
health risk local: pandemic covid mask vaccinate vaccination virus infection flu outbreak gathering quarantine coronavirus
clinical trial: cancer chemotherapy recruiting patients treatment therapy diabetes alzheimer placebo nct disease
workout plan: exercises squats push_ups cardio weights muscle gain lose_weight abs running yoga strength trainer gym stretch personal_trainer
diet calorie nutrition: carbs protein fat weight_loss nutrient vitamins ketogenic low_carb gluten macros fasting eating meals vegan vegetarian healthy
recipe meal: dinner lunch breakfast dessert cake soup salad chicken beef pasta bake baking cookies curry grill oven leftovers ingredients vegan dish cooked
habit daily: motivation routine procrastination discipline mindfulness goals streaks
decision: dilemma choosing regret decide outcome
personality test: introvert extrovert myers briggs mbti type
indoor plant: houseplants succulent watering leaves cactus orchid soil sunlight gardening garden fertilizer
horoscope astrology: zodiac aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces birth_chart star natal compatibility
tarot card: fortune reading divination spread psychic
religion advice: hadith prophet sunnah islamic quran muslim prayer
language learn tutor: fluent fluency conversational spanish french german italian japanese korean mandarin chinese portuguese vocabulary phrase pronounce say grammar
translate language: translated translating interpret
exam speaking: ielts toefl practice fluency band
course: mooc lecture syllabus curriculum certification bootcamp tutorials degree programming_course beginner learning lessons classes coursera udemy university
flashcard memory: memorize memorise studying quiz vocabulary revision exams
research paper academic: thesis dissertation citation cite bibliography scholars literature_review peer hypothesis experiment scientific studies journals findings
mind map question: outline
pdf document: textbook attached file chapter pages manual article excerpt
url link: webpage article site
law: statute act legislation constitution legal_advice copyright patent trademark liability employment divorce custody crime criminal penalty immigration visa rights lawsuits
politics: mp parliament brexit labour conservative manifesto speech voting prime_minister
news: bulletin coverage politics world happened recent_events updates crisis war conflict election journalism report incident
newsletter: substack publication subscribe writer
podcast: episodes interviews hosts
book: novels bestselling memoir biography sci_fi fantasy mystery thriller reads literary author kindle library
movie show media recommendation: films tv_series comedy drama horror sitcom anime documentary actor actress season episodes netflix hulu binge cinema watching disney hbo
stream watch: netflix hulu prime streaming disney
music: songs playlists spotify artists bands albums jazz rock hip_hop classical melody singer lyrics tracks pop genre workout_music party
chord guitar: fret strum fingering ukulele
music notation: compose melody tune
game: gamer gaming rpg fps xbox playstation nintendo steam multiplayer esports minecraft fortnite
league legends: champion lol summoner
magic gathering card: mtg deck planeswalker
history time: ancient medieval revolution empire pharaoh roman renaissance historical past
soccer football: fixtures goals scorer premier_league la_liga champions_league world_cup bundesliga club striker clubs
team sport: nba nfl mlb nhl roster schedule standings playoffs
fantasy premier league: captain transfers midfielder fpl gameweek squad
chess: checkmate stockfish knight bishop gambit
dice: d20 rolls rpg
crossword: clues puzzle
board game: checkers tic_tac_toe
quote sms daily: inspirational motivational inspiration
meme gif: funny hilarious reaction joke laugh
sake: liquor drink japanese
art museum: masterpiece monet van_gogh gogh picasso renaissance sculptures exhibition paintings artist curator
internet web search: real_time google facts current look_up
fact: trivia knowledge
time: clock hours current_time timezone date
calculator: sqrt cube factorial logarithm multiply multiplied divided plus minus cosine sine triangle modulo exponent
count word: characters letters
summarize: key_takeaways takeaways abstract highlights
podcast summarize: episode
`;
