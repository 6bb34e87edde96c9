import { audit } from "./audit-command.ts";
import { calls } from "./calls-command.ts";
import { restart, stop } from "./control-commands.ts";
import { events } from "./events-command.ts";
import { everydayCommands } from "./everyday/everyday-commands.ts";
import { login, logout } from "./login-command.ts";
import { logs } from "./logs-command.ts";
import { status } from "./status-command.ts";
import { token } from "./token-command.ts";
import { tokens } from "./tokens-command.ts";

/**
 * The commands that do not become a gateway. They are loaded together, because what several of them share with a gateway would
 * otherwise be six files more at each start of one.
 */
export const shortCommands = {
  ...everydayCommands,
  audit,
  calls,
  events,
  login,
  logout,
  logs,
  restart,
  status,
  stop,
  token,
  tokens,
} as const;
