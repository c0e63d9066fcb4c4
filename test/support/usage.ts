import { env } from "cloudflare:workers";
import { vi } from "vitest";

import type { Answer } from "./call.ts";
import { isSharded } from "./shards/test-shards.ts";

/** The log line of a request. */
export interface RequestLine {
  event: "request";
  id: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  d1Calls: number;
  d1Rounds: number;
  d1RowsRead: number;
  /** Queries whose SQL was built for this request, rather than bound only. */
  sqlBuilds: number;
  objectCalls: number;
  r2Calls: number;
  r2Rounds: number;
  /** Steps of the budgets. */
  steps: number;
}

/** The log line of a finished streamed response. */
export interface SentLine {
  event: "git:sent";
  id: string;
  r2Calls: number;
  objectCalls: number;
  bufferedBytesPeak: number;
  sentBytes: number;
}

/** Sends a request and returns its log lines, and the full text of the log meanwhile. */
export async function logged(send: () => Promise<Answer>) {
  const spy = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    const answer = await send();
    const lines = spy.mock.calls.map(([line]) => String(line));
    const id = answer.headers.get("X-Request-Id");
    const own = lines
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as RequestLine | SentLine)
      .filter((each) => each.id === id);
    const line = own.find((each) => each.event === "request");
    if (!line) throw new Error("the request was not logged");
    const sent = own.find((each) => each.event === "git:sent");
    return { answer, line, sent, text: lines.join("\n") };
  } finally {
    spy.mockRestore();
  }
}

/**
 * The round trips of a request about what is in a repository's database, or in that of an owner's packages.
 *
 * @param rounds Those without shards: with shards one more, since the first database says which shard it is.
 */
export const roundsInShard = (rounds: number): number => rounds + (isSharded ? 1 : 0);

/**
 * The round trips of a request of which two calls overlap.
 *
 * @param rounds Those of a database that is elsewhere: the local one may have answered the first before the second is sent.
 */
export const roundsWithOverlap = (rounds: number): number => rounds + ("LOCAL_DB" in env ? 1 : 0);

/**
 * The round trips of a request that writes rows of the first database of which shards have copies.
 *
 * @param rounds Those without shards: with shards four more. Three bring the copies (which shards lack what, the rows, the batches of
 * shards), and a note that the shards have them is sent with the response.
 */
export const roundsWithCopies = (rounds: number): number => rounds + (isSharded ? 4 : 0);

/**
 * The round trips of a request that writes other rows of the first database.
 *
 * @param rounds Those without shards: with shards one more asks whether any of them lacks something.
 */
export const roundsOfWrite = (rounds: number): number => rounds + (isSharded ? 1 : 0);

/**
 * The round trips of a request that creates a repository.
 *
 * @param rounds Those without shards: with shards six more. The shard is chosen, or told who writes there, the copy of the row takes three,
 * own data follows it, and one more asks whether any shard lacks something.
 */
export const roundsOfCreation = (rounds: number): number => rounds + (isSharded ? 6 : 0);
