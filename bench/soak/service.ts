import { z } from "zod";

import { openStartedService, type StartedService } from "../support/started-service.ts";

export type SoakService = StartedService & {
  /** Lines of its output that report an error. */
  errors: () => readonly string[];
};

/** Events of the log that need the operator's attention. */
const FAULTS = new Set([
  "request:bug",
  "dispatch:given-up",
  "dispatch:lease-lost",
  "dispatch:payload-too-large",
  "events:not-queued",
  "hooks:unsealable",
  "receive:not-recorded",
]);

const LogLine = z.object({ event: z.string(), status: z.number().optional() });

/** Runs `npm start` with its state in `data`, and collects the errors that it reports. */
export async function openSoakService(data: string): Promise<SoakService> {
  const errors: string[] = [];
  const service = await openStartedService(data, {
    onLine: (line) => void (isFault(line) && errors.push(line)),
    onError: (line) => errors.push(line),
  });
  return { ...service, errors: () => errors };
}

/** Whether a line of the log reports a fault: responses of 5xx included. */
export function isFault(line: string): boolean {
  if (!line.startsWith("{")) return false;
  const { data } = LogLine.safeParse(JSON.parse(line));
  return data !== undefined && (FAULTS.has(data.event) || (data.status ?? 0) >= 500);
}
