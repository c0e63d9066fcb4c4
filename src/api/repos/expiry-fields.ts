import { z } from "@hono/zod-openapi";

import { EXPIRY_ACTIONS } from "../../db/schema/index.ts";
import { EXPIRES_IN_MAX, type ExpiryInput } from "../../domain/repos/repository/expiry.ts";
import { optionalFlag } from "../json-body.ts";

/** The fields of a body that give a repository an end. */
export const EXPIRY_FIELDS = {
  expires_in: z.int().min(0).max(EXPIRES_IN_MAX).optional().openapi({
    description: "Seconds until the repository ends, at least 60; 0 for no end",
  }),
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({ format: "date-time", description: "When it ends, instead of `expires_in`" }),
  expiry_action: z
    .enum(EXPIRY_ACTIONS)
    .optional()
    .openapi({ description: "What becomes of it at its end; `delete` by default" }),
  extends_on_push: optionalFlag().openapi({
    description: "Whether each push gives it the same span again",
  }),
};

/** What a body says of the end of a repository; undefined if it says nothing. */
export function toExpiryInput(sent: {
  readonly expires_in?: number | undefined;
  readonly expires_at?: string | undefined;
  readonly expiry_action?: ExpiryInput["action"];
  readonly extends_on_push?: boolean | undefined;
}): ExpiryInput | undefined {
  const fields = [sent.expires_in, sent.expires_at, sent.expiry_action, sent.extends_on_push];
  if (fields.every((field) => field === undefined)) return undefined;
  return {
    expiresIn: sent.expires_in,
    expiresAt: sent.expires_at === undefined ? undefined : Date.parse(sent.expires_at),
    action: sent.expiry_action,
    extendsOnPush: sent.extends_on_push,
  };
}
