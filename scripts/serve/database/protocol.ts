/**
 * What the binding and the object of the local database send to each other: JSON, as texts. A call
 * that sends a text costs less than one that sends objects, and JSON changes numbers as it does
 * between a Worker and D1: NaN becomes null.
 */

/** A value in a row or bound to a statement. A BLOB is an array of its bytes, as D1 returns it. */
export type Value = number | string | null | readonly number[];

/** A statement with the values of its parameters, in order. */
export type Query = { sql: string; params: readonly Value[] };

/** The result of a statement. */
export type QueryResult = {
  columns: string[];
  rows: Value[][];
  rowsRead: number;
  rowsWritten: number;
  /** Rows changed, by triggers too. */
  changes: number;
  /** Of the last INSERT of the database, which may be an earlier statement. */
  lastRowId: number;
  changedDb: boolean;
  sizeBytes: number;
  durationMs: number;
};

/** The results of all statements, or the message of the error that rolled them back. */
export type Reply = { results: QueryResult[]; bookmark: string } | { error: string };

/**
 * A text as it is sent. A call takes 32 MB, and a stream any size: a long text is the body of a
 * response.
 */
export type Message = string | Response;

/** Of up to four bytes each. */
const CHARACTERS_MAX = 4_000_000;

export const toMessage = (text: string): Message =>
  text.length > CHARACTERS_MAX ? new Response(text) : text;

export const readMessage = async (message: Message): Promise<string> =>
  typeof message === "string" ? message : message.text();

/**
 * What only reads starts with these, and has none of {@link MAY_WRITE}, which may occur in texts
 * and names too.
 */
const STARTS_READ = /^\s*(?:select|with)\b/i;
const MAY_WRITE = /;|\b(?:insert|update|delete|replace)\b/i;

export const isRead = (sql: string): boolean => STARTS_READ.test(sql) && !MAY_WRITE.test(sql);
