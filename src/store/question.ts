/**
 * A question to the database, as the types of its parameter and of its answer. Both travel to the worker thread as
 * JSON.
 */
export interface Question<Ask, Answer> {
  /** For its type only. */
  readonly ask?: Ask;
  readonly answer?: Answer;
}

/** Questions by name. */
export type QuestionTable = Readonly<Record<string, Question<unknown, unknown>>>;

/** A row of a table of questions, with nothing in it but its types. */
export function question<Ask, Answer>(): Question<Ask, Answer> {
  return {};
}

export type AskOf<Row> = Row extends Question<infer Ask, unknown> ? Ask : never;
export type AnswerOf<Row> = Row extends Question<unknown, infer Answer> ? Answer : never;

/** The questions of a table as methods of the same names. */
export type Asked<Table extends QuestionTable> = {
  readonly [Name in keyof Table]: (what: AskOf<Table[Name]>) => Promise<AnswerOf<Table[Name]>>;
};
