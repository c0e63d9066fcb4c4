import { z } from "@hono/zod-openapi";

import type { CommitOptions } from "../../domain/code/contents/commit-options.ts";
import { parseBase64 } from "../../lib/base64.ts";
import { parseZonedTime, type ZonedTime } from "../../lib/time.ts";
import { body, optionalFlag, optionalText } from "../json-body.ts";

const NAME_MAX = 100;
const EMAIL_MAX = 254;
const BRANCH_MAX = 1000;
const MESSAGE_MAX = 65_535;

const Identity = body({ name: optionalText(NAME_MAX), email: optionalText(EMAIL_MAX) }).openapi(
  "Identity",
);

const date = () =>
  z
    .string()
    .refine((text) => text === "" || z.iso.datetime({ offset: true }).safeParse(text).success, {
      error: "must be a time in RFC 3339, such as 2026-01-31T08:15:00Z",
    })
    .optional()
    .openapi({ format: "date-time" });

const CommitDateOptions = body({ author: date(), committer: date() }).openapi("CommitDateOptions");

/** Fields of all request bodies that change files: how the change is committed. */
export const COMMIT_OPTIONS = {
  message: optionalText(MESSAGE_MAX).openapi({
    description: "The commit message; generated from the operations if empty",
  }),
  branch: optionalText(BRANCH_MAX).openapi({
    description: "The branch that the change is based on; the default branch if empty",
  }),
  new_branch: optionalText(BRANCH_MAX).openapi({
    description:
      "The branch to create with the change; the change is committed to `branch` if empty",
  }),
  force_push: optionalFlag().openapi({
    description: "Whether to overwrite `new_branch` if it exists",
  }),
  author: Identity.optional().openapi({
    description: "The author of the commit; the committer if empty",
  }),
  committer: Identity.optional().openapi({
    description: "The committer of the commit; the author or else the caller if empty",
  }),
  dates: CommitDateOptions.optional(),
  signoff: optionalFlag().openapi({
    description: "Whether to add a Signed-off-by trailer of the committer to the message",
  }),
};

const CommitOptions = z.object(COMMIT_OPTIONS);

export function toCommitOptions(options: z.infer<typeof CommitOptions>): CommitOptions {
  const { message, branch, author, committer, dates } = options;
  return {
    message,
    branch,
    newBranch: options.new_branch,
    isForced: options.force_push ?? false,
    author,
    committer,
    authoredAt: toTime(dates?.author),
    committedAt: toTime(dates?.committer),
    isSignedOff: options.signoff ?? false,
  };
}

/** Parses a time; clients in Go send the year 1 for a time that is not set. */
const toTime = (text: string | undefined): ZonedTime | undefined =>
  !text || text.startsWith("0001-01-01T00:00:00") ? undefined : parseZonedTime(text);

/** File content in base64, decoded to bytes. */
export const base64 = () =>
  z
    .string()
    .transform((text, check) => {
      const bytes = parseBase64(text);
      if (bytes) return bytes;
      check.addIssue({ code: "custom", message: "must be base64" });
      return z.NEVER;
    })
    .openapi({ type: "string", format: "byte", description: "The content of the file in base64" });
