import { z } from "@hono/zod-openapi";

import type { MilestoneFields } from "../../domain/milestones/create-milestone.ts";
import { invalidField } from "../../lib/failure.ts";
import { body, optionalText } from "../json-body.ts";

const TITLE_MAX = 255;
const DESCRIPTION_MAX = 65_536;

const FIRST = Date.UTC(1970, 0);
const LAST = Date.UTC(9999, 11, 31);
/** The time that clients in Go send for none. */
const ZERO = Date.parse("0001-01-01T00:00:00Z");

const fields = {
  title: optionalText(TITLE_MAX),
  description: optionalText(DESCRIPTION_MAX),
  due_on: z.iso.datetime({ offset: true }).optional().openapi({ format: "date-time" }),
  state: z.string().optional().openapi({ description: "`open` or `closed`" }),
};

export const CreateMilestone = body(fields).openapi("CreateMilestoneOption");
export const EditMilestone = body(fields).openapi("EditMilestoneOption");

/** Whether a state is that of closed milestones; undefined if it is none. */
export const readState = (state: string | undefined): boolean | undefined =>
  state === "open" || state === "closed" ? state === "closed" : undefined;

/**
 * The due date is kept as it was sent, and a state that is none means open, as in Gitea.
 *
 * @throws Failure `invalid` for a due date that no answer could show.
 */
export const toNewMilestone = (sent: z.infer<typeof CreateMilestone>): MilestoneFields => ({
  title: sent.title?.trim() ?? "",
  description: sent.description ?? "",
  isClosed: readState(sent.state) ?? false,
  deadlineAt: sent.due_on === undefined ? null : readTime(sent.due_on),
});

/** @throws Failure as `toNewMilestone`. */
export const toMilestoneEdit = (sent: z.infer<typeof EditMilestone>) => ({
  title: sent.title?.trim() || undefined,
  description: sent.description,
  isClosed: readState(sent.state),
  deadlineAt: sent.due_on === undefined ? undefined : readTime(sent.due_on, endOfDay),
});

/** Null for the time that means none. */
function readTime(text: string, at: (text: string) => string = String): number | null {
  if (Date.parse(text) === ZERO) return null;
  const time = Date.parse(at(text));
  if (time >= FIRST && time <= LAST) return time;
  throw invalidField("due_on", "must be between the years 1970 and 9999");
}

/** The last second of the day, in the time's own zone. */
const endOfDay = (text: string): string => text.replace(/T.*?(?=Z|[+-]\d\d:?\d\d$)/i, "T23:59:59");
