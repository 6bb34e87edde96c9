/** What orders on the machine of a gateway need. Loaded with the first of them. */
export { toClientLines, findClients } from "./clients/client-lines.ts";
export { findWantedTarget } from "./clients/connection-target.ts";
export { planConnection } from "./clients/connection-plan.ts";
export { planDisconnection, planUndoing } from "./clients/disconnection-plan.ts";
export { importUnasked } from "./clients/import-facts.ts";
export { examine } from "./doctor/examination.ts";
export { isWorthAdding, makeNew, writeExamples, writeNew } from "./servers/added-server.ts";
export { waitInForce } from "./servers/await-config.ts";
export { readAddedWords, readEntryWords } from "./servers/server-words.ts";
export { toTrialText } from "./servers/trial-text.ts";
export { findDataDirectory, readConfig } from "./surroundings/surroundings.ts";
