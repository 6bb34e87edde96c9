import { call } from "./call-command.ts";
import { complete, completion } from "../completion/completion-command.ts";
import { prompts } from "./prompts-command.ts";
import { read } from "./read-command.ts";
import { resources } from "./resources-command.ts";
import { search } from "./search-command.ts";
import { show } from "./show-command.ts";
import { tools } from "./tools-command.ts";

/** The commands of every day, which use the running gateway or start one in the background. */
export const everydayCommands = { call, complete, completion, prompts, read, resources, search, show, tools } as const;
