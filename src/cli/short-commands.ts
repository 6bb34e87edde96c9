import { app, client, session } from "./access-command.ts";
import { audit } from "./audit-command.ts";
import { calls } from "./calls-command.ts";
import { connect } from "./connect-command.ts";
import { restart, stop } from "./control-commands.ts";
import { disconnect } from "./disconnect-command.ts";
import { install, installations, key, secret, template, uninstall } from "./installs-command.ts";
import { listClients } from "./clients-command.ts";
import { events } from "./events-command.ts";
import { importServers } from "./import-command.ts";
import { config } from "./config-command.ts";
import { doctor } from "./doctor-command.ts";
import { servers } from "./servers-command.ts";
import { invite, team, user } from "./people-command.ts";
import { everydayCommands } from "./everyday-commands.ts";
import { login, logout } from "./login-command.ts";
import { logs } from "./logs-command.ts";
import { unknownCommand, wrongOption } from "./mistyped.ts";
import { open } from "./open-command.ts";
import { service } from "./service-command.ts";
import { status } from "./status-command.ts";
import { token } from "./token-command.ts";
import { backup, db, restore } from "./upkeep-command.ts";
import { openVisit } from "./terminal-visit.ts";
import { tokens } from "./tokens-command.ts";
import { trust } from "./trust-command.ts";
import { askTrust } from "./trust-question.ts";
import { usage } from "./usage-command.ts";

/**
 * The commands that do not become a gateway. They are loaded together, because what several of them share with a
 * gateway would otherwise be six files more at each start of one. What only a person on a terminal sees of a gateway,
 * and what is said to one who mistyped, is here for the same reason.
 */
export const shortCommands = {
  ...everydayCommands,
  app,
  askTrust,
  audit,
  backup,
  calls,
  connect,
  disconnect,
  client,
  clients: listClients,
  config,
  db,
  doctor,
  events,
  import: importServers,
  install,
  installations,
  key,
  login,
  logout,
  logs,
  open,
  restart,
  restore,
  servers,
  secret,
  service,
  session,
  status,
  stop,
  invite,
  team,
  template,
  token,
  tokens,
  trust,
  uninstall,
  unknownCommand,
  usage,
  user,
  wrongOption,
  visit: openVisit,
} as const;
