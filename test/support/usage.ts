import { env } from "cloudflare:workers";
import { vi } from "vitest";

import { isolateWrites } from "../../src/lib/writes.ts";
import type { Answer } from "./call.ts";

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

/** Ends what is kept for seconds, which would hide what the next request needs. */
export const endKept = (): Promise<void> => isolateWrites.follow("all", () => Promise.resolve());

/**
 * Sends a request and returns its log lines, and the full text of the log meanwhile. Nothing is
 * kept for seconds from earlier requests.
 */
export async function logged(send: () => Promise<Answer>) {
  await endKept();
  return loggedAgain(send);
}

/** The same, with what is kept for seconds. */
export async function loggedAgain(send: () => Promise<Answer>) {
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
 * The round trips of a request of which two calls overlap.
 *
 * @param rounds Those of a database that is elsewhere: the local one may have answered the first
 *   before the second is sent.
 */
export const roundsWithOverlap = (rounds: number): number => rounds + ("LOCAL_DB" in env ? 1 : 0);
