/**
 * How many of a thousand tools mention a word, for the words that at least ten do; counted over some eight thousand public tools.
 * A small catalog knows too little of which words are rare, and borrows it from here. Stems, grouped: `frequency:stem stem ...`.
 */
const commonWords = `
436:get 356:retriev 271:name 191:inform 189:specif 149:specifi 139:type 137:number 123:default 122:identifi 119:locat 114:data 110:list 109:return
98:new 96:uniqu 92:time 89:base 87:includ 85:requir 83:tool 80:mcp 78:server 76:format path 75:option 73:creat 71:set 70:calcul current model 68:valu
65:context 64:date 62:project request search 61:state 60:detail 57:file year 56:citi url 54:api 53:countri field result 52:content level start 51:oper
protocol 50:perform rate 49:desir scienc 48:gener limit 47:updat 46:text true 45:languag paramet 44:complet error find respons 43:object page resourc
42:avail system 41:unit 40:access check commun group info 39:document filter statu target 38:code first 37:exampl exist function manag 36:mm titl
35:git queri read servic 34:maximum yyyi 33:dd size 32:accept chang descript pagin 31:item product second sourc support 30:ai contain delet encod end
execut fals max run technolog 29:add collect enabl engin period permiss public work 28:allow custom valid 27:activ address ag analysi configur kei rang
26:appli arrai design gitlab indic non organ schema string 25:analyz http postman 24:area call describ numer point power 23:directori event fetch game
imag json lab multipl note pass prefer process region token 22:choos comput databas develop durat environ librari output profit record singl team test
york 21:categori connect dai exactli full input instead learn market match relat version 20:associ count differ discov healthcar remov sport task two
19:action amount capabl flag index initi method person plan refer tag 18:addit applic compani determin educ english etc height invalid last meter miss
open price repositori script total 17:ad authent com correspond devic digitalocean email high local properti remot repres standard take topic web
16:arg author build cloud color command histori interact interest messag mobil mode order patient platform real research select structur 15:account app
bodi branch ds element featur health human line map minut month network report social temperatur width 14:agent assist book case destin displai handl
hour individu length media ms place posit recommend root send session statist style usag 13:alreadi architectur browser comprehens condit control
coordin gender intellig issu larg london medium next omit publish rout secur store studi to top track usernam word 12:absolut autom charact db edit
follow hospit link music mutat node player present question schedul simpl space spanish speci view websit weight workspac write 11:art automat claud
cloudflar conflict convert criteria direct distanc doc endpoint estim explor food inspect insuffici interfac known log low measur necessari offer optim
physic playwright polici post save score separ sort special summari tabl user variabl workflow 10:across apiget ask assign azur card certain child
comment config contact cost creation cursor depend electr empti energi fail financ french histor hub implement instruct integr intern law merg metadata
monitor offic origin plai progress sampl softwar term
`;

/** Share of tools, by stem. */
export function commonWordShares(): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  let share = 0;
  for (const entry of commonWords.trim().split(/\s+/)) {
    const [before = "", after] = entry.split(":");
    if (after !== undefined) share = Number(before) / 1000;
    shares.set(after ?? before, share);
  }
  return shares;
}
