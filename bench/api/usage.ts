import { z } from "zod";

import type { LogLine } from "../../scripts/serve/workerd.ts";
import type { Case } from "./cases.ts";
import { ask, type Client } from "./client.ts";

/**
 * The D1 usage of a request of a case: medians, since one request per minute also records that its
 * token was used.
 */
export type Usage = { calls: number; rounds: number; rowsRead: number };

/** The fields of the service's log line (src/app.ts) that are read here. */
const RequestLine = z.object({
  event: z.literal("request"),
  id: z.string(),
  d1Calls: z.number(),
  d1Rounds: z.number(),
  d1RowsRead: z.number(),
});
type RequestLine = z.infer<typeof RequestLine>;

const REQUESTS = 15;
const LINE_WAIT_MS = 5000;

/** The log lines of a service, by request id. */
export type Journal = {
  note: (line: LogLine) => void;
  /** Waits for the line, which is logged shortly after the response. */
  find: (requestId: string) => Promise<RequestLine>;
};

export function openJournal(): Journal {
  const lines = new Map<string, RequestLine>();
  return {
    note: ({ message }) => {
      const line = RequestLine.safeParse(message.startsWith("{") ? JSON.parse(message) : undefined);
      if (line.success) lines.set(line.data.id, line.data);
    },
    find: async (requestId) => {
      for (const end = Date.now() + LINE_WAIT_MS; Date.now() < end;) {
        const line = lines.get(requestId);
        if (line) return line;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`the service logged no line for request ${requestId}`);
    },
  };
}

/** Sends sequential requests to a service that logs the rows it reads (LOG_D1_ROWS). */
export async function countUsage(client: Client, journal: Journal, apiCase: Case): Promise<Usage> {
  const lines: RequestLine[] = [];
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    lines.push(await journal.find((await ask(client, apiCase)).requestId));
  }
  const median = (of: (line: RequestLine) => number): number =>
    lines.map(of).toSorted((a, b) => a - b)[REQUESTS >> 1] ?? Number.NaN;
  return {
    calls: median((line) => line.d1Calls),
    rounds: median((line) => line.d1Rounds),
    rowsRead: median((line) => line.d1RowsRead),
  };
}
