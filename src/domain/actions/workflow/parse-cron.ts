import { WorkflowError } from "./workflow-error.ts";

/** The times of a schedule. */
export interface Cron {
  /** The first time after one, both in milliseconds; undefined if there is none. */
  next(after: number): number | undefined;
}

/** `TZ=Europe/Berlin 0 5 * * *`, as Gitea reads it. */
const ZONED = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/;
const FIELDS = /^\S+(?:\s+\S+){4}$/;
const NICKNAMES = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;

/**
 * Reads the five fields of a schedule, in UTC if no zone stands before them.
 *
 * @throws WorkflowError
 */
export async function parseCron(text: string): Promise<Cron> {
  const [, timezone = "UTC", rest = text] = ZONED.exec(text.trim()) ?? [];
  const fields = rest.trim().replace(/^@midnight$/i, "@daily");
  if (!FIELDS.test(fields) && !NICKNAMES.test(fields)) {
    throw new WorkflowError(`The schedule '${text}' does not have five fields`);
  }
  const { Cron: Times } = await import("croner");
  try {
    const times = new Times(fields, { timezone, paused: true });
    times.nextRun(new Date(0));
    return { next: (after) => times.nextRun(new Date(after))?.getTime() };
  } catch (error) {
    throw new WorkflowError(`The schedule '${text}' can't be read: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
