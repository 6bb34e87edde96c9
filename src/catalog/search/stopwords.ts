/**
 * Words that say nothing about which tool is meant. Dropped everywhere but in a tool's name, where `help`, `use` or `show` may be
 * all there is.
 */
export const stopwords: readonly string[] = `
a about above after again against all also am an and any anyone anything are as at be because been before being below between both but by can
cannot cant could couldnt did didnt do does doesnt doing dont down during each either else ever every few for from further give given gives giving
had has hasnt have havent having he hello help helps her here hers hey hi him his how however i id ie if im in into is isnt it its itself ive just d m ve don doesn didn isn wasn won couldn wouldn shouldn hasn haven aren weren ain
kindly know let lets like ll make makes many may maybe me mean might mine more most much must my myself need needed needs neither no nor not now of off ok
on once one only onto or other others our ours out over own per please provide provided provides providing quite rather re really s same shall she should show shows so some somehow
someone something such sure t tell than thank thanks that the their theirs them then there these they thing things this those through thus to too
try trying under until up upon us use used user users uses using various very via want wanted wants was wasnt way we well were what whats when where whether which while
who whom whose why will wish with within without wont would yes yet you your yours yourself
`
  .trim()
  .split(/\s+/);

/** Conversational words that are not empty but seldom name the tool: they count half. */
export const fillers: readonly string[] = `
current currently latest detailed detail details information info best recommend recommendation suggest suggestion able good great interesting important
different specific specifically related based including available possible particular certain new recent recently today main various multiple
find looking see check interested comprehensive overview finally next right relevant named called located least potential budget example
two three four five six seven eight nine ten first second last past year years month months week weeks day days hour hours minute minutes tomorrow yesterday tonight
popular top high low full options option brief across go going went come people person thing way place number total name names type types set
january february march april june july august september october november december monday tuesday wednesday thursday friday saturday sunday
request requests requested requesting quickly easily simple simply directly exactly highly really total overall general entire whole several few lot lots bit
wonder wondering curious hope hoping consider considering eager keen stuck struggle struggling worry worried assist assistance guidance feel feeling seem seems
lately soon always never already still just even away back around nice perfect ideal suitable appropriate proper fun cool amazing awesome exciting fascinating
helpful useful reliable quick fast easy efficient efficiently effective effectively favorite favourite special variety wide range kind kinds similar own part bunch couple stuff
idea ideas trouble tips understand decide think thinking plan planning start starting begin beginning enjoy love like prefer upcoming ensure properly correctly automatically
together instead actually maybe perhaps mention mentioned following according currently order wants needs goal purpose reason case situation long-term
`
  .trim()
  .split(/\s+/);
