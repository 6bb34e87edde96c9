/** What orders on the machine of a gateway need. Loaded with the first of them. */
export { answerClientOrder, orderInThread } from "./thread/client-thread.ts";
export { examine } from "./doctor/examination.ts";
export {
  givenTo,
  inSandbox,
  isWorthAdding,
  makeNew,
  sandboxHere,
  writeExamples,
  writeNew,
} from "./servers/added-server.ts";
export { registryOffers, testedOffers } from "./servers/server-offers.ts";
export { serverVariables } from "./servers/server-variables.ts";
export { waitInForce } from "./servers/await-config.ts";
export { readAddedWords, readEntryWords } from "./servers/server-words.ts";
export { toTrialText } from "./servers/trial-result.ts";
export { findDataDirectory, keepValues, readConfig } from "./surroundings/surroundings.ts";
