/** What people say for the actions and states of any tool, whatever it is about. Written from the tools' texts alone. `tool words: people's words`, see thesaurus.ts. */
export const actionHints = `
# Making and changing
append: bottom end tack extend
insert: ingest seed populate put place
update+rename: retitle relabel rebrand
replace: swap overwrite substitute instead
patch: partial tweak amend
remove+member: kick expel revoke
clear: empty wipe reset flush blank
drop: destroy remove wipe
uninstall: remove get_rid
revoke: invalidate withdraw cancel rescind
reset: restore defaults start_over reinitialise revert fresh
undo+revert: take_back go_back reverse rollback
restore: undelete recover bring_back resurrect unarchive
rollback: previous earlier go_back
archive: shelve hide retire inactive
unarchive: restore reopen
copy+duplicate: replicate clone same_as
clone: copy download checkout
rename: retitle call name
merge: combine unify fold consolidate join integrate bring_together
split: divide break separate
convert: transform turn translate change export reformat
format: style prettify beautify tidy
sort: order arrange rank
filter: narrow only restrict matching
sync: synchronise update mirror match reconcile align
transfer: hand_over move give reassign send
export: save download extract dump backup
upload: send push attach put
download: save fetch grab pull get_file
publish: release post go_live make_public share put_online
unpublish: take_down hide withdraw
deploy: roll_out release ship publish put_live push_out go_live host
upgrade: newer bump latest version
install: set_up add put
migrate: move switch port transition
enable: activate turn_on switch_on allow start
disable: deactivate turn_off switch_off stop block
toggle: switch flip on_off turn
lock: freeze prevent protect
unlock: release open
protect: lock guard secure prevent restrict
unprotect: unlock loosen allow
assign: give allocate delegate hand owner responsible reassign
unassign: detach free release
invite: ask add share onboard
subscribe: follow watch notify
approve: accept authorise ok greenlight confirm endorse grant consent permit
approve+request: accept deny reject decline
deny: reject refuse decline
reject: decline refuse turn_down
submit: send file hand_in turn_in
confirm: verify accept ok
accept: agree approve confirm
resolve: fix settle close clear
complete: finish done finalise wrap_up tick accomplished
finalize: finish complete wrap_up conclude end
abort: cancel stop quit bail
cancel: stop abort call_off terminate halt
trigger: start fire kick_off launch run cause
rerun: again retry repeat restart
retry: again rerun repeat
resume: continue restart pick_up unpause
pause: suspend hold freeze stop halt
shutdown: turn_off power_down stop switch_off
reboot: restart power_cycle
wait: until pause sleep delay hold
schedule: plan set_up later every recurring arrange repeat timer book automatic regular
reschedule: move postpone shift delay
allocate: reserve book claim take
reserve: book hold claim
release: free give_back let_go
disconnect: drop unlink close detach
attach: add mount link connect include
detach: unmount remove disconnect
mount: attach
associate: link connect relate
mark: flag set tick
flag: mark report
pin: fix stick top
star: favourite bookmark like
react: emoji like thumbs
rate: score stars review
# Asking
get+details: info specifics particulars metadata describe everything_about attributes
list+available: options supported offered choices
find+nearby: near closest around local
describe: explain details info shape
explain: clarify why describe meaning teach
inspect: examine look check view details
check+status: progress state finished ready running done
validate: check verify correct valid errors ensure well_formed
verify: check confirm prove authentic
compare: differ versus difference better
count: how_many number total tally quantity
count+words: length long
summarize: tldr brief shorten gist digest boil_down condense
analyze: study examine evaluate look_into insight understand assess review investigate
evaluate: assess judge rate score
assess: evaluate judge
calculate: compute work_out determine figure_out find how_much how_many
estimate: approximate guess predict project roughly
predict: forecast future estimate expect project will
forecast: predict outlook future upcoming expect
recommend: suggest advise best propose ideas should
recommendation: suggestion advice tips best ideas
suggest: recommend propose ideas
generate+report: produce summary
generate+random: dummy sample fake
audit: review check compliance inspect trail who_did
audit+log: history activity who_did trail
diagnose: troubleshoot debug why wrong problem
troubleshoot+debug: fix diagnose wrong broken failing why
simulate: pretend model emulate
recognize: identify detect
identify: recognise determine find which
extract: pull get parse grab scrape isolate
parse: read interpret extract
scan: check examine detect
classify: categorise sort label type
translate: convert interpret render say
watch: view stream see
listen: play hear
# States and shapes
status: state progress health condition how_is running
status+report: progress
history: past previous earlier log record timeline changes over_time
recent+activity: latest changes happened timeline
activity: events actions log happened
latest: newest most_recent current last
active: current running open enabled
pending: waiting open outstanding unfinished todo
next: upcoming following then
details: specifics info full
metadata: info properties attributes details
properties: attributes fields settings details
settings: preferences options config
default: standard usual preset
versions: releases history revisions
limit: cap maximum quota
usage: consumption used how_much spending utilisation
health: alive up working status ok
health+check: alive up working ping status reachable online
ping: alive reachable up online
capability: features what_can
instruction: how_to guide directions steps
template: starter boilerplate blueprint predefined
example: sample demo usage snippet how_to
bulk+batch: many several multiple at_once all together mass
multiple: several many at_once
batch: many several at_once group
parent: above owner containing
children+child: nested inside under sub
members: people who participants belong
owner: who responsible belongs
profile: about bio details account person
current+user: me myself who_am_i logged_in my_account
whoami: who_am_i me identity logged_in
users: people members everyone staff who
roles: permissions access rights privileges
permission: who_can allowed access rights
access: permission allowed entry rights
public: open everyone shared
private: secret hidden internal
draft: unpublished unsent unfinished preliminary
thread: conversation discussion replies
comment: feedback note remark reply opinion say
reply: respond answer respond_to
note: comment memo remark
feedback: opinion comment complaint suggestion
attachment: file document picture enclosed
preview: look sample peek
`;
