import { findFile } from "../../../config/file/file.ts";
import { problemsOf } from "../../../config/file/problems.ts";
import { textOption } from "../../../config/given.ts";
import { readConfig, type Surroundings } from "./surroundings.ts";

export interface ConfigProblems {
  readonly file: string | undefined;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** All problems of the configuration, each with its place. */
export async function findProblems(place: Surroundings): Promise<ConfigProblems> {
  try {
    const { file, warnings } = await readConfig(place);
    const isWrong = (warning: string): boolean => / is disabled: /.test(warning);
    return { file, problems: warnings.filter(isWrong), warnings: warnings.filter((warning) => !isWrong(warning)) };
  } catch (error) {
    const file = await findFile(textOption(place, "config"), place.cwd, place.homeDirectories);
    return { file, problems: problemsOf(error), warnings: [] };
  }
}
