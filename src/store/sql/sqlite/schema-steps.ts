import { breaking, type Migrations } from "./migrate.ts";
import { createRecords } from "../migrations/records/records-0001.ts";
import {
  addTraceIds,
  addRequestBacklog,
  createFindingTables,
  addInstances,
} from "../migrations/records/records-0002-0005.ts";
import { sortOldBacklog, addMessages, addNodes } from "../migrations/records/records-0006-0008.ts";
import { isRowFault } from "../row-writer.ts";
import { createState, createPeople, addRights } from "../migrations/state/state-0001-0003.ts";
import { createAccess, createInstallations, createVault } from "../migrations/state/state-0004-0006.ts";
import {
  createChanges,
  addLoginsElsewhere,
  addTemplateMakers,
  createKeptSearches,
  createMemberPins,
  addSessionBrowsers,
  addTeamRules,
} from "../migrations/state/state-0007-0014.ts";
import { addApprovals } from "../migrations/state/state-0015.ts";
import { addShared, createClaims } from "../migrations/state/state-0020-0021.ts";

/** The steps of `records.db`. */
export const recordsSteps: Migrations = {
  "0001": createRecords,
  "0002": addTraceIds,
  "0003": addRequestBacklog,
  "0004": createFindingTables,
  "0005": addInstances,
  "0006": async (db) => await sortOldBacklog(db, isRowFault),
  // Versions that do not know it refuse every step that they do not know.
  "0007": breaking(addMessages),
  "0008": addNodes,
};

/** The steps of `state.db`. */
export const stateSteps: Migrations = {
  "0001": createState,
  "0002": createPeople,
  "0003": addRights,
  "0004": createAccess,
  "0005": createInstallations,
  "0006": createVault,
  "0007": createChanges,
  "0008": addLoginsElsewhere,
  "0009": addTemplateMakers,
  // What apps were given is behind row-level security in PostgreSQL, which is set again with the last step.
  "0010": async () => await Promise.resolve(),
  "0011": createKeptSearches,
  "0012": createMemberPins,
  "0013": addSessionBrowsers,
  "0014": addTeamRules,
  // As the last one of the records.
  "0015": breaking(addApprovals),
  "0020": createClaims,
  "0021": addShared,
};
