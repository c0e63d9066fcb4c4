import { z } from "@hono/zod-openapi";

import type { CommitOptions } from "../../domain/contents/commit-options.ts";
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
    .string("a text is expected")
    .refine((text) => text === "" || z.iso.datetime({ offset: true }).safeParse(text).success, {
      error: "a time in RFC 3339 is expected",
    })
    .optional()
    .openapi({ format: "date-time" });

const CommitDateOptions = body({ author: date(), committer: date() }).openapi("CommitDateOptions");

/** How a change of files is committed: fields that the bodies of all of them have. */
export const COMMIT_OPTIONS = {
  message: optionalText(MESSAGE_MAX).openapi({
    description: "Of the commit; it says what is done to which file, if empty",
  }),
  branch: optionalText(BRANCH_MAX).openapi({
    description: "The branch that the change is based on; the default branch, if empty",
  }),
  new_branch: optionalText(BRANCH_MAX).openapi({
    description: "The branch that is made of it; the change goes to `branch`, if empty",
  }),
  force_push: optionalFlag().openapi({
    description: "Whether `new_branch` is moved if it is there already",
  }),
  author: Identity.optional().openapi({ description: "The committer, if empty" }),
  committer: Identity.optional().openapi({ description: "The author, if empty, or the caller" }),
  dates: CommitDateOptions.optional(),
  signoff: optionalFlag().openapi({
    description: "Whether the message ends in a Signed-off-by trailer of the committer's",
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

/** Clients in Go send the year 1 for a time that is not set. */
const toTime = (text: string | undefined): ZonedTime | undefined =>
  !text || text.startsWith("0001-01-01T00:00:00") ? undefined : parseZonedTime(text);

/** The content of a file, in base64. */
export const base64 = () =>
  z
    .string("Required")
    .transform((text, check) => {
      const bytes = parseBase64(text);
      if (bytes) return bytes;
      check.addIssue({ code: "custom", message: "content is not base64" });
      return z.NEVER;
    })
    .openapi({ type: "string", format: "byte", description: "In base64" });
