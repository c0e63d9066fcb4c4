import { z } from "@hono/zod-openapi";

import type { MilestoneFields } from "../../domain/issues/milestones/create-milestone.ts";
import { body, optionalText } from "../json-body.ts";
import { dueDate } from "./due-date.ts";
import { endOfDay, readSentTime } from "./sent-time.ts";

const TITLE_MAX = 255;
const DESCRIPTION_MAX = 65_536;

const fields = {
  title: optionalText(TITLE_MAX),
  description: optionalText(DESCRIPTION_MAX),
  due_on: dueDate(),
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
  deadlineAt: sent.due_on === undefined ? null : readSentTime("due_on", sent.due_on),
});

/** @throws Failure as `toNewMilestone`. */
export const toMilestoneEdit = (sent: z.infer<typeof EditMilestone>) => ({
  title: sent.title?.trim() || undefined,
  description: sent.description,
  isClosed: readState(sent.state),
  deadlineAt: sent.due_on === undefined ? undefined : readSentTime("due_on", endOfDay(sent.due_on)),
});
